//! A response in the background is read to its end by OpenAI's client over twenty kills of the daemon.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::home::{Home, ended};
use crate::killed_daemon::{KilledDaemon, TurnsModel, steady_port};
use crate::openai_server::{home_with, runtime};

const KILLS: usize = 20;

/// An event of a stream, as the client saw it.
#[derive(Debug, Clone, PartialEq)]
struct SeenEvent {
    number: u64,
    kind: String,
    delta: String,
}

impl SeenEvent {
    fn of(facts: &Value) -> Self {
        let text = |index: usize| facts[index].as_str().unwrap().to_owned();
        Self { number: facts[0].as_u64().unwrap(), kind: text(1), delta: text(2) }
    }

    fn is_text(&self) -> bool {
        self.kind == "response.output_text.delta"
    }
}

/// What the client prints, and the events of it so far.
struct ClientReports {
    lines: Lines<BufReader<ChildStdout>>,
    events: Vec<SeenEvent>,
}

impl ClientReports {
    /// Takes the next report; events are kept.
    fn next(&mut self) -> (String, Value) {
        let line = self.lines.next().expect("the client goes on").unwrap();
        let mut report: Value = serde_json::from_str(&line).unwrap();
        let (kind, data) = (report["kind"].as_str().unwrap().to_owned(), report["data"].take());
        if kind == "event" {
            self.events.push(SeenEvent::of(&data));
        }
        (kind, data)
    }

    /// Reads until words came over the open stream.
    fn read_words(&mut self) {
        loop {
            let (kind, data) = self.next();
            assert_eq!(kind, "event", "{data}");
            if self.events.last().is_some_and(SeenEvent::is_text) {
                return;
            }
        }
    }

    /// Reads what was on its way, until a report that is no event.
    fn read_to(&mut self, wanted: &str) -> Value {
        loop {
            let (kind, data) = self.next();
            if kind != "event" {
                assert_eq!(kind, wanted, "{data}");
                return data;
            }
        }
    }
}

fn start_client(home: &Home, port: u16) -> Child {
    let arguments = ["admin", "tokens", "create", "user:local", "--scope", "openai"];
    let token = home.palyra(&arguments).expect(0).out.trim().to_owned();
    let python = std::env::var_os("PALYRA_TEST_PYTHON").expect("`cargo xtask test` sets PALYRA_TEST_PYTHON");
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/openai_clients/background_over_kills.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"))
        .env("OPENAI_API_KEY", token)
        .env("NO_PROXY", "127.0.0.1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_response_in_the_background_is_read_once_over_twenty_kills() {
    let runtime = runtime();
    let model = TurnsModel::start(&runtime, KILLS);
    let port = steady_port();
    let home = home_with(&model.server).with("PALYRA__HTTP__LISTEN", &format!("127.0.0.1:{port}"));
    let mut daemon = KilledDaemon::start(&home);
    let mut client = start_client(&home, port);
    let lines = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut reports = ClientReports { lines, events: Vec::new() };
    for kill in 0..KILLS {
        runtime.block_on(model.is_speaking(kill));
        reports.read_words();
        model.note_kill();
        daemon.kill();
        let last = reports.read_to("cut");
        assert_eq!(last.as_u64(), reports.events.last().map(|event| event.number), "an open stream was cut");
        daemon = KilledDaemon::start(&home);
    }
    let stored = reports.read_to("stored");
    let again = reports.next().1;
    ended(client).expect(0);
    check(&reports.events, &stored, &again);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), 1, "{runs:?}");
    home.palyra(&["journal", "verify"]).expect(0);
    daemon.stop();
}

/// Checks that the client saw every event once, and all words that are stored.
fn check(seen: &[SeenEvent], stored: &Value, again: &Value) {
    let mut events: Vec<SeenEvent> = Vec::new();
    for event in seen {
        let is_repeated = events.last().is_some_and(|last| event.number <= last.number);
        if is_repeated {
            assert_eq!(event.kind, "response.in_progress", "only a heartbeat repeats a number");
        } else {
            events.push(event.clone());
        }
    }
    let numbers: Vec<_> = events.iter().map(|event| event.number).collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>(), "dense");
    assert_eq!(events[0].kind, "response.created");
    assert_eq!(events.last().unwrap().kind, "response.completed");
    let terminal = |event: &&SeenEvent| {
        ["response.completed", "response.failed", "response.incomplete"].contains(&event.kind.as_str())
    };
    assert_eq!(events.iter().filter(terminal).count(), 1);
    let joined: String = events.iter().map(|event| event.delta.as_str()).collect();
    assert_eq!((&stored[1], &stored[2]), (&"completed".into(), &joined.as_str().into()));
    for turn in 0..KILLS / 2 {
        assert!(joined.contains(&format!("{turn}.")) || joined.contains(&format!("{turn}-")), "turn {turn}");
    }
    let again: Vec<_> = again.as_array().unwrap().iter().map(SeenEvent::of).collect();
    assert!(again == events, "the events are the same when they are read once more");
}
