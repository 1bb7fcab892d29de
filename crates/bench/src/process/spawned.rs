//! A child process that says in one line that it is ready, and that ends with its owner.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

/// A running child.
pub struct SpawnedChild {
    child: Child,
    /// From the start to its line.
    pub ready_after: Duration,
    /// The line.
    pub line: String,
}

impl SpawnedChild {
    /// Starts it and waits for its first line, which must say `"ready":true`.
    ///
    /// # Errors
    /// When it cannot start or says something else.
    pub fn start(command: &mut Command) -> anyhow::Result<Self> {
        let begun = Instant::now();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("{} cannot start", program(command)))?;
        let out = child.stdout.take().context("a child without standard output")?;
        let mut line = String::new();
        let read = BufReader::new(out).read_line(&mut line);
        let spawned = Self { child, ready_after: begun.elapsed(), line };
        read?;
        let ready = spawned.line.contains(r#""ready":true"#);
        anyhow::ensure!(ready, "{} did not become ready: {}", program(command), spawned.line.trim());
        Ok(spawned)
    }

    /// Returns its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, as a crash would.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill().context("a child cannot be killed")?;
        self.child.wait().context("a child cannot be waited for")?;
        Ok(())
    }

    /// Waits until it has ended by itself.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn wait(&mut self) -> anyhow::Result<()> {
        self.child.wait().context("a child cannot be waited for")?;
        Ok(())
    }
}

impl Drop for SpawnedChild {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
