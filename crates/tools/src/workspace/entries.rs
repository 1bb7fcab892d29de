//! What one folder holds: names and kinds, read from its descriptor.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, Dir, FileType, statat};

use super::kind::EntryKind;
use super::refusal::OpenRefusal;

/// How many names of one folder a walk reads.
pub(super) const FOLDER_ENTRIES_MAX: usize = 50_000;

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedEntry {
    pub(super) name: OsString,
    pub(super) kind: EntryKind,
}

/// What a folder holds, sorted by name.
#[derive(Debug)]
pub(super) struct FolderEntries {
    pub(super) named: Vec<NamedEntry>,
    /// Whether there are more than were read.
    pub(super) is_cut: bool,
}

/// Reads at most `entries_max` names in an open folder, in order of their bytes.
pub(super) fn read_entries(folder: &OwnedFd, entries_max: usize) -> Result<FolderEntries, OpenRefusal> {
    let mut named = Vec::new();
    let mut is_cut = false;
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if named.len() == entries_max {
            is_cut = true;
            break;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell the kind in the listing.
            FileType::Unknown => kind_of(folder, name),
            known => known.into(),
        };
        named.push(NamedEntry { name: name.to_owned(), kind });
    }
    named.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(FolderEntries { named, is_cut })
}

fn kind_of(folder: impl AsFd, name: &OsStr) -> EntryKind {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(EntryKind::Special, |status| EntryKind::from_mode(status.st_mode))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_crowded_folder_is_read_only_so_far() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["b", "a", "c"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let folder = OwnedFd::from(File::open(dir.path()).unwrap());
        let whole = read_entries(&folder, 3).unwrap();
        assert!(!whole.is_cut && whole.named.iter().map(|named| &named.name).eq(["a", "b", "c"]));
        let cut = read_entries(&folder, 2).unwrap();
        assert!(cut.is_cut && cut.named.len() == 2);
    }
}
