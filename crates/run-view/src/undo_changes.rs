//! The run that a person may mean where the named one has no changes in files to take back.

use std::collections::BTreeSet;

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use super::times::age;

const PATH_CHARS_MAX: usize = 200;
/// Files of another run that are named.
const PATHS_NAMED_MAX: usize = 3;

/// Among which runs another one is looked for, where the named run changed nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherRuns {
    /// Those of the folder.
    OfFolder,
    /// Those of a chat.
    OfSession(String),
}

/// A run that changed files which are not taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct UndoChanges {
    /// The run.
    pub run: v1::Run,
    /// Each path once.
    pub paths: BTreeSet<String>,
}

impl UndoChanges {
    /// Says which run it is, when it was, and which files it changed: it may have nothing to do with the run that was
    /// named.
    #[must_use]
    pub fn describe(&self, others: &OtherRuns) -> String {
        let run = short_id(&self.run.run_id);
        let shown = self.paths.iter().take(PATHS_NAMED_MAX).map(|path| clean_line(path, PATH_CHARS_MAX));
        let mut files = shown.collect::<Vec<_>>().join(", ");
        if self.paths.len() > PATHS_NAMED_MAX {
            files.push_str(&format!(" and {} more", self.paths.len() - PATHS_NAMED_MAX));
        }
        let age = age(self.run.created);
        let when = if age.is_empty() { age } else { format!("{age} ago, ") };
        match others {
            OtherRuns::OfFolder => format!(
                "the newest run that changed files here is {run} ({when}{files}); `palyra runs undo {run}` takes that back"
            ),
            OtherRuns::OfSession(_) => format!(
                "the newest run of this chat that changed files is {run} ({when}{files}); `/undo {run}` takes that back"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_run_is_named_with_its_files() {
        let paths = ["a", "b", "c", "d", "e"].map(str::to_owned).into();
        let run = v1::Run { run_id: "01M84HKZ5N8HY3ARZ2DB96C5QJ".to_owned(), ..Default::default() };
        let notice = UndoChanges { run, paths }.describe(&OtherRuns::OfFolder);
        assert!(notice.contains("is 96C5QJ (a, b, c and 2 more); `palyra runs undo 96C5QJ`"), "{notice}");
    }
}
