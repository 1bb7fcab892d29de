//! The arguments of strace, and attaching it to a daemon that runs.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::selector::Selector;

/// Calls that change what a disk holds. A question mark stands before those that some processors do not have.
const KINDS: [&str; 11] = [
    "pwrite64",
    "write",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "?rename",
    "?renameat",
    "renameat2",
    "?unlink",
    "unlinkat",
];

/// What happens at the selected call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedFault {
    /// The whole process is killed as the call begins, which is then not carried out.
    Kill,
    /// The call is not carried out and fails with an I/O error.
    InputOutputError,
}

/// A strace to be started.
#[derive(Debug, Clone)]
pub struct StraceTracer {
    log: PathBuf,
    fault: Option<(Selector, InjectedFault)>,
}

/// A strace that follows a daemon it did not start.
#[derive(Debug)]
pub struct AttachedTracer {
    child: Child,
}

impl StraceTracer {
    /// Follows every call that changes files, and disturbs none.
    #[must_use]
    pub fn recording(log: &Path) -> Self {
        Self { log: log.to_owned(), fault: None }
    }

    /// Disturbs one call.
    #[must_use]
    pub fn injecting(log: &Path, selector: Selector, fault: InjectedFault) -> Self {
        Self { log: log.to_owned(), fault: Some((selector, fault)) }
    }

    /// Returns the program and its arguments, up to the program that it starts.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let log = self.log.display().to_string();
        let mut words: Vec<String> =
            ["strace", "-f", "-y", "-s", "0", "-o", &log, "-e", "signal=SIGTERM,SIGKILL"]
                .map(str::to_owned)
                .into();
        match &self.fault {
            None => words.extend(["-e".to_owned(), format!("trace={}", KINDS.join(","))]),
            Some((Selector { kind, path, when }, fault)) => {
                let what = match fault {
                    InjectedFault::Kill => "signal=SIGKILL",
                    InjectedFault::InputOutputError => "error=EIO",
                };
                words.extend(["-e".to_owned(), format!("trace={kind}")]);
                words.extend(["-e".to_owned(), format!("inject={kind}:{what}:when={when}")]);
                words.extend(path.iter().flat_map(|path| ["-P".to_owned(), path.clone()]));
            }
        }
        words
    }

    /// Follows a process that runs already; returns once every thread of it is followed.
    ///
    /// # Errors
    /// When strace cannot do that.
    pub async fn attach(&self, pid: u32) -> Result<AttachedTracer> {
        let words = self.words();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(["-p", &pid.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("could not start strace")?;
        let mut lines = BufReader::new(child.stderr.take().context("no standard error")?).lines();
        while let Some(line) = lines.next_line().await.context("could not hear strace")? {
            if line.contains("attached") {
                // It goes on telling of new threads; somebody has to listen.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return Ok(AttachedTracer { child });
            }
            if !line.contains("resolve") {
                bail!("strace does not attach: {line}");
            }
        }
        bail!("strace ended before it had attached")
    }
}

impl AttachedTracer {
    /// Waits until it has ended, which it does with the process it follows.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub async fn ended(mut self) -> Result<()> {
        self.child.wait().await.context("could not wait for strace").map(|_| ())
    }
}

/// Says what is missing where there is no strace.
///
/// # Errors
/// When it is not there.
pub async fn is_there() -> Result<()> {
    let mut command = Command::new("strace");
    command.arg("-V").stdout(Stdio::null()).stderr(Stdio::null());
    match command.status().await {
        Ok(status) if status.success() => Ok(()),
        _ => bail!("strace is missing: `cargo xtask setup` installs it"),
    }
}
