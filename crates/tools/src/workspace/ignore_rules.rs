//! What `.gitignore` and `.ignore` files ask to leave out.
//!
//! Owns the stack of rules from the workspace root down to the folder being read. Files above the root
//! do not count. Ignoring is a courtesy to the reader, never a protection.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::kind::EntryKind;
use super::open::open_file;

/// How much of one ignore file is read, in bytes.
const IGNORE_FILE_BYTES_MAX: u64 = 256 * 1024;
/// In falling order of precedence.
const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];
/// Always left out: it is the repository's own storage.
const GIT_FOLDER: &str = ".git";

/// The rules of one folder and of those above it.
#[derive(Debug, Default)]
pub(super) struct IgnoreRules {
    levels: Vec<RuleLevel>,
}

/// The rules that one folder's ignore files hold.
#[derive(Debug)]
struct RuleLevel {
    /// Length of that folder's path, in components.
    depth: usize,
    rules: Gitignore,
}

impl IgnoreRules {
    /// Adds the ignore files of an open folder at `path`; they outrank those above.
    pub(super) fn enter(&mut self, folder: impl AsFd, path: &Path) {
        let depth = path.components().count();
        for name in IGNORE_FILES.iter().rev() {
            if let Some(rules) = read_rules(&folder, name) {
                self.levels.push(RuleLevel { depth, rules });
            }
        }
    }

    /// Forgets the ignore files of folders at `depth` components and below.
    pub(super) fn leave(&mut self, depth: usize) {
        while self.levels.last().is_some_and(|level| level.depth >= depth) {
            self.levels.pop();
        }
    }

    /// Returns whether the entry at `path` is to be left out.
    pub(super) fn ignores(&self, path: &Path, kind: EntryKind) -> bool {
        if path.file_name() == Some(OsStr::new(GIT_FOLDER)) {
            return true;
        }
        for level in self.levels.iter().rev() {
            let mut below = path.components();
            if level.depth > 0 {
                below.nth(level.depth - 1);
            }
            match level.rules.matched(below.as_path(), kind == EntryKind::Folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        false
    }
}

fn read_rules(folder: impl AsFd, name: &str) -> Option<Gitignore> {
    let opened = open_file(folder, Path::new(name)).ok()?;
    let mut bytes = Vec::new();
    opened.file.take(IGNORE_FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let mut builder = GitignoreBuilder::new(".");
    for line in String::from_utf8_lossy(&bytes).lines() {
        // A line that is no pattern is skipped, as git does.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
