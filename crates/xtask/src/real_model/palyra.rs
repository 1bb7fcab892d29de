//! A daemon in a home of its own, and the `palyra` commands that talk to it.
//!
//! Owns their environment, which is empty but for what is named here, and their end. Invariant: no
//! process started here outlives the value that stands for it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::tape::{Tape, TapeLine};

/// How long one run may take: the machine may be busy, and the model has one thread.
const RUN_TIME: Duration = Duration::from_secs(240);
/// What the file that a case has read is called, and what it says.
pub(super) const README: &str = "# Lantern 4711\n\nA lamp for ships. It shines for twelve hours.\n";

/// A running daemon.
#[derive(Debug)]
pub(super) struct DaemonProcess {
    child: Child,
    program: PathBuf,
    folder: PathBuf,
    base_url: String,
    /// The model it says that it uses.
    pub(super) model: String,
}

impl DaemonProcess {
    /// Starts a daemon whose models are at `base_url`, with its home and a workspace below `folder`, and settings by
    /// environment.
    pub(super) fn start(
        program: &Path,
        folder: &Path,
        base_url: &str,
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        let work = folder.join("work");
        std::fs::create_dir_all(&work).with_context(|| format!("could not make {}", work.display()))?;
        std::fs::write(work.join("README.md"), README).context("could not write README.md")?;
        let log = std::fs::File::create(folder.join("palyrad.log")).context("could not make palyrad.log")?;
        let mut command = command(program, folder, base_url);
        let child =
            command.arg("serve").envs(settings.iter().copied()).stdout(Stdio::piped()).stderr(log).spawn();
        let child = child.with_context(|| format!("could not start {}", program.display()))?;
        let (program, folder, base_url) = (program.to_owned(), folder.to_owned(), base_url.to_owned());
        let mut daemon = Self { child, program, folder, base_url, model: String::new() };
        daemon.model = daemon.until_ready()?;
        Ok(daemon)
    }

    /// Waits for the line in which a daemon says that it serves.
    fn until_ready(&mut self) -> Result<String> {
        let out = self.child.stdout.take().context("the daemon has no standard output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).context("could not read what the daemon says")?;
        let said: serde_json::Value = serde_json::from_str(&line)
            .with_context(|| format!("the daemon did not become ready: {}", self.log_tail()))?;
        Ok(said["model"].as_str().unwrap_or_default().to_owned())
    }

    fn log_tail(&self) -> String {
        let log = std::fs::read_to_string(self.folder.join("palyrad.log")).unwrap_or_default();
        log.lines().last().unwrap_or("it said nothing").to_owned()
    }

    /// Returns the folder that its commands are started in.
    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Starts `palyra run --json` with `arguments`.
    pub(super) fn run(&self, arguments: &[&str]) -> Result<RunningRun> {
        let mut command = command(&self.program, &self.folder, &self.base_url);
        command.args(["run", "--no-start", "--json"]).args(arguments);
        let notes =
            std::fs::File::options().create(true).append(true).open(self.folder.join("palyra-run.log"));
        command.stdout(Stdio::piped()).stderr(notes.context("could not open palyra-run.log")?);
        let started = Instant::now();
        let mut child = command.spawn().context("could not start `palyra run`")?;
        let out = child.stdout.take().context("no standard output")?;
        let lines = read_lines(out);
        Ok(RunningRun { child, lines, tape: Tape::default(), started })
    }

    /// Runs `palyra` with `arguments` to its end and returns its exit code and what it printed.
    pub(super) fn say(&self, arguments: &[&str]) -> Result<(i32, String)> {
        let mut command = command(&self.program, &self.folder, &self.base_url);
        let output = command.args(arguments).output().context("could not start `palyra`")?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned()))
    }
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        // Ignored: it may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(program: &Path, folder: &Path, base_url: &str) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(folder.join("work"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", folder)
        .env("PALYRA_HOME", folder.join("home"))
        .env("OPENAI_BASE_URL", base_url)
        .stdin(Stdio::null());
    command
}

fn read_lines(out: ChildStdout) -> Receiver<TapeLine> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(std::result::Result::ok) {
            let at = Instant::now();
            let Ok(entry) = serde_json::from_str(&line) else { continue };
            if sender.send(TapeLine { at, entry }).is_err() {
                break;
            }
        }
    });
    lines
}

/// A run in progress.
#[derive(Debug)]
pub(super) struct RunningRun {
    child: Child,
    lines: Receiver<TapeLine>,
    pub(super) tape: Tape,
    pub(super) started: Instant,
}

/// A run that is over for its client.
#[derive(Debug)]
pub(super) struct FinishedRun {
    pub(super) tape: Tape,
    pub(super) code: i32,
    pub(super) started: Instant,
}

impl RunningRun {
    /// Waits until `count` entries of a kind have arrived.
    pub(super) fn until(&mut self, kind: &str, count: usize) -> Result<()> {
        while self.tape.all(kind).count() < count {
            let left = RUN_TIME.saturating_sub(self.started.elapsed());
            let line = self.lines.recv_timeout(left);
            self.tape
                .0
                .push(line.with_context(|| format!("the run ended, or time did, before `{kind}` came"))?);
        }
        Ok(())
    }

    /// Waits for the end of the run and of its client.
    pub(super) fn finish(mut self) -> Result<FinishedRun> {
        loop {
            let left = RUN_TIME.saturating_sub(self.started.elapsed());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.tape.0.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    bail!("the run was not over after {} s", RUN_TIME.as_secs())
                }
            }
        }
        let status = self.child.wait().context("could not wait for `palyra run`")?;
        let tape = std::mem::take(&mut self.tape);
        Ok(FinishedRun { tape, code: status.code().unwrap_or(-1), started: self.started })
    }
}

impl Drop for RunningRun {
    fn drop(&mut self) {
        // Ignored: it may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
