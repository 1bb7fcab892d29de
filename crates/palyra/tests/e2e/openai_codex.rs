//! Codex, OpenAI's agent for the command line, installed by name: it answers, changes files with tools of its own, reads
//! errors, and comes back after a killed daemon.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use palyra_model_server::{Behaviour, Fault, ModelServer, Reply};
use palyra_testkit::Gate;
use serde_json::{Value, json};

use crate::home::{Ended, Home, ended};
use crate::openai_clients::{HttpDaemon, node_modules, token_of};
use crate::openai_server::{runtime, serve};

/// Where Codex's settings are written, as they are in the documentation.
const PAGE: &str = include_str!("../../../../docs/openai.md");
/// An answer by a schema.
const PLACE: &str = r#"{"city":"Oslo"}"#;
/// The smallest image: one pixel.
const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\xdac\xf8\xcf\xc0\0\0\x03\
    \x01\x01\0\xf7\x03AC\0\0\0\0IEND\xaeB`\x82";
/// A line that a program of the shell reads before it writes it into a file.
const LINE: &str = "milk and bread";

/// A model that has Codex perform what it is asked for, and answers every other input.
fn model(gate: &Gate) -> Behaviour {
    let gate = gate.clone();
    Behaviour::by(move |body| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap_or_default();
        let content = messages[asked]["content"].to_string();
        let results: Vec<&str> = messages[asked..]
            .iter()
            .filter(|message| message["role"] == "tool")
            .filter_map(|message| message["content"].as_str())
            .collect();
        let is_asked_for = |words| content.contains(words);
        if is_asked_for("count to three") {
            Reply::text("one two ").hold(&gate).piece("three")
        } else if is_asked_for("make a list") {
            list(&results)
        } else if is_asked_for("make two files") {
            two_files(&results)
        } else if !body["response_format"].is_null() {
            Reply::text(PLACE)
        } else if is_asked_for("data:image/png;base64,") {
            Reply::text("It is a dot.")
        } else {
            Reply::text("A lantern shines.")
        }
    })
}

/// Starts a program and types a line into it.
fn list(results: &[&str]) -> Reply {
    match results {
        [] => {
            let program = r#"read -r line; echo "$line" > list.txt"#;
            let call = json!({ "cmd": program, "tty": true, "yield_time_ms": 1_000 });
            Reply::empty().call("exec_command", &call.to_string())
        }
        [started] => {
            let id = started.split("session ID ").nth(1).unwrap_or_default();
            let id: String = id.chars().take_while(char::is_ascii_digit).collect();
            let id: u64 = id.parse().unwrap_or_default();
            let call = json!({ "session_id": id, "chars": format!("{LINE}\n"), "yield_time_ms": 5_000 });
            Reply::empty().call("write_stdin", &call.to_string())
        }
        _ => Reply::text("The list is made."),
    }
}

/// Calls two programs in one answer.
fn two_files(results: &[&str]) -> Reply {
    if results.is_empty() {
        let call = |name: &str| json!({ "cmd": format!("echo {name} > {name}.txt && cat {name}.txt"), "yield_time_ms": 5_000 });
        let reply = Reply::empty().call("exec_command", &call("first").to_string());
        return reply.call("exec_command", &call("second").to_string());
    }
    let both = results.len() == 2 && results[0].contains("first") && results[1].contains("second");
    Reply::text(if both { "Both files are made." } else { "A result is missing." })
}

/// Returns a home whose daemon serves HTTP on a port that stays the same over restarts.
pub(crate) fn home_on_a_port(model: &ModelServer, faults: &ModelServer) -> Home {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let home = Home::new().with("PALYRA__HTTP__LISTEN", &free.to_string());
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    let text = format!(
        "model.default = \"agent/test-model\"\n[providers.agent]\nbase_url = \"{}\"\nimages = true\nparallel_requests_max = 16\n[providers.faults]\nbase_url = \"{}\"\n",
        model.base_url(),
        faults.base_url()
    );
    std::fs::write(home.config_file(), text).unwrap();
    home
}

/// Has Codex do a task in the folder of a home, with the settings of the documentation.
fn codex(home: &Home, daemon: &HttpDaemon, token: &str, model: &str, task: &str) -> Command {
    let settings = home.work().join("codex-home");
    std::fs::create_dir_all(&settings).unwrap();
    let shown = PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let written = shown.replace("http://127.0.0.1:PORT/v1", daemon.base_url());
    assert_ne!(written, shown, "the documentation names the address");
    std::fs::write(settings.join("config.toml"), written).unwrap();
    let mut command = Command::new(Path::new(&node_modules()).join(".bin/codex"));
    command
        .args(["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"])
        .args(["-m", model, task])
        .current_dir(home.work())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &settings)
        .env("CODEX_HOME", &settings)
        .env("PALYRA_TOKEN", token)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Has Codex repeat a request so many times.
fn repeating(codex: &mut Command, times: u32) -> &mut Command {
    for setting in ["request_max_retries", "stream_max_retries"] {
        codex.args(["-c", &format!("model_providers.palyra.{setting}={times}")]);
    }
    codex
}

/// Returns what Codex shows of the agent.
fn said(report: &Ended) -> Vec<String> {
    let events = report.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let of_agent = events.filter(|event| event["item"]["type"] == "agent_message");
    of_agent.filter_map(|event| event["item"]["text"].as_str().map(str::to_owned)).collect()
}

#[test]
fn codex_answers_changes_a_file_with_its_own_tools_and_reads_errors() {
    let runtime = runtime();
    let server = serve(&runtime, model(&Gate::closed()));
    let faults = Behaviour::per_model([
        ("context", Behaviour::always(Fault::ContextExceeded)),
        ("quota", Behaviour::always(Fault::Quota)),
    ]);
    let faults = serve(&runtime, faults);
    let home = home_on_a_port(&server, &faults);
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:local");
    let run = |token: &str, model: &str, task: &str| {
        ended(repeating(&mut codex(&home, &daemon, token, model, task), 0).spawn().unwrap())
    };

    let answer = run(&token, "palyra", "say something").expect(0);
    assert_eq!(said(&answer), ["A lantern shines."], "{}", answer.out);

    let made = run(&token, "palyra", "make a list").expect(0);
    assert_eq!(said(&made), ["The list is made."], "{}", made.out);
    assert_eq!(std::fs::read_to_string(home.work().join("list.txt")).unwrap(), format!("{LINE}\n"));
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 2, "{runs:?}");
    let kinds = ["client_tools_called", "client_tools_answered", "tool_proposed", "run_finished"];
    assert_eq!(kinds.map(|kind| count(&home, &runs[0], kind)), [2, 2, 0, 1], "what Codex does is no effect");

    for (token, model, error) in [
        ("palyra_wrong", "palyra", "401"),
        (&*token, "nobody/knows-it", "The model `nobody/knows-it` does not exist"),
        (&*token, "faults/context", "ran out of room in the model's context window"),
        (&*token, "faults/quota", "Quota exceeded"),
    ] {
        let refused = run(token, model, "say something").expect(1);
        assert!(refused.out.contains(error), "{model}: {}\n{}", refused.out, refused.err);
        assert_eq!(said(&refused), [""; 0], "{model}");
    }
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}

/// How many entries of a kind a run has.
fn count(home: &Home, run: &Value, kind: &str) -> usize {
    let id = run["run_id"].as_str().unwrap();
    let tape = home.palyra(&["runs", "tail", id, "--json"]).expect(0).json();
    tape.iter().filter(|entry| !entry[kind].is_null()).count()
}

#[test]
fn codex_calls_two_tools_at_once_answers_by_a_schema_and_shows_an_image() {
    let runtime = runtime();
    let server = serve(&runtime, model(&Gate::closed()));
    let home = home_on_a_port(&server, &server);
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:local");
    let run = |task: &str, options: &[&str]| {
        let mut codex = codex(&home, &daemon, &token, "palyra", task);
        ended(repeating(&mut codex, 0).args(options).spawn().unwrap()).expect(0)
    };

    let made = run("make two files", &[]);
    assert_eq!(said(&made), ["Both files are made."], "{}", made.out);
    for name in ["first", "second"] {
        let file = home.work().join(format!("{name}.txt"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), format!("{name}\n"));
    }
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let kinds = ["client_tools_called", "client_tools_answered", "run_finished"];
    assert_eq!(kinds.map(|kind| count(&home, &runs[0], kind)), [1, 1, 1], "both calls are of one answer");

    let schema = json!({ "type": "object", "properties": { "city": { "type": "string" } },
        "required": ["city"], "additionalProperties": false });
    home.write("place.json", &schema.to_string());
    let place = run("which city is it", &["--output-schema", "place.json"]);
    assert_eq!(said(&place), [PLACE], "{}", place.out);

    std::fs::write(home.work().join("dot.png"), DOT).unwrap();
    let shown = run("what is it", &["--image", "dot.png"]);
    assert_eq!(said(&shown), ["It is a dot."], "{}", shown.out);
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}

/// Waits until a client is connected to the daemon.
fn wait_connected(daemon: &HttpDaemon) {
    let port = daemon.base_url().rsplit(':').next().and_then(|rest| rest.split('/').next());
    let port: u16 = port.unwrap().parse().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    let is_connected = |line: &str| {
        // Columns 1 and 3 of proc(5): the local address, and 01 for an established connection.
        let mut columns = line.split_whitespace().skip(1);
        let local = columns.next().unwrap_or_default();
        local.ends_with(&format!(":{port:04X}")) && columns.nth(1) == Some("01")
    };
    while !std::fs::read_to_string("/proc/net/tcp").unwrap().lines().any(is_connected) {
        assert!(Instant::now() < deadline, "no client came back");
        std::thread::yield_now();
    }
}

#[test]
fn codex_comes_back_after_a_killed_daemon_and_it_is_one_run() {
    let runtime = runtime();
    let gate = Gate::closed();
    let server = serve(&runtime, model(&gate));
    let home = home_on_a_port(&server, &server);
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:local");
    let mut client = codex(&home, &daemon, &token, "palyra", "count to three");
    // How long the daemon is away is not the test's to choose.
    let client = repeating(&mut client, 50).spawn().unwrap();
    runtime.block_on(server.wait_asked(1));
    daemon.kill();
    let daemon = HttpDaemon::start(&home);
    // Codex does not say that it repeats itself, so it has to come back while the run is open.
    wait_connected(&daemon);
    gate.open();
    let answer = ended(client).expect(0);
    assert_eq!(said(&answer), ["one two three"], "{}", answer.out);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 1, "{runs:?}");
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}
