//! The HTTP API of the real daemon: on from the first start, and a reader that loses no event over kills.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::home::{Home, until_ended};
use crate::tcp::token;

/// How long a read may wait.
const PATIENCE: Duration = Duration::from_secs(30);
const NAME: &str = "http://localhost:";

/// Returns the port of the daemon's HTTP API; starts the daemon where none runs.
pub(crate) fn port(home: &Home) -> u16 {
    home.palyra(&["sessions", "list"]).expect(0);
    let status = home.palyra(&["status", "--json"]).expect(0).json().remove(0);
    let listening = status["listening"].as_array().unwrap().clone();
    let found = listening.iter().find_map(|address| address.as_str().unwrap().strip_prefix(NAME));
    found.unwrap_or_else(|| panic!("{listening:?}")).parse().unwrap()
}

/// One request over a connection of its own.
pub(crate) struct HttpRequest<'a> {
    pub(crate) line: &'a str,
    pub(crate) token: &'a str,
    /// A line of a further header, or nothing.
    pub(crate) header: String,
    pub(crate) body: String,
}

impl HttpRequest<'_> {
    pub(crate) fn send(&self, port: u16) -> BufReader<TcpStream> {
        let Self { line, token, header, body } = self;
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: localhost:{port}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n{header}\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(head.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    /// Returns the status and the body.
    pub(crate) fn answer(&self, port: u16) -> (u16, String) {
        let mut text = String::new();
        self.send(port).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }
}

pub(crate) fn get<'a>(line: &'a str, token: &'a str) -> HttpRequest<'a> {
    HttpRequest { line, token, header: String::new(), body: String::new() }
}

/// Reads the entries of a run from a stream of events until it ends, breaks, or `entries_max` came.
fn read_entries(stream: BufReader<TcpStream>, entries_max: usize) -> Vec<Value> {
    let (mut entries, mut numbered) = (Vec::new(), false);
    for line in stream.lines() {
        let Ok(line) = line else { break };
        if line.starts_with("id: ") {
            numbered = true;
        } else if let (true, Some(data)) = (numbered, line.strip_prefix("data: ")) {
            entries.push(serde_json::from_str(data).unwrap());
            numbered = false;
        }
        if entries.len() == entries_max {
            break;
        }
    }
    entries
}

fn numbers(entries: &[Value]) -> Vec<u64> {
    entries.iter().map(|entry| entry["tape_seq"].as_u64().unwrap()).collect()
}

#[test]
fn the_api_is_on_from_the_first_start_and_shows_what_the_command_line_shows() {
    let home = Home::new();
    let port = port(&home);
    let token = token(&home, "user:local");
    for probe in ["GET /healthz", "GET /readyz"] {
        assert_eq!(get(probe, "none").answer(port).0, 401, "a wrong token is refused everywhere");
    }
    let body = json!({ "input": "what can you do" }).to_string();
    let (status, started) = HttpRequest { body, ..get("POST /api/v1/runs", &token) }.answer(port);
    assert_eq!(status, 200, "{started}");
    let run =
        serde_json::from_str::<Value>(&started).unwrap()["opened"]["run_id"].as_str().unwrap().to_owned();
    let line = format!("GET /api/v1/runs/{run}/events");
    let entries = read_entries(get(&line, &token).send(port), usize::MAX);
    let tape = home.palyra(&["runs", "tail", &run, "--json"]).expect(0).json();
    assert_eq!(numbers(&entries), numbers(&tape));
    let (status, ready) = get("GET /readyz", &token).answer(port);
    assert_eq!((status, ready.contains("\"ready\":true")), (200, true), "{ready}");
    assert_eq!(get("GET /metrics", &token).answer(port).0, 403, "it has another scope");
    let scraper = home.palyra(&["admin", "tokens", "create", "user:local", "--scope", "metrics"]).expect(0);
    let (status, metrics) = get("GET /metrics", scraper.out.trim()).answer(port);
    assert_eq!(status, 200, "{metrics}");
    let started = "palyra_http_requests_total{operation=\"StartRun\",status=\"2xx\"} 1";
    assert!(metrics.lines().any(|line| line == started), "{metrics}");
}

/// The daemon is killed in the middle of the stream, again and again; the reader comes back with its last number.
#[test]
fn a_reader_that_comes_back_after_kills_has_every_entry_once() {
    let home = Home::new().with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    let token = token(&home, "user:local");
    let body = json!({
        "input": "[pace=30] list the files then find *.md then find *.txt then find *.rs then find *.toml then find *.c",
    });
    let started =
        HttpRequest { body: body.to_string(), ..get("POST /api/v1/runs", &token) }.answer(port(&home));
    assert_eq!(started.0, 200, "{}", started.1);
    let run =
        serde_json::from_str::<Value>(&started.1).unwrap()["opened"]["run_id"].as_str().unwrap().to_owned();
    let line = format!("GET /api/v1/runs/{run}/events");
    let mut entries = Vec::new();
    for stay in [4, 5, 6] {
        let last = numbers(&entries).last().copied().unwrap_or_default();
        let request = HttpRequest { header: format!("last-event-id: {last}\r\n"), ..get(&line, &token) };
        entries.extend(read_entries(request.send(port(&home)), stay));
        let daemon = home.daemon_pid();
        kill_process(daemon, Signal::KILL).unwrap();
        until_ended(daemon);
    }
    let last = numbers(&entries).last().copied().unwrap_or_default();
    let request = HttpRequest { header: format!("last-event-id: {last}\r\n"), ..get(&line, &token) };
    entries.extend(read_entries(request.send(port(&home)), usize::MAX));
    let tape = home.palyra(&["runs", "tail", &run, "--json"]).expect(0).json();
    assert_eq!(numbers(&entries), numbers(&tape), "dense, each once");
    assert_eq!(numbers(&tape), (1..=tape.len() as u64).collect::<Vec<_>>());
    assert!(tape.len() > 15, "the kills came before the end: {}", tape.len());
}

#[test]
fn an_open_stream_keeps_a_daemon_that_a_command_started() {
    let home = Home::new().with("PALYRA__HTTP__LISTEN", "127.0.0.1:0");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(home.config_file(), "[daemon]\nidle_stop_seconds = 1\n").unwrap();
    let token = token(&home, "user:local");
    let port = port(&home);
    let daemon = home.daemon_pid();
    let request = HttpRequest {
        header: "accept: text/event-stream\r\n".to_owned(),
        ..get("GET /api/v1/approvals-watch", &token)
    };
    let stream = request.send(port);
    // Three heartbeats of the stream are longer than the idle time.
    let mut beats = stream.lines().map(Result::unwrap).filter(|line| line == ": heartbeat");
    assert!(beats.next().is_some());
    assert_eq!(home.daemon_pid(), daemon);
    assert!(std::path::Path::new(&format!("/proc/{}", daemon.as_raw_nonzero())).exists(), "it stays");
    drop(beats);
    until_ended(daemon);
}
