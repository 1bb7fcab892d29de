//! The workspace, from the descriptor that came with the order to the folder in which the program starts.
//!
//! Owns how it is found again where its path may lead elsewhere by now. Invariant: what is mounted is the current folder,
//! which is the descriptor's; where the path does not lead there without links, nothing is started.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, Stat, fstat, openat2};
use rustix::io::Errno;

use crate::failure::StepFailure;
use crate::message::KeeperOrder;

/// The step that fails where the path leads elsewhere.
pub(crate) const REPLACED: &str = "workspace";

/// How often an open is repeated when the tree changed under the kernel's resolution.
const OPEN_ATTEMPTS_MAX: usize = 16;

/// The workspace's path, and which folder has to lie there.
pub(crate) struct WorkspacePlace {
    path: PathBuf,
    found: Stat,
}

impl WorkspacePlace {
    /// Takes the current folder for the one that has to lie at the workspace's path, as it must now.
    pub(crate) fn here(order: &KeeperOrder) -> Result<Self, StepFailure> {
        let found = open_without_links(CWD, Path::new(".")).and_then(|folder| Ok(fstat(&folder)?));
        let place = Self { path: order.workspace.path(), found: found.map_err(StepFailure::at(REPLACED))? };
        place.open().map(|_| place)
    }

    /// Goes to it by its path, with all that was mounted over it meanwhile.
    pub(crate) fn enter(&self) -> Result<(), StepFailure> {
        rustix::process::fchdir(self.open()?).map_err(StepFailure::at(REPLACED))
    }

    /// Opens what lies at its path, which must be the same folder.
    fn open(&self) -> Result<OwnedFd, StepFailure> {
        let opened = open_without_links(CWD, &self.path).map_err(StepFailure::at(REPLACED))?;
        let found = fstat(&opened).map_err(StepFailure::at(REPLACED))?;
        if (found.st_dev, found.st_ino) == (self.found.st_dev, self.found.st_ino) {
            return Ok(opened);
        }
        Err(StepFailure { stage: REPLACED, cause: io::Error::from_raw_os_error(libc::ESTALE) })
    }
}

/// Goes from the workspace to the folder in which the program starts.
pub(crate) fn enter_folder(order: &KeeperOrder) -> Result<(), StepFailure> {
    let stage = "folder";
    let (folder, workspace) = (order.directory.path(), order.workspace.path());
    let inner = folder
        .strip_prefix(&workspace)
        .map_err(|_| StepFailure { stage, cause: io::Error::from_raw_os_error(libc::EXDEV) })?;
    if inner.as_os_str().is_empty() {
        return Ok(());
    }
    let beneath = open_beneath(inner).map_err(StepFailure::at(stage))?;
    rustix::process::fchdir(beneath).map_err(StepFailure::at(stage))
}

fn open_beneath(inner: &Path) -> io::Result<OwnedFd> {
    resolved(CWD, inner, ResolveFlags::BENEATH)
}

fn open_without_links(at: rustix::fd::BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    resolved(at, path, ResolveFlags::empty())
}

fn resolved(at: rustix::fd::BorrowedFd<'_>, path: &Path, more: ResolveFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | more;
    let mut attempts = 1;
    loop {
        match openat2(at, path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if attempts < OPEN_ATTEMPTS_MAX => attempts += 1,
            opened => return Ok(opened?),
        }
    }
}
