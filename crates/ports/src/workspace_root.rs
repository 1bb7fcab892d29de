//! The folder that a call works in, open.
//!
//! Owns the open. Invariant: the path is resolved once and without links, and whatever is done in the folder afterwards
//! starts from the descriptor. There is no fallback. Source: openat2(2).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// How often an open is repeated when the tree changed under the kernel's resolution.
const OPEN_ATTEMPTS_MAX: usize = 16;

/// A workspace folder, open. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WorkspaceRoot {
    path: PathBuf,
    folder: Arc<OwnedFd>,
}

/// Why a workspace folder was not opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenRootError {
    /// A part of its path is a link, which was put there after the folder was chosen.
    #[error(
        "the workspace folder itself, or one above it, has become a link and is not entered; tell the user"
    )]
    Link,
    /// The kernel cannot resolve a path without links.
    #[error("this system has no openat2 (Linux 5.6 or newer), and no file is opened without it")]
    MechanismMissing,
    /// Anything else.
    #[error("the workspace folder itself cannot be opened; tell the user")]
    Unusable(#[source] io::Error),
}

impl WorkspaceRoot {
    /// Opens a folder by its real path.
    ///
    /// # Errors
    /// [`OpenRootError::Link`] when any part of the path is a link.
    pub fn open(path: &Path) -> Result<Self, OpenRootError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = repeated(|| openat2(CWD, path, flags, Mode::empty(), resolve));
        let folder = opened.map_err(|error| match error {
            Errno::LOOP => OpenRootError::Link,
            Errno::NOSYS => OpenRootError::MechanismMissing,
            other => OpenRootError::Unusable(other.into()),
        })?;
        Ok(Self { path: path.to_owned(), folder: Arc::new(folder) })
    }

    /// Returns the path by which it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the descriptor, which names the folder and reads nothing.
    #[must_use]
    pub fn descriptor(&self) -> &OwnedFd {
        &self.folder
    }
}

impl AsFd for WorkspaceRoot {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}

/// The kernel answers `EAGAIN` when a rename raced its resolution; asking again is the remedy.
fn repeated<T>(mut open: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    let mut attempts = 1;
    loop {
        match open() {
            Err(Errno::AGAIN | Errno::INTR) if attempts < OPEN_ATTEMPTS_MAX => attempts += 1,
            outcome => return outcome,
        }
    }
}
