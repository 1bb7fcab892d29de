//! The rows measure: real processes, real sockets, real files, with as few samples as can be. No time is asserted.

use std::process::Command;

use serde_json::Value;

/// Runs the bench program and returns its figures.
fn figures(rows: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_palyra-bench"))
        .args(rows)
        .args(["--built-in", "--json", "--smallest", "--folder"])
        .arg(folder.path())
        .output()
        .expect("the program starts");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert!(report["machine"]["processors"].as_u64() >= Some(1), "{report}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("there").collect();
    assert!(left.is_empty(), "what was measured is not cleaned away: {left:?}");
    report["figures"].as_array().expect("figures").clone()
}

fn named<'a>(figures: &'a [Value], what: &str) -> &'a Value {
    let found = figures.iter().find(|figure| figure["what"].as_str().is_some_and(|text| text.contains(what)));
    found.unwrap_or_else(|| panic!("no figure `{what}` in {figures:?}"))
}

#[test]
fn the_daemon_and_the_floor_answer_side_by_side() {
    let figures = figures(&["one-turn", "tool-round", "approval-round", "throughput", "protocol", "cancel"]);
    let all = [
        "added time to first token",
        "sleeps of threads",
        "one more tool round",
        "commits of one more tool round",
        "one more tool round that is asked about",
        "commits of such a round",
        "runs/s, 16 at once",
        "floor over gRPC: added total",
        "floor over gRPC: runs/s, 16 at once",
        "cancel requested",
    ];
    for what in all {
        let figure = named(&figures, what);
        assert!(figure["ours"]["p50"].is_f64() && figure["anchor"]["value"]["p50"].is_f64(), "{figure}");
    }
    assert_eq!(named(&figures, "added total")["ours"]["samples"], 3);
    assert!(named(&figures, "cancel requested")["anchor"]["value"]["p50"].as_f64() > Some(0.0));
}

#[test]
fn chat_completions_and_their_open_streams_are_measured_beside_the_floor() {
    let figures = figures(&["chat-completions", "open-streams"]);
    let all = [
        "/v1/chat/completions: added time to first token",
        "/v1/chat/completions: added total",
        "the model alone: added total",
        "requests/s, 1 at once",
        "requests/s, 16 at once",
        "processor time of a request, 16 at once",
        "resident memory with 16 open chat streams",
        "first token of another request beside 16 streams",
        "total of another request beside 16 streams",
    ];
    for what in all {
        let figure = named(&figures, what);
        assert!(figure["ours"]["p50"].as_f64() > Some(0.0), "{figure}");
        assert!(figure["anchor"]["value"]["p50"].is_f64(), "{figure}");
    }
    // So few streams may fit into memory that was there already.
    assert!(named(&figures, "for each of 16 streams")["ours"]["p50"].is_f64());
}

#[test]
fn the_daemon_is_looked_at_from_outside() {
    let figures = figures(&["cold-start", "recovery", "footprint", "binary", "append"]);
    for what in
        ["healthy, empty", "20 finished runs", "kill -9", "resident memory, idle", "size of the program"]
    {
        assert!(named(&figures, what)["ours"]["p50"].as_f64() > Some(0.0), "{figures:?}");
    }
    for what in ["wake-ups per second, idle", "idle with a schedule of tomorrow"] {
        assert!(named(&figures, what)["ours"]["p50"].is_f64(), "{figures:?}");
    }
    assert!(named(&figures, "producers")["ratio"].as_f64() > Some(0.0));
}

#[test]
fn a_text_run_costs_six_entries_at_most_in_the_real_database() {
    let figures = figures(&["database", "thousand-tokens", "long-session", "streamed"]);
    // How many commits it takes depends on how fast the machine is; the counts on a paced clock hold that.
    for what in ["entries of a text run", "row writes of a text run"] {
        assert_eq!(named(&figures, what)["verdict"], "met", "{figures:?}");
    }
    assert!(named(&figures, "first token")["ours"]["p50"].as_f64() >= Some(20.0), "{figures:?}");
}

#[test]
fn tasks_of_the_queue_are_measured_beside_appends() {
    let figures = figures(&["task-queue"]);
    for what in ["from the call to its worker", "tasks/s of the queue"] {
        let figure = named(&figures, what);
        assert!(figure["ours"]["p50"].as_f64() > Some(0.0) && figure["ratio"].is_f64(), "{figure}");
        assert!(figure["ours"]["p99"].is_f64(), "{figure}");
    }
    assert_eq!(named(&figures, "wake-ups of an empty queue")["verdict"], "met", "{figures:?}");
}

#[test]
fn lists_and_a_rebuild_are_measured_beside_plain_sqlite() {
    let figures = figures(&["lists", "rebuild"]);
    for what in [
        ": sessions (120 rows)",
        ": sessions with a text in them",
        ": runs (",
        ": finished runs",
        ": runs of one session",
        ": decided approvals",
        ": effects that change something",
        "entries folded per second",
    ] {
        let figure = named(&figures, what);
        assert!(figure["ours"]["p50"].as_f64() > Some(0.0) && figure["ratio"].is_f64(), "{figure}");
        assert!(figure["anchor"]["value"]["p50"].as_f64() > Some(0.0), "{figure}");
    }
}

#[test]
fn a_run_in_the_real_daemon_is_counted() {
    let figures = figures(&["run-counts"]);
    let count = |what: &str| named(&figures, what)["ours"]["p50"].as_f64().expect("a number");
    for kind in ["a text run", "a run with one tool", "a run that asks once"] {
        for what in ["commits", "entries", "row writes", "bytes written", "processor time"] {
            assert!(count(&format!("{kind}: {what}")) > 0.0, "{kind}: {what}");
        }
    }
    let entries = ["a text run: entries", "a run with one tool: entries", "a run that asks once: entries"];
    assert!(entries.map(count).is_sorted(), "a call is more entries, and a question more again: {figures:?}");
    // Where nothing may trace there is no count.
    let traced = figures.iter().find(|figure| figure["what"] == "a text run: system calls");
    assert!(traced.is_none_or(|figure| figure["ours"]["p50"].as_f64() > Some(10.0)), "{traced:?}");
}

#[test]
fn a_page_is_fetched_beside_a_bare_client() {
    let figures = figures(&["http-fetch"]);
    for what in ["the source", "as Markdown"] {
        let figure = named(&figures, what);
        assert!(figure["ours"]["p50"].is_f64() && figure["anchor"]["value"]["p50"].is_f64(), "{figure}");
    }
}

#[test]
fn unknown_rows_are_refused_by_name() {
    let output = Command::new(env!("CARGO_BIN_EXE_palyra-bench")).arg("speed").output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && told.contains("there is no row `speed`"), "{told}");
    assert!(told.contains("one-turn, "), "the rows there are are told: {told}");
}

#[test]
fn programs_are_held_and_their_bombs_end() {
    let figures = figures(&["spawn", "bombs"]);
    let all = [
        "start to end",
        "the first program held",
        "a fork bomb",
        "a memory bomb",
        "a disk bomb",
        "an output bomb",
    ];
    for what in all {
        assert!(named(&figures, what)["ours"]["p50"].as_f64() > Some(0.0), "{figures:?}");
    }
}

#[test]
fn a_component_is_entered_beside_its_instance() {
    let figures = figures(&["components"]);
    let entry = named(&figures, "wasm tool entry, warm");
    assert!(entry["anchor"]["value"]["p50"].as_f64() > Some(0.0) && entry["ratio"].is_f64(), "{entry}");
    assert!(named(&figures, "cold compile")["ours"]["p50"].as_f64() > Some(0.0));
}
