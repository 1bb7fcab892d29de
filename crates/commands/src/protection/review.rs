//! Decides what a program may not leave behind.
//!
//! Owns the comparison of what was protected before with what is found now. Pure: it touches no file. Invariant: what
//! the program cannot have changed, because it was mounted read-only all the while, is the person's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::tree::SavedEntry;
use super::walk::{FileMark, FoundEntry, RunRisk, ScanResult};

/// What was protected when a program started, by path below the root.
#[derive(Debug, Default)]
pub(crate) struct ReviewBaseline {
    pub(crate) known: BTreeMap<PathBuf, KnownEntry>,
}

/// One protected entry as it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KnownEntry {
    pub(crate) mark: FileMark,
    pub(crate) risk: RunRisk,
    /// Whether it, or a folder above it, is mounted read-only for the program.
    pub(crate) is_mounted: bool,
    /// Its content, where it could be read; recorded apart.
    #[serde(skip)]
    pub(crate) saved: Option<SavedEntry>,
}

/// What is wrong with something that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryChange {
    /// It was not there before.
    New,
    /// It is another file than before, or its content is another.
    Replaced,
    /// A kept file was put in its place; no review finds this.
    Displaced,
}

impl ReviewBaseline {
    /// Keeps what a scan found; `mounted` is what is mounted read-only of it.
    pub(crate) fn new(scan: ScanResult, mounted: &[PathBuf]) -> Self {
        let known = scan.findings.into_iter().map(|(path, FoundEntry { mark, risk, saved })| {
            let is_mounted = mounted.iter().any(|folder| path.starts_with(folder));
            (path, KnownEntry { mark, risk, is_mounted, saved })
        });
        Self { known: known.collect() }
    }

    /// Returns what has to leave the workspace, in order of path.
    pub(crate) fn review(&self, now: &ScanResult) -> Vec<(PathBuf, EntryChange)> {
        let wrong = |(path, finding): (&PathBuf, &FoundEntry)| {
            let change = self.known.get(path).map_or_else(
                || (!is_harmless(&finding.risk)).then_some(EntryChange::New),
                |known| known.is_replaced_by(finding).then_some(EntryChange::Replaced),
            );
            Some((path.clone(), change?))
        };
        let mut found: Vec<_> = now.findings.iter().filter_map(wrong).collect();
        // What lies in a folder that leaves goes with it.
        let leaving: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
        found.retain(|(path, _)| !leaving.iter().any(|folder| folder != path && path.starts_with(folder)));
        found
    }
}

impl KnownEntry {
    /// Returns what is known of an entry that may be there from now on.
    pub(crate) fn adopted(found: &FoundEntry) -> Self {
        let FoundEntry { mark, risk, saved } = found.clone();
        Self { mark, risk, is_mounted: false, saved }
    }

    fn is_replaced_by(&self, now: &FoundEntry) -> bool {
        if self.mark.is_same_content(&now.mark) {
            return false;
        }
        // A file that has another name as well can be changed by that.
        let only_by_the_person = self.is_mounted && self.mark.is_same_file(&now.mark) && self.mark.links == 1;
        !only_by_the_person && !self.adds_nothing(&now.risk)
    }

    /// Returns whether new settings have nothing run that the old ones had not.
    fn adds_nothing(&self, now: &RunRisk) -> bool {
        match (&self.risk, now) {
            (RunRisk::Settings(before), RunRisk::Settings(now)) => now.is_subset(before),
            (RunRisk::Content, RunRisk::Settings(now)) => now.is_empty(),
            // What was there was mounted; when it lost that, its program was ended.
            (_, RunRisk::ReadOnly) => true,
            (RunRisk::ReadOnly, RunRisk::Settings(now)) => now.is_empty(),
            (_, RunRisk::Content) => false,
        }
    }
}

fn is_harmless(risk: &RunRisk) -> bool {
    matches!(risk, RunRisk::Settings(settings) if settings.is_empty())
}
