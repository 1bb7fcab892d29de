//! The last lines of the daemon's log, for the message that says why it did not start.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::LogTail;

const TAIL_BYTES_MAX: u64 = 16 * 1024;
const TAIL_LINES_MAX: usize = 8;

/// Returns the last lines of STATE/log/palyrad.log, or of the error output where there is no log.
pub(super) fn log_tail(state_dir: &Path, error_output: &[u8]) -> LogTail {
    let own = last_lines(error_output);
    if !own.is_empty() {
        return LogTail { file: None, lines: own };
    }
    let file = state_dir.join("log").join("palyrad.log");
    let lines = read_end(&file).map(|bytes| last_lines(&bytes)).unwrap_or_default();
    LogTail { file: Some(file), lines }
}

fn read_end(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn last_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<String> = text
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(TAIL_LINES_MAX)
        .map(str::to_owned)
        .collect();
    lines.reverse();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_log_is_shown_unless_the_daemon_spoke_itself() {
        let state = tempfile::tempdir().unwrap();
        std::fs::create_dir(state.path().join("log")).unwrap();
        let log: String = (1..=20).map(|n| format!("line {n}\n\n")).collect();
        std::fs::write(state.path().join("log/palyrad.log"), log).unwrap();
        let tail = log_tail(state.path(), b"");
        assert_eq!((tail.lines.len(), tail.lines[7].as_str()), (8, "line 20"));
        assert_eq!(log_tail(state.path(), b"panicked\n").lines, ["panicked"]);
        assert!(log_tail(&state.path().join("none"), b"").lines.is_empty());
    }
}
