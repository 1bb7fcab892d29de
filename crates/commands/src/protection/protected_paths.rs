//! What is protected in one workspace because of where it lies, not because of its name.
//!
//! Owns how a folder of a rule is found again: by its names from the root, compared as file tools are judged, so a name
//! of another case is the same. Invariant: links are never followed to such a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use palyra_types::path_reading::PathReading;
use palyra_types::places::folded;

use super::walk::folded_name;

/// What is protected by its path below the root.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProtectedPaths {
    /// The daemon's files.
    pub(crate) own: Vec<PathBuf>,
    /// Folders to which a program may not write, as rules name them.
    pub(crate) read_only: Vec<String>,
    /// The folded names of these folders.
    names: Vec<Vec<String>>,
}

/// What a name in a folder is to a folder of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReadOnlyName {
    /// It is on the way there.
    OnTheWay,
    /// It is that folder.
    Itself,
}

impl ProtectedPaths {
    /// Takes the daemon's files and the folders of rules, both from the workspace root.
    pub(crate) fn new(own: Vec<PathBuf>, read_only: &[String]) -> Self {
        let names_of = |folder: &String| -> Vec<String> {
            PathReading::read(folder, None).names().iter().map(|name| folded(name)).collect()
        };
        let names = read_only.iter().map(names_of).filter(|names| !names.is_empty()).collect();
        Self { own, read_only: read_only.to_vec(), names }
    }

    /// Returns the folded names in a folder that are such a folder, or on the way to one.
    pub(crate) fn read_only_in(&self, folder: &Path) -> BTreeMap<String, ReadOnlyName> {
        let mut found = BTreeMap::new();
        if self.names.is_empty() {
            return found;
        }
        let above: Vec<String> = folder.iter().map(folded_name).collect();
        for names in &self.names {
            let Some([name, rest @ ..]) = names.strip_prefix(above.as_slice()) else { continue };
            let meaning = if rest.is_empty() { ReadOnlyName::Itself } else { ReadOnlyName::OnTheWay };
            let known = found.entry(name.clone()).or_insert(meaning);
            *known = (*known).max(meaning);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_found_by_its_names_from_the_root() {
        let rules = ["src", "a/b/c", "a/b", "./Docs/", "."].map(str::to_owned);
        let protected = ProtectedPaths::new(Vec::new(), &rules);
        let check = |folder: &str, expect: &str| {
            let found: Vec<String> = protected
                .read_only_in(Path::new(folder))
                .iter()
                .map(|(name, is)| format!("{name} {is:?}"))
                .collect();
            assert_eq!(found.join(", "), expect, "{folder}");
        };
        check("", "a OnTheWay, docs Itself, src Itself");
        check("A", "b Itself");
        check("a/b", "c Itself");
        check("src", "");
        check("lib/a", "");
    }
}
