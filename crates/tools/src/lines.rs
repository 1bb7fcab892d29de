//! Reads a file line by line in bounded memory.
//!
//! Invariant: whatever the file, at most one block and one cut line are held, and at most
//! [`FILE_BYTES_MAX`] bytes are read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Take};

/// How much of one file is read, in bytes.
pub(crate) const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How much of one line is kept, in bytes.
pub(crate) const LINE_BYTES_MAX: u64 = 64 * 1024;
const BLOCK_BYTES: usize = 64 * 1024;
const BINARY_PROBE_BYTES: usize = 8 * 1024;

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextLine<'a> {
    /// Its number, from one.
    pub(crate) number: u64,
    /// Its bytes with the line end, at most [`LINE_BYTES_MAX`].
    pub(crate) bytes: &'a [u8],
    /// Its whole length.
    pub(crate) bytes_total: u64,
}

impl TextLine<'_> {
    /// Returns whether its end is not held.
    pub(crate) fn is_cut(&self) -> bool {
        self.bytes_total > self.bytes.len() as u64
    }

    /// Returns its bytes without the line end.
    pub(crate) fn content(&self) -> &[u8] {
        let line = self.bytes.strip_suffix(b"\n").unwrap_or(self.bytes);
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// The lines of one file.
#[derive(Debug)]
pub(crate) struct FileLines {
    source: BufReader<Take<File>>,
    held: Vec<u8>,
    count: u64,
    bytes: u64,
}

impl FileLines {
    /// Begins at the start of a file.
    pub(crate) fn new(file: File) -> Self {
        let source = BufReader::with_capacity(BLOCK_BYTES, file.take(FILE_BYTES_MAX));
        Self { source, held: Vec::new(), count: 0, bytes: 0 }
    }

    /// Returns whether the file begins like something that is not text.
    pub(crate) fn begin_binary(&mut self) -> io::Result<bool> {
        let block = self.source.fill_buf()?;
        Ok(is_binary(&block[..block.len().min(BINARY_PROBE_BYTES)]))
    }

    /// Returns the next line; `None` at the end of the file or of what is read of it.
    pub(crate) fn next(&mut self) -> io::Result<Option<TextLine<'_>>> {
        self.held.clear();
        let kept = (&mut self.source).take(LINE_BYTES_MAX).read_until(b'\n', &mut self.held)? as u64;
        if kept == 0 {
            return Ok(None);
        }
        let is_whole = self.held.ends_with(b"\n");
        let rest =
            if kept == LINE_BYTES_MAX && !is_whole { self.source.skip_until(b'\n')? as u64 } else { 0 };
        self.count += 1;
        self.bytes += kept + rest;
        Ok(Some(TextLine { number: self.count, bytes: &self.held, bytes_total: kept + rest }))
    }

    /// Returns how many lines were met so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns how many bytes they were.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Returns whether bytes hold what no text holds.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines_of(content: &[u8]) -> FileLines {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        io::Seek::rewind(&mut file).unwrap();
        FileLines::new(file)
    }

    #[test]
    fn lines_are_numbered_and_the_last_needs_no_end() {
        let mut lines = lines_of(b"one\r\n\nthree");
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((line.number, String::from_utf8_lossy(line.content()).into_owned()));
        }
        assert_eq!(seen, [(1, "one".to_owned()), (2, String::new()), (3, "three".to_owned())]);
        assert_eq!((lines.count(), lines.bytes()), (3, 11));
    }

    #[test]
    fn a_long_line_is_cut_and_counted_whole() {
        let long = LINE_BYTES_MAX as usize * 3;
        let mut lines = lines_of(&[&vec![b'x'; long][..], b"\nnext"].concat());
        let line = lines.next().unwrap().unwrap();
        assert_eq!((line.bytes.len() as u64, line.bytes_total), (LINE_BYTES_MAX, long as u64 + 1));
        assert!(line.is_cut());
        assert_eq!(lines.next().unwrap().unwrap().content(), b"next");
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_whole() {
        let mut lines = lines_of(&[&vec![b'x'; LINE_BYTES_MAX as usize - 1][..], b"\nnext"].concat());
        assert!(!lines.next().unwrap().unwrap().is_cut());
        assert_eq!(lines.next().unwrap().unwrap().content(), b"next");
    }
}
