//! The matches in one file, with the lines around them.
//!
//! Invariant: lines come in order and none twice, however the contexts of two matches overlap.

use std::collections::VecDeque;
use std::io;

use regex::bytes::Regex;

use crate::excerpt::excerpt;
use crate::failure::ToolFailure;
use crate::lines::{FileLines, is_binary};

/// How many lines pass between two looks at the cancel flag.
const LINES_PER_LOOK: u64 = 4096;

/// What is looked for in each file.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) regex: Regex,
    /// How many lines before and after each match are shown.
    pub(super) context: usize,
}

/// What the search of one file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileEnd {
    /// It was read to its end, or to the limit of matches.
    Read,
    /// It is not text; what was found before that showed is kept.
    Binary,
    /// It could not be read on.
    Unreadable,
}

/// What one file held.
#[derive(Debug)]
pub(super) struct FileMatches {
    pub(super) matches: u64,
    pub(super) end: FileEnd,
    /// Bytes read of it.
    pub(super) bytes: u64,
}

/// Writes the matches in one file as `path:line: text`, and context as `path-line- text`.
pub(super) struct FileSearch<'s> {
    query: &'s Query,
    path: &'s str,
    write: &'s mut dyn FnMut(&str),
    before: VecDeque<(u64, String)>,
    after_left: usize,
    last_written: u64,
}

impl<'s> FileSearch<'s> {
    pub(super) fn new(query: &'s Query, path: &'s str, write: &'s mut dyn FnMut(&str)) -> Self {
        Self { query, path, write, before: VecDeque::new(), after_left: 0, last_written: 0 }
    }

    /// Searches until the end, or until `matches_max` were found and their context was shown.
    pub(super) fn run(
        mut self,
        mut lines: FileLines,
        matches_max: u64,
        check_cancel: impl Fn() -> Result<(), ToolFailure>,
    ) -> Result<FileMatches, ToolFailure> {
        let mut matches = 0;
        let end = loop {
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => break FileEnd::Read,
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break FileEnd::Unreadable,
            };
            if line.number % LINES_PER_LOOK == 0 {
                check_cancel()?;
            }
            if is_binary(line.bytes) {
                break FileEnd::Binary;
            }
            match self.query.regex.find(line.content()) {
                Some(_) if matches == matches_max => break FileEnd::Read,
                Some(found) => {
                    matches += 1;
                    self.hit(line.number, &excerpt(line.content(), found.start()));
                }
                None if matches == matches_max && self.after_left == 0 => break FileEnd::Read,
                None => self.miss(line.number, line.content()),
            }
        };
        Ok(FileMatches { matches, end, bytes: lines.bytes() })
    }

    fn hit(&mut self, number: u64, text: &str) {
        let first = self.before.front().map_or(number, |(number, _)| *number);
        if self.query.context > 0 && self.last_written > 0 && first > self.last_written + 1 {
            (self.write)("--\n");
        }
        for (number, text) in std::mem::take(&mut self.before) {
            (self.write)(&format!("{}-{number}- {text}\n", self.path));
        }
        (self.write)(&format!("{}:{number}: {text}\n", self.path));
        self.last_written = number;
        self.after_left = self.query.context;
    }

    fn miss(&mut self, number: u64, content: &[u8]) {
        if self.after_left > 0 {
            self.after_left -= 1;
            (self.write)(&format!("{}-{number}- {}\n", self.path, excerpt(content, 0)));
            self.last_written = number;
        } else if self.query.context > 0 {
            if self.before.len() == self.query.context {
                self.before.pop_front();
            }
            self.before.push_back((number, excerpt(content, 0)));
        }
    }
}
