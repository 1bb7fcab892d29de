//! The daemon is killed while OpenAI's clients read: each sees that its streams were cut, and what it sends again is the
//! same run. Codex, which repeats a cut stream by itself, is in `openai_codex.rs`.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use palyra_model_server::{Behaviour, Reply};
use palyra_testkit::Gate;

use crate::home::Home;
use crate::openai_clients::{HttpDaemon, node_modules, python, script, token_of};
use crate::openai_codex::home_on_a_port;
use crate::openai_server::{runtime, serve};

/// A program of a client: it reads streams, and waits for a whole answer meanwhile.
struct CutClient {
    child: Child,
    input: ChildStdin,
    out: BufReader<ChildStdout>,
    /// The class of the error that it sees for each stream.
    cuts: &'static [&'static str],
}

impl CutClient {
    fn start(
        (program, name, cuts): (OsString, &str, &'static [&'static str]),
        daemon: &HttpDaemon,
        token: &str,
    ) -> Self {
        let mut command = script(program, name, daemon, token);
        command
            .env("PALYRA_TEST_NODE_MODULES", node_modules())
            .stdin(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Self { child, input, out, cuts }
    }

    /// Panics unless this is its next line.
    #[track_caller]
    fn expect(&mut self, line: &str) {
        let mut read = String::new();
        self.out.read_line(&mut read).unwrap();
        assert_eq!(read.trim_end(), line, "the program's error is above");
    }

    /// Its streams, and the request that is not one.
    fn requests(&self) -> usize {
        self.cuts.len() + 1
    }

    fn go_on(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}

fn clients() -> [(OsString, &'static str, &'static [&'static str]); 4] {
    [
        (python(), "cut_stream_openai.py", &["APIConnectionError"; 2]),
        (python(), "cut_stream_langchain.py", &["OpenAIConnectionError"]),
        ("node".into(), "cut_stream_openai.mjs", &["TypeError"; 2]),
        ("node".into(), "cut_stream_ai_sdk.mjs", &["AI_APICallError"]),
    ]
}

/// Waits until each client has lost its streams, and lets it send them again.
fn repeat(clients: &mut [CutClient], home: &Home) -> HttpDaemon {
    for client in &mut *clients {
        for cut in client.cuts {
            client.expect(&format!("cut {cut}"));
        }
    }
    let daemon = HttpDaemon::start(home);
    for client in &mut *clients {
        client.go_on();
    }
    daemon
}

#[test]
fn clients_see_that_a_stream_was_cut_and_what_they_repeat_is_one_run() {
    let runtime = runtime();
    let gate = Gate::closed();
    let server = serve(&runtime, Behaviour::always(Reply::text("one two ").hold(&gate).piece("three")));
    let home = home_on_a_port(&server, &server);
    let daemon = HttpDaemon::start(&home);
    let token = token_of(&home, "user:local");
    let mut clients: Vec<CutClient> =
        clients().into_iter().map(|client| CutClient::start(client, &daemon, &token)).collect();
    for client in &mut clients {
        client.expect("begun");
    }
    let requests: usize = clients.iter().map(CutClient::requests).sum();
    runtime.block_on(server.wait_asked(requests));
    daemon.kill();
    let daemon = repeat(&mut clients, &home);
    for client in &mut clients {
        client.expect("begun");
    }
    gate.open();
    for client in &mut clients {
        for _ in 0..client.requests() {
            client.expect("said one two three");
        }
    }
    clients.into_iter().for_each(CutClient::end);
    let runs = home.palyra(&["runs", "list", "--json"]).expect(0).json();
    assert_eq!(runs.len(), requests, "{runs:?}");
    daemon.stop();
    home.palyra(&["journal", "verify"]).expect(0);
}
