//! `palyra logs`: the daemon's log, its end or as it grows.
//!
//! Reads the file itself and asks no daemon, so that it also tells why none starts. New lines are awaited as events of the
//! folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_client::{FolderWatch, FollowedLog, read_lock_record};
use palyra_types::ErrorCode;
use serde_json::{Value, json};

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::NoteKind;

const LOG_FOLDER: &str = "log";
const LOG_FILE: &str = "palyrad.log";
/// Where a folder cannot be watched, the file is looked at so often.
const UNWATCHED_SPAN: Duration = Duration::from_secs(2);
/// A watched folder is looked at without an event so often: a mount of another machine tells nothing.
const WATCHED_SPAN: Duration = Duration::from_secs(60);

/// Show the daemon's log.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  palyra logs\n  palyra logs -f -n 0\n  palyra logs | grep WARN")]
pub(crate) struct LogsArgs {
    /// Go on with what is added, until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// Begin so many lines before the end
    #[arg(short = 'n', long, default_value_t = 50, value_name = "N")]
    lines: usize,
    /// A line of JSON for each; a line that is JSON stays as it is
    #[arg(long)]
    json: bool,
}

/// Returns the daemon's log file in a state directory.
pub(super) fn log_file(state_dir: &Path) -> PathBuf {
    state_dir.join(LOG_FOLDER).join(LOG_FILE)
}

/// Returns whether the daemon that serves writes its log elsewhere: one that no client started does.
pub(super) fn is_elsewhere(state_dir: &Path) -> bool {
    let Some(record) = read_lock_record(state_dir).filter(|record| record.pid != 0) else { return false };
    let target = std::fs::read_link(format!("/proc/{}/fd/2", record.pid));
    target.is_ok_and(|target| std::fs::canonicalize(log_file(state_dir)).map_or(true, |log| target != log))
}

/// Runs the verb.
pub(crate) async fn run(context: &Context, args: LogsArgs) -> Result<Exit, Failure> {
    context.require_local("palyra logs")?;
    let state_dir = context.state_dir()?;
    let path = log_file(&state_dir);
    let is_elsewhere = is_elsewhere(&state_dir);
    if is_elsewhere {
        let notice = "the daemon that runs writes its log to its own standard error, where it was started (with \
                    systemd: `journalctl --user -u palyrad`)";
        context.output.note(NoteKind::Info, notice);
    }
    let mut log = FollowedLog::new(path.clone());
    // The watch begins before the first look, so that nothing is missed between the two.
    let mut watch = args.follow.then(|| FolderWatch::new(folder_to_watch(&path)));
    let format = OutputFormat::from(args.json);
    for line in log.last_lines(args.lines).map_err(|error| unreadable(&path, &error))? {
        print(context, &line, format)?;
    }
    if !log.is_there() && !is_elsewhere {
        let notice = format!("there is no log at {} yet; the first `palyra run` makes one", path.display());
        context.output.note(NoteKind::Info, &notice);
    }
    while let Some(waiting) = &mut watch {
        for line in log.new_lines().map_err(|error| unreadable(&path, &error))? {
            print(context, &line, format)?;
        }
        // The log's own folder may have been made meanwhile.
        let folder = folder_to_watch(&path);
        if waiting.is_of(folder) {
            let span = if waiting.is_watched() { WATCHED_SPAN } else { UNWATCHED_SPAN };
            waiting.changed(span).await;
        } else {
            *waiting = FolderWatch::new(folder);
        }
    }
    Ok(Exit::Done)
}

/// Returns the nearest folder above a file that is there.
fn folder_to_watch(file: &Path) -> &Path {
    file.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"))
}

fn print(context: &Context, line: &[u8], format: OutputFormat) -> Result<(), Failure> {
    let text = String::from_utf8_lossy(line);
    match format {
        OutputFormat::Text => Ok(context.output.line(&text)?),
        OutputFormat::Json => match serde_json::from_str::<Value>(&text) {
            Ok(value @ Value::Object(_)) => Ok(context.output.json(&value)?),
            Ok(_) | Err(_) => Ok(context.output.json(&json!({ "line": text }))?),
        },
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let message = format!("the log {} cannot be read: {error}", path.display());
    Failure::local(ErrorCode::StateDirUnusable, message)
}
