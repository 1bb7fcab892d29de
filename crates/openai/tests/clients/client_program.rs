//! A program of a client library: it makes its next request when the test asks for it, and reports what it sees.
//!
//! Its lines are `begun` for the first event of a stream, `beat` for an event without content, `left` where it closed a
//! stream, `error TEXT` where a stream ended with an error, and `answer TEXT`; the texts are JSON.
//! `programs/reports.py` and `programs/reports.mjs` write them.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::daemon::TestDaemon;

/// How long a test waits for what must happen; a program of Python takes seconds to begin.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for an event that must come.
pub(crate) async fn soon<T>(event: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, event).await.expect("an event in time")
}

/// What a program reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientReport {
    /// A stream began.
    Begun,
    /// An event without content.
    Beat,
    /// The text of an answer.
    Answer(String),
    /// It closed a stream.
    Left,
    /// The sentence of an error that ended a stream.
    Error(String),
}

/// Where Codex's settings are written, as they are in the documentation.
const PAGE: &str = include_str!("../../../../docs/openai.md");

fn node() -> Command {
    let modules = std::env::var_os("PALYRA_TEST_NODE_MODULES").expect(
        "PALYRA_TEST_NODE_MODULES must name a folder with the packages of Node; run `cargo xtask test`, which installs them",
    );
    let mut node = Command::new("node");
    node.env("PALYRA_TEST_NODE_MODULES", modules);
    node
}

/// A running program.
pub(crate) struct ClientProgram {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl ClientProgram {
    /// Starts a program of Python.
    pub(crate) fn python(name: &str, daemon: &TestDaemon, token: &str) -> Self {
        let python = std::env::var_os("PALYRA_TEST_PYTHON").expect(
            "PALYRA_TEST_PYTHON must name a Python with the client libraries; run `cargo xtask test`, which installs them",
        );
        Self::start(&mut Command::new(python), name, daemon, token)
    }

    /// Starts a program of Node.
    pub(crate) fn node(name: &str, daemon: &TestDaemon, token: &str) -> Self {
        Self::start(&mut node(), name, daemon, token)
    }

    /// Starts the program that starts Codex, with the settings of the documentation: the agent's tools run, and none of
    /// Codex.
    pub(crate) fn codex(daemon: &TestDaemon, token: &str) -> Self {
        let home = daemon.folder().join("codex");
        std::fs::create_dir(&home).unwrap();
        let blocks = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let shown: Vec<&str> = blocks.take(2).collect();
        let written = shown.join("\n").replace("127.0.0.1:PORT", &daemon.address.to_string());
        assert!(written.contains(&daemon.address.to_string()), "the documentation names the address");
        std::fs::write(home.join("config.toml"), written).unwrap();
        let mut node = node();
        node.current_dir(&home).env("HOME", &home).env("CODEX_HOME", &home).env("PALYRA_TOKEN", token);
        Self::start(&mut node, "codex.mjs", daemon, token)
    }

    fn start(command: &mut Command, name: &str, daemon: &TestDaemon, token: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/programs").join(name);
        command
            .arg(path)
            .env("OPENAI_BASE_URL", format!("http://{}/v1", daemon.address))
            .env("OPENAI_API_KEY", token)
            .env("NO_PROXY", "127.0.0.1")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, lines }
    }

    /// Has it make its next request.
    pub(crate) async fn request(&mut self) {
        self.input.write_all(b"\n").await.unwrap();
    }

    /// Returns its next report. Cancel-safe.
    pub(crate) async fn report(&mut self) -> ClientReport {
        let line =
            soon(self.lines.next_line()).await.unwrap().expect("a report; the program's error is above");
        match line.split_once(' ') {
            None if line == "begun" => ClientReport::Begun,
            None if line == "beat" => ClientReport::Beat,
            None if line == "left" => ClientReport::Left,
            Some(("error", text)) => ClientReport::Error(serde_json::from_str(text).unwrap()),
            Some(("answer", text)) => ClientReport::Answer(serde_json::from_str(text).unwrap()),
            _ => panic!("no report: {line}"),
        }
    }

    /// Panics unless it ends well, with nothing more to report.
    pub(crate) async fn end(mut self) {
        drop(self.input);
        let more = soon(self.lines.next_line()).await.unwrap();
        assert_eq!(more, None);
        let status = soon(self.child.wait()).await.unwrap();
        assert!(status.success(), "{status}");
    }
}
