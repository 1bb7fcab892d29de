//! The lock of a state directory, taken by a command while no daemon serves it.
//!
//! Invariant: while the value lives, no daemon starts there; the kernel drops the lock with the process.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use palyra_types::daemon_lock::LOCK_FILE_NAME;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::beneath::RootFolder;
use crate::error::BackupError;

/// A lock record has a few hundred bytes.
const RECORD_BYTES_MAX: u64 = 64 * 1024;

/// The lock on a state directory.
#[derive(Debug)]
pub struct StateLock {
    _file: File,
}

impl StateLock {
    /// Takes the lock of a state directory.
    ///
    /// # Errors
    /// [`BackupError::StateInUse`]; [`BackupError::File`].
    pub fn take(dir: &Path) -> Result<Self, BackupError> {
        let path = dir.join(LOCK_FILE_NAME);
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
            .open(&path);
        Self::lock(opened.map_err(BackupError::on("opening", &path))?, dir)
    }

    /// Takes the lock of a folder that was opened, and that is to become a state directory.
    pub(crate) fn take_beneath(root: &RootFolder) -> Result<Self, BackupError> {
        let path = root.path().join(LOCK_FILE_NAME);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened =
            rustix::fs::openat(root.fd(), LOCK_FILE_NAME, flags, rustix::fs::Mode::from_raw_mode(0o600));
        let opened = opened.map_err(io::Error::from).map_err(BackupError::on("opening", &path))?;
        Self::lock(File::from(opened), root.path())
    }

    fn lock(mut file: File, dir: &Path) -> Result<Self, BackupError> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(Errno::WOULDBLOCK) => {
                Err(BackupError::StateInUse { pid: recorded_pid(&mut file), dir: dir.to_owned() })
            }
            Err(errno) => Err(BackupError::File {
                doing: "locking",
                path: dir.join(LOCK_FILE_NAME),
                cause: errno.into(),
            }),
        }
    }
}

fn recorded_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(RECORD_BYTES_MAX).read_to_string(&mut text).ok()?;
    let record: serde_json::Value = serde_json::from_str(&text).ok()?;
    record.get("pid")?.as_u64()?.try_into().ok()
}
