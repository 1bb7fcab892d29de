//! `palyra logs`: the daemon's log, its end or as it grows.
//!
//! Reads the file itself and asks no daemon, so that it also tells why none starts. New lines are awaited as events of the
//! folder.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_client::{FolderWatch, read_lock_record};
use palyra_types::ErrorCode;
use serde_json::{Value, json};

use crate::context::Context;
use crate::drive::OutputFormat;
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_terminal::NoteKind;

const LOG_FOLDER: &str = "log";
const LOG_FILE: &str = "palyrad.log";
/// As much of a file's end as is read for its last lines.
const TAIL_BYTES_MAX: u64 = 4 << 20;
/// One read of what was added.
const PART_BYTES: usize = 64 * 1024;
/// A line that is longer is shown in parts.
const LINE_BYTES_MAX: usize = 256 * 1024;
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
    if is_elsewhere(&state_dir) {
        let notice = "the daemon that runs writes its log to its own standard error, where it was started (with \
                    systemd: `journalctl --user -u palyrad`)";
        context.output.note(NoteKind::Info, notice);
    }
    let mut log = FollowedLog { path, open: None, rest: Vec::new() };
    // The watch begins before the first look, so that nothing is missed between the two.
    let mut watch = args.follow.then(|| FolderWatch::new(folder_to_watch(&log.path)));
    let format = OutputFormat::from(args.json);
    for line in log.last_lines(args.lines)? {
        print(context, &line, format)?;
    }
    if log.open.is_none() {
        let notice =
            format!("there is no log at {} yet; the first `palyra run` makes one", log.path.display());
        context.output.note(NoteKind::Info, &notice);
    }
    while let Some(waiting) = &mut watch {
        for line in log.new_lines()? {
            print(context, &line, format)?;
        }
        // The log's own folder may have been made meanwhile.
        let folder = folder_to_watch(&log.path);
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

/// A log file that can grow, be rotated or be truncated.
struct FollowedLog {
    path: PathBuf,
    open: Option<File>,
    /// The beginning of a line whose end is not there yet.
    rest: Vec<u8>,
}

impl FollowedLog {
    /// Opens the file and returns its last lines; it goes on behind them.
    fn last_lines(&mut self, count: usize) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(mut file) = self.open_file()? else { return Ok(Vec::new()) };
        let length = file.metadata().map_err(|error| self.unreadable(&error))?.len();
        let begin = length.saturating_sub(TAIL_BYTES_MAX);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(begin))
            .and_then(|_| (&mut file).take(length - begin).read_to_end(&mut bytes))
            .map_err(|error| self.unreadable(&error))?;
        self.open = Some(file);
        let mut lines = self.cut(&bytes);
        // The first one begins in the middle.
        if begin > 0 && !lines.is_empty() {
            lines.remove(0);
        }
        Ok(lines.split_off(lines.len().saturating_sub(count)))
    }

    /// Returns the lines that were completed since the last look, also those of a file that took the old one's place.
    fn new_lines(&mut self) -> Result<Vec<Vec<u8>>, Failure> {
        let mut lines = self.read_on()?;
        if self.is_replaced() {
            self.rest.clear();
            self.open = self.open_file()?;
            lines.extend(self.read_on()?);
        }
        Ok(lines)
    }

    fn read_on(&mut self) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(mut file) = self.open.take() else { return Ok(Vec::new()) };
        let mut lines = Vec::new();
        let mut part = vec![0; PART_BYTES];
        loop {
            let read = file.read(&mut part).map_err(|error| self.unreadable(&error))?;
            if read == 0 {
                break;
            }
            lines.extend(self.cut(&part[..read]));
        }
        self.open = Some(file);
        Ok(lines)
    }

    /// Returns whether the name belongs to another file than the open one, or that was cut.
    fn is_replaced(&self) -> bool {
        let Ok(named) = std::fs::metadata(&self.path) else { return false };
        let Some(open) = &self.open else { return true };
        let Ok(known) = open.metadata() else { return true };
        let at = (&*open).stream_position().unwrap_or(0);
        (named.dev(), named.ino()) != (known.dev(), known.ino()) || named.len() < at
    }

    /// Returns the whole lines of what was read; what is left waits for its end.
    fn cut(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.rest.extend_from_slice(bytes);
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let end = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let whole: Vec<u8> = self.rest.drain(..end).collect();
        lines
            .extend(whole.split_inclusive(|byte| *byte == b'\n').map(|line| line[..line.len() - 1].to_vec()));
        if self.rest.len() > LINE_BYTES_MAX {
            lines.push(std::mem::take(&mut self.rest));
        }
        lines
    }

    fn open_file(&self) -> Result<Option<File>, Failure> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    fn unreadable(&self, error: &std::io::Error) -> Failure {
        let message = format!("the log {} cannot be read: {error}", self.path.display());
        Failure::local(ErrorCode::StateDirUnusable, message)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn text(lines: Vec<Vec<u8>>) -> Vec<String> {
        lines.into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
    }

    #[test]
    fn a_log_goes_on_where_it_was_read_to_also_in_a_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("palyrad.log");
        let mut log = FollowedLog { path: path.clone(), open: None, rest: Vec::new() };
        assert!(log.last_lines(5).unwrap().is_empty() && log.new_lines().unwrap().is_empty());
        std::fs::write(&path, "one\ntwo\nthree\nfo").unwrap();
        assert_eq!(text(log.last_lines(2).unwrap()), ["two", "three"]);
        assert!(log.new_lines().unwrap().is_empty());
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"ur\nfive\n").unwrap();
        assert_eq!(text(log.new_lines().unwrap()), ["four", "five"]);

        // Set aside, as a daemon does with a large one when it starts.
        file.write_all(b"six\n").unwrap();
        std::fs::rename(&path, folder.path().join("palyrad.log.1")).unwrap();
        assert_eq!(text(log.new_lines().unwrap()), ["six"]);
        std::fs::write(&path, "new\n").unwrap();
        assert_eq!(text(log.new_lines().unwrap()), ["new"]);
        // Cut by a person.
        std::fs::write(&path, "n\n").unwrap();
        assert_eq!(text(log.new_lines().unwrap()), ["n"]);
    }

    #[test]
    fn a_line_without_end_is_shown_in_parts() {
        let mut log = FollowedLog { path: PathBuf::new(), open: None, rest: Vec::new() };
        assert!(log.cut(b"begin").is_empty());
        assert_eq!(log.cut(&vec![b'x'; LINE_BYTES_MAX]).len(), 1);
        assert!(log.rest.is_empty());
    }
}
