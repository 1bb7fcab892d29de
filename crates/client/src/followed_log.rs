//! A log file as it grows: its last lines, then what is added, also after a rotation or a cut.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// As much of a file's end as is read for its last lines.
const TAIL_BYTES_MAX: u64 = 4 << 20;
/// One read of what was added.
const PART_BYTES: usize = 64 * 1024;
/// A line that is longer is shown in parts.
const LINE_BYTES_MAX: usize = 256 * 1024;

/// A log file that can grow, be rotated or be truncated.
#[derive(Debug)]
pub struct FollowedLog {
    path: PathBuf,
    open: Option<File>,
    /// The beginning of a line whose end is not there yet.
    rest: Vec<u8>,
}

impl FollowedLog {
    /// Follows a file, which may not be there yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, open: None, rest: Vec::new() }
    }

    /// Returns whether the file was there when it was last looked for.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.open.is_some()
    }

    /// Opens the file and returns its last lines, at most 4 MiB of them; [`new_lines`](Self::new_lines) goes on behind them.
    ///
    /// # Errors
    /// The file cannot be read. One that is not there has no lines.
    pub fn last_lines(&mut self, count: usize) -> Result<Vec<Vec<u8>>, std::io::Error> {
        let Some(mut file) = self.open_file()? else { return Ok(Vec::new()) };
        let length = file.metadata()?.len();
        let begin = length.saturating_sub(TAIL_BYTES_MAX);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(begin))
            .and_then(|_| (&mut file).take(length - begin).read_to_end(&mut bytes))?;
        self.open = Some(file);
        let mut lines = self.cut(&bytes);
        // The first one begins in the middle.
        if begin > 0 && !lines.is_empty() {
            lines.remove(0);
        }
        Ok(lines.split_off(lines.len().saturating_sub(count)))
    }

    /// Returns the lines that were completed since the last look, also those of a file that took the old one's place.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn new_lines(&mut self) -> Result<Vec<Vec<u8>>, std::io::Error> {
        let mut lines = self.read_on()?;
        if self.is_replaced() {
            self.rest.clear();
            self.open = self.open_file()?;
            lines.extend(self.read_on()?);
        }
        Ok(lines)
    }

    fn read_on(&mut self) -> Result<Vec<Vec<u8>>, std::io::Error> {
        let Some(mut file) = self.open.take() else { return Ok(Vec::new()) };
        let mut lines = Vec::new();
        let mut part = vec![0; PART_BYTES];
        loop {
            let read = file.read(&mut part)?;
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

    fn open_file(&self) -> Result<Option<File>, std::io::Error> {
        match File::open(&self.path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
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
        let mut log = FollowedLog::new(path.clone());
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
        let mut log = FollowedLog::new(PathBuf::new());
        assert!(log.cut(b"begin").is_empty());
        assert_eq!(log.cut(&vec![b'x'; LINE_BYTES_MAX]).len(), 1);
        assert!(log.rest.is_empty());
    }
}
