//! A visit of a browser: a script that drives it, and the lines that the script prints.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::home::Home;
use crate::http_api::port;

/// Ends a visit that hangs. Alone on two cores the longest one takes about a minute; beside other tests, several times that.
const VISIT_SPAN_MAX: Duration = Duration::from_secs(300);

/// A browser at work.
pub(crate) struct BrowserVisit {
    script: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    /// Where the browser keeps its files.
    _profile: tempfile::TempDir,
}

impl BrowserVisit {
    /// Starts a browser with a script of this folder or one below, which gets the port, a link that works once, and these variables.
    pub(crate) fn start(script: &str, home: &Home, variables: &[(&str, &str)]) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e");
        let link = home.palyra(&["console", "--print"]).expect(0).out.trim().to_owned();
        let mut script = Command::new("node")
            .arg(folder.join(script))
            .env("PALYRA_TEST_PORT", port(home).to_string())
            .env("PALYRA_TEST_LINK", link)
            .env("PALYRA_TEST_SPAN_MS", VISIT_SPAN_MAX.as_millis().to_string())
            .env("PALYRA_TEST_PROFILE", profile.path())
            .env("HOME", profile.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node is on the PATH; `cargo xtask setup` installs it");
        let lines = BufReader::new(script.stdout.take().unwrap()).lines();
        let input = script.stdin.take().unwrap();
        Self { script, input, lines, _profile: profile }
    }

    /// Returns the kind and the data of the next line.
    #[track_caller]
    fn report(&mut self, wanted: &str) -> (String, Value) {
        let line = self.lines.next().unwrap_or_else(|| panic!("no `{wanted}`")).unwrap();
        let mut report: Value = serde_json::from_str(&line).unwrap();
        (report["kind"].as_str().unwrap().to_owned(), report["data"].take())
    }

    /// Returns the data of the next line, which is of this kind.
    #[track_caller]
    pub(crate) fn next(&mut self, wanted: &str) -> Value {
        let (kind, data) = self.report(wanted);
        assert_eq!(kind, wanted, "{data}");
        data
    }

    /// Gives the script a line to read.
    pub(crate) fn write(&mut self, line: &str) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Returns the lines up to one of a kind, with their kinds.
    #[track_caller]
    pub(crate) fn until(&mut self, end: &str) -> Vec<(String, Value)> {
        let mut reports = Vec::new();
        loop {
            let report = self.report(end);
            if report.0 == end {
                return reports;
            }
            reports.push(report);
        }
    }

    /// Waits for the end, which has to be a good one.
    #[track_caller]
    pub(crate) fn end(mut self) {
        let rest: Vec<String> = self.lines.map(Result::unwrap).collect();
        assert!(self.script.wait().unwrap().success() && rest.is_empty(), "{rest:?}");
    }
}
