//! Starts a daemon and waits for the line that says it is ready, longer while it says how far it is.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use palyra_types::ErrorCode;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{ChildStdout, Command};
use tokio::task::JoinSet;
use tokio::time::error::Elapsed;

use super::log_tail::log_tail;
use crate::error::{ClientError, LogTail, parse_code};
use crate::notice::DaemonNotice;
use crate::options::ConnectOptions;

const READY_LINE_BYTES_MAX: u64 = 64 * 1024;
/// Lines of progress before the last one: an hour of them.
const PROGRESS_LINES_MAX: u32 = 3_600;
const ERROR_OUTPUT_BYTES_MAX: u64 = 64 * 1024;
/// A daemon that said why it does not start, or closed its pipes, is about to exit.
const EXIT_WITHIN: Duration = Duration::from_secs(2);

/// What came of starting a daemon.
pub(super) enum SpawnOutcome {
    /// It serves.
    Ready {
        socket: String,
        model: String,
        /// Why it denies every call; empty where it does not.
        denies_all: String,
    },
    /// Another one was first.
    LostRace,
}

/// How far a daemon is with making the records of its journal again.
#[derive(Deserialize)]
struct ProgressLine {
    rebuilding: RebuildCounts,
}

#[derive(Deserialize)]
struct RebuildCounts {
    done: u64,
    total: u64,
}

/// The last line a daemon prints.
#[derive(Deserialize)]
struct ReadyLine {
    ready: bool,
    #[serde(default)]
    socket: String,
    #[serde(default)]
    model: String,
    #[serde(default)]
    denies_all: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
}

/// Starts a daemon for `state_dir` and returns when it serves, or has said why not.
///
/// A daemon that is merely slow is left to itself when the time is over.
pub(super) async fn spawn_daemon(
    options: &ConnectOptions,
    state_dir: &Path,
    deadline: Instant,
) -> Result<SpawnOutcome, ClientError> {
    let within = remaining(deadline);
    let code = ErrorCode::DaemonStartFailed;
    let failed = |message: String, errors: &[u8]| {
        Err(ClientError::StartFailed { code, message, log: log_tail(state_dir, errors) })
    };
    let mut child = match command(options, state_dir).spawn() {
        Ok(child) => child,
        Err(cause) => {
            let message = format!("{} cannot be run: {cause}", options.program.display());
            return failed(message, b"");
        }
    };
    let stdout = child.stdout.take().expect("stdout is piped");
    let stderr = child.stderr.take().expect("stderr is piped");
    // Read beside the lines, so that a daemon that says much does not wait for its reader. Ends with this function.
    let mut errors = JoinSet::new();
    errors.spawn(read_all(stderr));
    let Ok(line) = last_line(options, stdout, deadline).await else {
        let message = format!("it was not ready within {} s and may still become so", within.as_secs());
        return failed(message, b"");
    };
    match serde_json::from_str::<ReadyLine>(&line) {
        Ok(ReadyLine { ready: true, socket, model, denies_all, .. }) => {
            Ok(SpawnOutcome::Ready { socket, model, denies_all })
        }
        Ok(line) => {
            let code = parse_code(&line.code).unwrap_or(ErrorCode::DaemonStartFailed);
            let _ = tokio::time::timeout(EXIT_WITHIN, child.wait()).await;
            if code == ErrorCode::StateDirLocked {
                Ok(SpawnOutcome::LostRace)
            } else {
                // It said why; its log has nothing to add.
                Err(ClientError::StartFailed { code, message: line.message, log: LogTail::default() })
            }
        }
        Err(_) => {
            let exit = tokio::time::timeout(EXIT_WITHIN, child.wait()).await;
            let message = ending(exit.ok().and_then(Result::ok));
            let errors = tokio::time::timeout(EXIT_WITHIN, errors.join_next()).await;
            failed(message, &errors.ok().flatten().and_then(Result::ok).unwrap_or_default())
        }
    }
}

fn command(options: &ConnectOptions, state_dir: &Path) -> Command {
    let mut command = Command::new(&options.program);
    command
        .arg0("palyrad")
        .args(["serve", "--auto-started", "--state-dir"])
        .arg(state_dir)
        .args(&options.serve_arguments)
        // Else it would keep the folder of whoever came first from being unmounted.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Reads lines until one is not about progress. Each line about progress extends the wait.
async fn last_line(
    options: &ConnectOptions,
    stdout: ChildStdout,
    mut deadline: Instant,
) -> Result<String, Elapsed> {
    let mut reader = BufReader::new(stdout);
    let mut shown_tenths = None;
    for _ in 0..PROGRESS_LINES_MAX {
        let line = tokio::time::timeout(remaining(deadline), read_line(&mut reader)).await?;
        let Ok(ProgressLine { rebuilding: RebuildCounts { done, total } }) = serde_json::from_str(&line)
        else {
            return Ok(line);
        };
        deadline = deadline.max(Instant::now() + options.ready_within);
        let tenths = done.saturating_mul(10) / total.max(1);
        if done < total && shown_tenths.replace(tenths) != Some(tenths) {
            (options.notices)(DaemonNotice::Rebuilding { done, total });
        }
    }
    Ok(String::new())
}

async fn read_line(reader: &mut BufReader<ChildStdout>) -> String {
    let mut line = Vec::new();
    let _ = reader.take(READY_LINE_BYTES_MAX).read_until(b'\n', &mut line).await;
    String::from_utf8_lossy(&line).into_owned()
}

async fn read_all(source: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = source.take(ERROR_OUTPUT_BYTES_MAX).read_to_end(&mut bytes).await;
    bytes
}

fn ending(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => format!("it ended with {status} before it was ready"),
        None => "it closed its output before it was ready".to_owned(),
    }
}

fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}
