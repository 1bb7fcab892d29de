//! One daemon per state directory: the directory, its lock, and what the lock says.
//!
//! Invariant: whoever holds the value returned by [`StateLock::take`] is the only daemon there; the kernel
//! lets go when the process ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use palyra_types::ErrorCode;
use palyra_types::daemon_lock::{DaemonLockRecord, LOCK_FILE_NAME};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Why the state directory was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateLockError {
    /// Another daemon has it.
    #[error("another daemon (pid {pid}) serves {dir}")]
    Locked { pid: u32, dir: PathBuf },
    /// It cannot be used.
    #[error("the state directory {dir} cannot be used: {what}")]
    Unusable { dir: PathBuf, what: String },
}

impl StateLockError {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Locked { .. } => ErrorCode::StateDirLocked,
            Self::Unusable { .. } => ErrorCode::StateDirUnusable,
        }
    }
}

/// The lock on a state directory.
#[derive(Debug)]
pub(crate) struct StateLock {
    file: File,
    dir: PathBuf,
}

impl StateLock {
    /// Makes the directory if needed and takes it.
    pub(crate) fn take(dir: &Path) -> Result<Self, StateLockError> {
        let unusable = |what: String| StateLockError::Unusable { dir: dir.to_owned(), what };
        let io = |error: std::io::Error| unusable(error.to_string());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(io)?;
        let dir = dir.canonicalize().map_err(io)?;
        check_private(&dir).map_err(unusable)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(dir.join(LOCK_FILE_NAME))
            .map_err(io)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { file, dir }),
            Err(Errno::WOULDBLOCK) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                let pid = serde_json::from_str::<DaemonLockRecord>(&text).map_or(0, |record| record.pid);
                Err(StateLockError::Locked { pid, dir })
            }
            Err(error) => Err(unusable(error.to_string())),
        }
    }

    /// Returns the real path of the directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Says who holds the lock and where to find it.
    pub(crate) fn write(&mut self, record: &DaemonLockRecord) -> std::io::Result<()> {
        let text = serde_json::to_string(record)?;
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.file.flush()
    }

    /// Empties the record: nobody serves any more.
    pub(crate) fn clear(&mut self) {
        // A record that stays is only stale; clients find out.
        let _ = self.file.set_len(0);
    }
}

fn check_private(dir: &Path) -> Result<(), String> {
    let metadata = std::fs::metadata(dir).map_err(|error| error.to_string())?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user".to_owned());
    }
    if metadata.mode() & 0o077 != 0 {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(dir, mode).map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_daemon_is_told_who_was_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("state");
        let mut first = StateLock::take(&dir).expect("free");
        let record = DaemonLockRecord {
            pid: 42,
            started_unix_us: 1,
            boot_id: "b".into(),
            socket: "s".into(),
            build_id: "v".into(),
            model: "demo/demo".into(),
        };
        first.write(&record).expect("written");
        assert!(matches!(StateLock::take(&dir), Err(StateLockError::Locked { pid: 42, .. })));
        drop(first);
        StateLock::take(&dir).expect("free again, stale contents and all");
    }

    #[test]
    fn an_open_directory_is_made_private() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("state");
        std::fs::create_dir(&dir).expect("made");
        StateLock::take(&dir).expect("taken");
        assert_eq!(std::fs::metadata(&dir).expect("there").mode() & 0o777, 0o700);
    }
}
