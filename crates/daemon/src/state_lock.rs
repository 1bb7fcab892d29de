//! One daemon per state directory: the directory, its lock, and what the lock says.
//!
//! Invariant: whoever holds the value returned by [`StateLock::take`] is the only daemon there; the kernel
//! lets go when the process ends, however it ends.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use palyra_types::ErrorCode;
use palyra_types::daemon_lock::{DaemonLockRecord, LOCK_FILE_NAME};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::lock_watch::LockPlace;

/// The record is filled up to this, so that writing another one needs no space on a full disk.
const LOCK_BYTES: usize = 4096;
/// How long a lock is waited for whose holder is dead: a child that it had just forked has the lock too, until it runs
/// another program.
const RELEASE_SPAN_MAX: Duration = Duration::from_secs(1);
/// Between two tries.
const RELEASE_PAUSE: Duration = Duration::from_millis(10);

/// Why the state directory was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateLockError {
    /// Another daemon has it.
    #[error("another daemon{} serves {}", holder(*pid), dir.display())]
    Locked { pid: Option<u32>, dir: PathBuf },
    /// It cannot be used.
    #[error("the state directory {} cannot be used: {what}", dir.display())]
    Unusable { dir: PathBuf, what: String },
    /// There is no space for the lock file.
    #[error("no space left on the disk of the state directory {}", dir.display())]
    DiskFull { dir: PathBuf },
}

impl StateLockError {
    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::Locked { .. } => ErrorCode::StateDirLocked,
            Self::Unusable { .. } => ErrorCode::StateDirUnusable,
            Self::DiskFull { .. } => ErrorCode::DiskFull,
        }
    }

    fn unusable(dir: &Path, what: impl Into<String>) -> Self {
        Self::Unusable { dir: dir.to_owned(), what: what.into() }
    }

    /// Says what failed on what.
    fn failed(dir: &Path, on: &str, error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull => Self::DiskFull { dir: dir.to_owned() },
            _ => Self::unusable(dir, format!("{on}: {error}")),
        }
    }
}

/// A holder that has just come says who it is a moment later.
fn holder(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

/// The lock on a state directory.
#[derive(Debug)]
pub(crate) struct StateLock {
    file: File,
    dir: PathBuf,
}

impl StateLock {
    /// Makes the directory if needed and takes it. A lock that a living process has is not waited for.
    pub(crate) fn take(dir: &Path) -> Result<Self, StateLockError> {
        let dir = prepare(dir)?;
        let give_up = Instant::now() + RELEASE_SPAN_MAX;
        loop {
            let mut file = open_lock(&dir)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self { file, dir }),
                Err(Errno::WOULDBLOCK) => {
                    let pid = recorded_pid(&mut file);
                    if pid.is_some_and(is_alive) || Instant::now() >= give_up {
                        return Err(StateLockError::Locked { pid, dir });
                    }
                    std::thread::sleep(RELEASE_PAUSE);
                }
                Err(error) => return Err(StateLockError::failed(&dir, LOCK_FILE_NAME, &error.into())),
            }
        }
    }

    /// Returns the real path of the directory.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Says who holds the lock and where to find it.
    pub(crate) fn write(&mut self, record: &DaemonLockRecord) -> Result<(), StateLockError> {
        let written = serde_json::to_vec(record).map_err(std::io::Error::from);
        let written = written.and_then(|text| self.overwrite(text));
        written.map_err(|error| StateLockError::failed(&self.dir, LOCK_FILE_NAME, &error))
    }

    /// Removes the record: nobody serves any more.
    pub(crate) fn clear(&mut self) {
        // A record that stays is only stale; clients find out.
        let _ = self.overwrite(Vec::new());
    }

    fn overwrite(&mut self, mut text: Vec<u8>) -> std::io::Result<()> {
        if text.len() < LOCK_BYTES {
            text.resize(LOCK_BYTES - 1, b' ');
            text.push(b'\n');
        }
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&text)?;
        self.file.set_len(text.len() as u64)
    }

    /// Returns what tells this lock from a later one at the same path.
    pub(crate) fn place(&self) -> std::io::Result<LockPlace> {
        Ok(LockPlace::new(self.dir.join(LOCK_FILE_NAME), &self.file.metadata()?))
    }
}

/// Returns who holds a lock, as its file says; a holder that has just come says so a moment later.
fn recorded_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    serde_json::from_str::<DaemonLockRecord>(&text).ok().map(|record| record.pid)
}

/// Returns whether a process is there and did not end; one that nobody has waited for yet did.
fn is_alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name before the state may hold anything, but its closing bracket is the last one.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// Makes the directory if needed, and private; returns its real path.
fn prepare(dir: &Path) -> Result<PathBuf, StateLockError> {
    // Components leave out a slash at the end, which would lead through a link.
    let place: PathBuf = dir.components().collect();
    if std::fs::symlink_metadata(&place).is_ok_and(|found| found.is_symlink()) {
        return Err(StateLockError::unusable(dir, "it is a link; name the folder that it leads to"));
    }
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&place);
    let real = made.and_then(|()| place.canonicalize()).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            StateLockError::unusable(dir, "it is not a folder")
        }
        _ => StateLockError::failed(dir, "it cannot be made or entered", &error),
    })?;
    match keep_private(&real) {
        Ok(None) => Ok(real),
        Ok(Some(what)) => Err(StateLockError::unusable(dir, what)),
        Err(error) => Err(StateLockError::failed(dir, "it cannot be made private", &error)),
    }
}

/// Takes a directory from everybody else; returns what speaks against using it at all. One where others could write is
/// taken only while it is empty.
fn keep_private(dir: &Path) -> std::io::Result<Option<String>> {
    let own = rustix::process::geteuid().as_raw();
    let found = std::fs::metadata(dir)?;
    if found.uid() != own {
        return Ok(Some("it belongs to another user".to_owned()));
    }
    if found.mode() & 0o022 != 0 && std::fs::read_dir(dir)?.next().is_some() {
        let mend = format!("look at what is in it, then `chmod 700 {}`", dir.display());
        return Ok(Some(format!("others may write in it (mode {:04o}); {mend}", found.mode() & 0o7777)));
    }
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    }
    // Others may have been able to write there earlier, and have left something for the daemon to find.
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let owner = match entry.metadata() {
            Ok(found) => found.uid(),
            // A daemon that holds the lock works here and takes its files away.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if ![own, 0].contains(&owner) {
            let name = entry.file_name().display().to_string();
            return Ok(Some(format!("`{name}` in it belongs to another user")));
        }
    }
    Ok(None)
}

fn open_lock(dir: &Path) -> Result<File, StateLockError> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed())
        .open(dir.join(LOCK_FILE_NAME));
    let no_file = || StateLockError::unusable(dir, "its `lock` is not a file; remove it");
    match opened {
        Ok(file) if file.metadata().is_ok_and(|found| found.is_file()) => Ok(file),
        Ok(_) => Err(no_file()),
        Err(error) if is_folder_or_link(&error) => Err(no_file()),
        Err(error) => Err(StateLockError::failed(dir, LOCK_FILE_NAME, &error)),
    }
}

fn is_folder_or_link(error: &std::io::Error) -> bool {
    let link = error.raw_os_error() == Some(Errno::LOOP.raw_os_error());
    link || error.kind() == ErrorKind::IsADirectory
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> DaemonLockRecord {
        DaemonLockRecord {
            pid: 42,
            started_unix_us: 1,
            boot_id: "b".into(),
            socket: "s".into(),
            build_id: "v".into(),
            model: "demo/demo".into(),
        }
    }

    #[test]
    fn the_second_daemon_is_told_who_was_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("state");
        let mut first = StateLock::take(&dir).expect("free");
        first.write(&record()).expect("written");
        assert!(matches!(StateLock::take(&dir), Err(StateLockError::Locked { pid: Some(42), .. })));
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

    #[test]
    fn a_record_is_replaced_in_place_and_its_removal_leaves_the_space() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut lock = StateLock::take(folder.path()).expect("free");
        let read = || std::fs::read(folder.path().join(LOCK_FILE_NAME)).expect("there");
        let found = || serde_json::from_slice::<DaemonLockRecord>(&read()).ok();
        lock.write(&record()).expect("written");
        assert_eq!((found(), read().len()), (Some(record()), LOCK_BYTES));
        let short = DaemonLockRecord { socket: String::new(), ..record() };
        lock.write(&short).expect("written");
        assert_eq!((found(), read().len()), (Some(short), LOCK_BYTES));
        lock.clear();
        assert_eq!((found(), read().len()), (None, LOCK_BYTES));
    }

    #[test]
    fn a_lock_file_that_was_removed_or_replaced_is_no_longer_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = StateLock::take(folder.path()).expect("free");
        let place = lock.place().expect("an open file");
        assert!(place.is_locked());
        std::fs::remove_file(folder.path().join(LOCK_FILE_NAME)).expect("removed");
        assert!(!place.is_locked());
        let _second = StateLock::take(folder.path()).expect("free, as far as it can see");
        assert!(!place.is_locked());
    }

    #[test]
    fn what_is_not_a_private_folder_is_refused_by_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("state");
        let refused = || StateLock::take(&dir).expect_err("refused").to_string();
        std::fs::write(&dir, "").expect("made");
        assert!(refused().ends_with("it is not a folder"), "{}", refused());
        std::fs::remove_file(&dir).expect("removed");
        for target in [folder.path(), Path::new("/nowhere")] {
            std::os::unix::fs::symlink(target, &dir).expect("linked");
            assert!(refused().ends_with("it is a link; name the folder that it leads to"), "{}", refused());
            let slash = StateLock::take(&dir.join("")).expect_err("refused").to_string();
            assert!(slash.contains("it is a link"), "{slash}");
            std::fs::remove_file(&dir).expect("removed");
        }
        std::fs::create_dir_all(dir.join(LOCK_FILE_NAME)).expect("made");
        assert!(refused().ends_with("its `lock` is not a file; remove it"), "{}", refused());
        std::fs::remove_dir(dir.join(LOCK_FILE_NAME)).expect("removed");
        std::os::unix::fs::symlink("/nowhere", dir.join(LOCK_FILE_NAME)).expect("linked");
        assert!(refused().ends_with("its `lock` is not a file; remove it"), "{}", refused());
    }
}
