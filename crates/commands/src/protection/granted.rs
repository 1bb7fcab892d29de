//! Recognises what a tool wrote under a grant while a program runs.
//!
//! Owns the comparison of an entry as it was with what it is: each difference has to be a granted write. Pure but for the
//! list of writes.

use std::path::Path;

use palyra_ports::{GrantedState, GrantedWrites};
use sha2::{Digest, Sha256};

use super::tree::SavedEntry;

/// What the names of a tool's unfinished files begin with; nothing runs them.
const DRAFT: &str = ".palyra-";

/// Returns whether every difference between what was at an absolute path and what is there was granted.
pub(super) fn is_granted(
    writes: &GrantedWrites,
    path: &Path,
    before: Option<&SavedEntry>,
    now: &SavedEntry,
) -> bool {
    if before == Some(now) {
        return true;
    }
    match now {
        SavedEntry::Link { .. } => false,
        SavedEntry::File { mode, bytes } => {
            let state = GrantedState { sha256: Sha256::digest(bytes).into(), mode: *mode };
            writes.covers(path, Some(state))
        }
        SavedEntry::Folder { entries, .. } => {
            let before = match before {
                Some(SavedEntry::Folder { entries, .. }) => entries.as_slice(),
                Some(SavedEntry::File { .. } | SavedEntry::Link { .. }) => return false,
                None if !writes.has_below(path) => return false,
                None => &[],
            };
            let former = |name| before.iter().find(|(other, _)| other == name).map(|(_, entry)| entry);
            let is_left = |name| entries.iter().any(|(other, _)| other == name);
            let stays = entries.iter().all(|(name, entry)| {
                is_draft(name, entry) || is_granted(writes, &path.join(name), former(name), entry)
            });
            stays
                && before.iter().all(|(name, entry)| {
                    is_left(name) || is_draft(name, entry) || is_removed(writes, &path.join(name), entry)
                })
        }
    }
}

fn is_removed(writes: &GrantedWrites, path: &Path, before: &SavedEntry) -> bool {
    match before {
        SavedEntry::File { .. } => writes.covers(path, None),
        SavedEntry::Link { .. } => false,
        SavedEntry::Folder { entries, .. } => {
            entries.iter().all(|(name, entry)| is_removed(writes, &path.join(name), entry))
        }
    }
}

fn is_draft(name: &std::ffi::OsStr, entry: &SavedEntry) -> bool {
    name.as_encoded_bytes().starts_with(DRAFT.as_bytes()) && matches!(entry, SavedEntry::File { .. })
}
