//! The three opens: a folder beneath a descriptor, a regular file beneath one, and a new file in one.
//!
//! Invariant: nothing else in this crate opens anything but the root, which [`palyra_ports::WorkspaceRoot`] opens, and
//! all of them go through the kernel's `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`. There is no fallback.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use super::kind::EntryKind;
use super::refusal::OpenRefusal;

/// How often an open is repeated when the tree changed under the kernel's resolution.
const OPEN_ATTEMPTS_MAX: usize = 16;

/// How every path but the root's is resolved.
const RESOLVE: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// An open regular file.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// Its descriptor.
    pub(crate) file: File,
    /// Its length when it was opened.
    pub(crate) bytes: u64,
}

/// Opens a folder for listing.
pub(super) fn open_folder(beneath: impl AsFd, path: &Path) -> Result<OwnedFd, OpenRefusal> {
    open_beneath(beneath, path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Opens a regular file; anything else is refused without waiting for it.
pub(crate) fn open_file(beneath: impl AsFd, path: &Path) -> Result<OpenFile, OpenRefusal> {
    // Non-blocking, so that a FIFO without a writer cannot hold a thread; the kind is asked afterwards,
    // of the descriptor, because a name may change its meaning in between.
    let descriptor = open_beneath(beneath, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let status = fstat(&descriptor)?;
    match EntryKind::from_mode(status.st_mode) {
        EntryKind::File => Ok(OpenFile {
            file: File::from(descriptor),
            bytes: u64::try_from(status.st_size).unwrap_or_default(),
        }),
        kind => Err(OpenRefusal::Kind(kind)),
    }
}

/// Makes a file where nothing is and opens it for writing; whatever is there, a dangling link too, is refused.
pub(super) fn open_new_file(beneath: impl AsFd, path: &Path, mode: Mode) -> Result<File, Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let beneath = beneath.as_fd();
    repeated(|| openat2(beneath, path, flags, mode, RESOLVE)).map(File::from)
}

/// Returns what this system lacks for opening files at all; `None` when nothing is missing.
#[must_use]
pub fn missing_mechanism() -> Option<&'static str> {
    let probe = open_beneath(CWD, Path::new("."), OFlags::PATH | OFlags::DIRECTORY);
    matches!(probe, Err(OpenRefusal::MechanismMissing)).then_some("openat2 (Linux 5.6 or newer)")
}

fn open_beneath(beneath: impl AsFd, path: &Path, flags: OFlags) -> Result<OwnedFd, OpenRefusal> {
    let beneath = beneath.as_fd();
    retried(|| openat2(beneath, path, flags | OFlags::CLOEXEC, Mode::empty(), RESOLVE))
}

fn retried(open: impl FnMut() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, OpenRefusal> {
    repeated(open).map_err(OpenRefusal::from)
}

/// The kernel answers `EAGAIN` when a rename raced its resolution; asking again is the remedy.
fn repeated(mut open: impl FnMut() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    let mut attempts = 1;
    loop {
        match open() {
            Err(Errno::AGAIN | Errno::INTR) if attempts < OPEN_ATTEMPTS_MAX => attempts += 1,
            outcome => return outcome,
        }
    }
}
