//! Which files tools write under a grant, for who reviews what programs leave in the same folder.
//!
//! Owns a bounded list of the newest writes of this process. Invariant: a write is recorded before the file is in place,
//! so a review that meets the file knows it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Writes that are remembered.
const WRITES_MAX: usize = 4096;
const EXECUTE_BITS: u32 = 0o111;

/// The writes of a process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct GrantedWrites(Arc<Mutex<VecDeque<GrantedWrite>>>);

/// What a granted write leaves at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrantedState {
    /// SHA-256 of the file's bytes.
    pub sha256: [u8; 32],
    /// Its permission bits, of which only those to run it are compared: a new file has fewer of the others.
    pub mode: u32,
}

#[derive(Debug)]
struct GrantedWrite {
    path: PathBuf,
    /// `None` when the file is removed.
    state: Option<GrantedState>,
}

impl GrantedWrites {
    /// Records that the file at an absolute path is about to become this, or to be removed.
    pub fn record(&self, path: PathBuf, state: Option<GrantedState>) {
        let mut writes = self.list();
        if writes.len() == WRITES_MAX {
            writes.pop_front();
        }
        writes.push_back(GrantedWrite { path, state });
    }

    /// Returns whether a tool wrote exactly this at an absolute path, or removed the file.
    #[must_use]
    pub fn covers(&self, path: &Path, state: Option<GrantedState>) -> bool {
        let runs = |state: GrantedState| state.mode & EXECUTE_BITS;
        self.list().iter().any(|write| {
            let is_same = match (write.state, state) {
                (None, None) => true,
                (Some(ours), Some(theirs)) => ours.sha256 == theirs.sha256 && runs(ours) == runs(theirs),
                (Some(_), None) | (None, Some(_)) => false,
            };
            is_same && write.path == path
        })
    }

    /// Returns whether a tool wrote something below an absolute path, which may have made the folder for it.
    #[must_use]
    pub fn has_below(&self, folder: &Path) -> bool {
        self.list().iter().any(|write| write.path != folder && write.path.starts_with(folder))
    }

    fn list(&self) -> MutexGuard<'_, VecDeque<GrantedWrite>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
