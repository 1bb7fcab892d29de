//! The first minute in the console, by keyboard alone, and what happens to words while the daemon does not answer.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::Value;

use crate::asked::{tape, writer};
use crate::browser_visit::BrowserVisit;
use crate::home::Home;
use crate::killed_daemon::{KilledDaemon, steady_port};
use crate::openai_server::{home_with, runtime, serve};

/// Returns the text of the next line.
#[track_caller]
fn text(visit: &mut BrowserVisit, wanted: &str) -> String {
    visit.next(wanted).as_str().unwrap().to_owned()
}

#[track_caller]
fn runs(home: &Home) -> Vec<Value> {
    home.palyra(&["runs", "list", "--json"]).expect(0).json()
}

/// Returns the file that the first sentence makes, in the folder of its run.
fn first_file(home: &Home) -> PathBuf {
    let run = runs(home)[0]["run_id"].as_str().unwrap().to_owned();
    let entries = tape(home, &run);
    PathBuf::from(entries[0]["run_started"]["workspace_root"].as_str().unwrap()).join("hello.txt")
}

#[test]
fn a_newcomer_asks_approves_and_undoes_by_keyboard_alone() {
    let home = Home::new();
    let begun = Instant::now();
    let mut visit = BrowserVisit::start("console_first_run/browser.mjs", &home, &[]);
    let first = text(&mut visit, "home");
    assert!(first.contains("Palyra is running") && first.contains("The demo model answers"), "{first}");
    let asked = text(&mut visit, "asked");
    assert!(asked.contains("hello.txt") && asked.contains("Deny: the call does not run"), "{asked}");
    let done = text(&mut visit, "done");
    assert!(done.contains("steps recorded") && done.contains("undo its changes"), "{done}");
    let file = first_file(&home);
    assert!(!file.starts_with(home.work()), "the first sentence leaves the folder of the person alone");
    let preview = text(&mut visit, "undo");
    assert!(preview.contains("is removed: the run made it"), "{preview}");
    let undone = text(&mut visit, "undone");
    assert!(undone.contains("1 file as before the run") && !file.exists(), "{undone}");
    visit.end();
    // Beside other tests it takes longer, so it is printed and not judged here.
    eprintln!("from an empty home to the undo: {} s", begun.elapsed().as_secs());
}

#[test]
fn a_message_is_kept_until_it_is_recorded_and_recorded_once() {
    let runtime = runtime();
    let model = serve(&runtime, writer());
    let steady = steady_port();
    let home = home_with(&model);
    home.configure(&format!("[http]\nlisten = \"127.0.0.1:{steady}\"\n"));
    home.palyra(&["admin", "stop"]);
    let daemon = KilledDaemon::start(&home);
    let mut visit = BrowserVisit::start("console_first_run/drafts.mjs", &home, &[]);

    assert_eq!(visit.next("lost"), 1, "the words are kept");
    let recorded = visit.next("recorded");
    assert!(recorded["path"].as_str().unwrap().starts_with("/console/sessions/"), "{recorded}");
    assert_eq!((&recorded["drafts"], &recorded["losses"]), (&Value::from(0), &Value::from(2)), "{recorded}");
    assert_eq!(runs(&home).len(), 1, "a repeated message is one run");

    visit.next("typed");
    daemon.kill();
    visit.write("killed");
    assert_eq!(visit.next("not_sent"), "two.txt b");
    let daemon = KilledDaemon::start(&home);
    visit.write("back");
    assert_eq!(visit.next("signed_out"), "two.txt b");
    let link = home.palyra(&["console", "--print"]).expect(0).out;
    visit.write(link.trim());
    assert_eq!(visit.next("kept"), "two.txt b");
    let sent = visit.next("sent");
    assert!(
        sent["path"].as_str().unwrap().starts_with("/console/sessions/") && sent["drafts"] == 0,
        "{sent}"
    );
    let inputs: Vec<Value> = runs(&home).iter().map(|run| run["input_preview"].clone()).collect();
    assert_eq!(inputs, ["two.txt b", "one.txt a"]);
    visit.end();
    daemon.stop();
}
