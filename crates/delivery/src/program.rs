//! A program that gets a message on its input.
//!
//! Programs of tools run in the sandbox; this one does not, because it is the operator's own and has to reach what the sandbox
//! closes: the network and the session bus. It gets no variable of the daemon's, no open file, and a process group of its own.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use palyra_ports::DeliverError;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use crate::not_sent::not_sent;

/// Bytes of what a program prints as errors that an explanation has.
const ERROR_BYTES_MAX: usize = 300;
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A program to be run once.
#[derive(Debug, Clone)]
pub(crate) struct ProgramRun {
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    time_max: Duration,
}

/// Ends a process group when it is dropped: also what the program started and left behind.
struct ProcessGroup(Option<Pid>);

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // A group that is empty already is gone.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

impl ProgramRun {
    /// Takes a program with its arguments, the variables that it gets beside the search path, and its time.
    pub(crate) fn new(
        arguments: Vec<String>,
        environment: BTreeMap<String, String>,
        time_max: Duration,
    ) -> Self {
        Self { arguments, environment, time_max }
    }

    /// Runs it with an input, and returns whether it took the message: it exits with 0 then.
    pub(crate) async fn feed(self, input: String) -> Result<(), DeliverError> {
        let mut child = self.spawn()?;
        let group = ProcessGroup(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)));
        let ended = tokio::time::timeout(self.time_max, talk(&mut child, input)).await;
        drop(group);
        let Ok(ended) = ended else {
            // Takes the exit status, so that no process is left behind.
            let _ = child.wait().await;
            let seconds = self.time_max.as_secs();
            let why = format!(
                "the program did not end within {seconds} s and was stopped; it may have sent the message"
            );
            return Err(DeliverError::InDoubt { why });
        };
        let (status, errors) =
            ended.map_err(|cause| DeliverError::InDoubt { why: format!("the program was lost: {cause}") })?;
        judge(status, &errors)
    }

    fn spawn(&self) -> Result<Child, DeliverError> {
        let (program, arguments) =
            self.arguments.split_first().ok_or_else(|| not_sent("no program is configured"))?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .env("PATH", SEARCH_PATH)
            .env("LANG", "C.UTF-8")
            .envs(&self.environment)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command.spawn().map_err(|cause| {
            let why = match cause.kind() {
                ErrorKind::NotFound => "the program does not exist".to_owned(),
                ErrorKind::PermissionDenied => "the program may not be executed".to_owned(),
                _ => format!("the program could not be started: {cause}"),
            };
            DeliverError::NotSent { why }
        })
    }
}

/// Writes the input, reads the beginning of what is printed as errors, and waits for the end.
async fn talk(child: &mut Child, input: String) -> std::io::Result<(ExitStatus, String)> {
    let stdin = child.stdin.take();
    let stderr = child.stderr.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input may have sent a message all the same: its exit code says so.
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    };
    let read = async {
        match stderr {
            Some(stderr) => beginning(stderr).await,
            None => Vec::new(),
        }
    };
    // What a program left behind may hold its error output open, so only its own end is waited for.
    let exit = async {
        let status = child.wait().await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        status
    };
    let talk = async {
        let ((), errors) = tokio::join!(write, read);
        errors
    };
    tokio::pin!(talk);
    tokio::pin!(exit);
    let (status, errors) = tokio::select! {
        errors = &mut talk => (exit.await?, errors),
        status = &mut exit => (status?, Vec::new()),
    };
    Ok((status, String::from_utf8_lossy(&errors).into_owned()))
}

/// Reads all there is and keeps the beginning of it, without the word that is cut: a part of a secret is not recognised as one.
async fn beginning(mut from: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read) = from.read(&mut buffer).await {
        if read == 0 {
            return kept;
        }
        let room = ERROR_BYTES_MAX.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(&buffer[..room]);
        if room < read {
            let words = kept.iter().rposition(u8::is_ascii_whitespace).unwrap_or_default();
            kept.truncate(words);
            break;
        }
    }
    while from.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
    kept
}

fn judge(status: ExitStatus, errors: &str) -> Result<(), DeliverError> {
    let line: String = errors.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = if line.is_empty() { String::new() } else { format!(": {line}") };
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) => {
            Err(DeliverError::NotSent { why: format!("the program exited with {code}{said}") })
        }
        (None, signal) => {
            let signal = signal.unwrap_or_default();
            Err(DeliverError::InDoubt { why: format!("the program was ended by signal {signal}{said}") })
        }
    }
}

#[cfg(test)]
mod tests;
