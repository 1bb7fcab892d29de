//! How many system calls a process makes, counted by `strace` while it works.
//!
//! Owns that one program and its output. A machine without it, or that forbids tracing, has no count.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use anyhow::Context;

/// A running count of the system calls of all threads of a process.
pub struct SystemCallCount {
    strace: Child,
    said: BufReader<std::process::ChildStderr>,
}

impl SystemCallCount {
    /// Attaches to a process, which works more slowly from here on.
    ///
    /// # Errors
    /// When `strace` is missing or may not attach.
    pub fn begin(pid: u32) -> anyhow::Result<Self> {
        let mut command = Command::new("strace");
        command.args(["-f", "-c", "-U", "calls,name", "-p"]).arg(pid.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut strace = command.spawn().context("`strace` cannot start")?;
        let mut said = BufReader::new(strace.stderr.take().context("strace without standard error")?);
        let mut line = String::new();
        said.read_line(&mut line)?;
        let count = Self { strace, said };
        anyhow::ensure!(line.contains("attached"), "strace did not attach: {}", line.trim());
        Ok(count)
    }

    /// Detaches and returns how many calls there were.
    ///
    /// # Errors
    /// When `strace` does not say a number.
    pub fn end(mut self) -> anyhow::Result<u64> {
        let pid = self.strace.id().to_string();
        Command::new("kill").args(["-INT", &pid]).status().context("`kill` cannot start")?;
        let mut total = None;
        for line in self.said.by_ref().lines() {
            total = total_of(&line?).or(total);
        }
        total.context("strace said no total")
    }
}

impl Drop for SystemCallCount {
    fn drop(&mut self) {
        // It has ended already, unless something failed.
        let _ = self.strace.kill();
        let _ = self.strace.wait();
    }
}

/// Returns the number of a line like `1234 total`.
fn total_of(line: &str) -> Option<u64> {
    let (calls, name) = line.trim().split_once(char::is_whitespace)?;
    (name.trim() == "total").then(|| calls.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_a_summary_is_found() {
        let summary = "    calls syscall\n--------- ----------------\n        3 write\n       12 futex\n       15 total\n";
        assert_eq!(summary.lines().filter_map(total_of).collect::<Vec<_>>(), [15]);
        assert_eq!(total_of("strace: Process 7 detached"), None);
    }
}
