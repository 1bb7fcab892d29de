//! Folders that are somebody's for as long as that process lives.
//!
//! Owns the mark: a lock on the folder itself, which the kernel lets go with its maker, however that ends and whatever
//! table of processes it lives in. Invariant: a folder is made new, and none is taken for abandoned whose maker is
//! alive. Source: flock(2).

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, open};

/// How many names are tried for a folder.
const NAMES_MAX: usize = 16;

/// A folder of this process.
#[derive(Debug)]
pub(crate) struct LockedDir {
    pub(crate) path: PathBuf,
    #[expect(dead_code, reason = "the lock is let go when it is closed")]
    lock: OwnedFd,
}

impl LockedDir {
    /// Makes a folder that only its user may enter: of that name, or of one that begins with it where that is taken.
    pub(crate) fn make(place: &Path, name: &str) -> io::Result<Self> {
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for attempt in 0..NAMES_MAX {
            let path = match attempt {
                0 => place.join(name),
                _ => place.join(format!("{name}-{attempt}")),
            };
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    taken = error;
                    continue;
                }
                Err(error) => return Err(error),
            }
            // Who looks for abandoned ones may have come between.
            if let Some(held) = Self::take(path)? {
                return Ok(held);
            }
        }
        Err(taken)
    }

    /// Takes over the folders in `place` whose makers are gone, of those whose names begin so.
    pub(crate) fn abandoned(place: &Path, beginning: &str) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for left in fs::read_dir(place)?.flatten() {
            let ours = left.file_name().to_str().is_some_and(|name| name.starts_with(beginning));
            if ours && left.file_type().is_ok_and(|kind| kind.is_dir()) {
                found.extend(Self::take(left.path()).ok().flatten());
            }
        }
        Ok(found)
    }

    /// Locks a folder that is there; `None` when somebody has it, or it is gone.
    fn take(path: PathBuf) -> io::Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let lock = match open(&path, flags, Mode::empty()) {
            Ok(lock) => lock,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let same = fs::symlink_metadata(&path).is_ok_and(|named| {
            fstat(&lock).is_ok_and(|held| (held.st_dev, held.st_ino) == (named.dev(), named.ino()))
        });
        Ok(same.then_some(Self { path, lock }))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_is_new_and_nobody_elses() {
        let place = tempfile::tempdir().expect("a folder");
        fs::create_dir(place.path().join("1-1")).expect("one that was left");
        let held = LockedDir::make(place.path(), "1-1").expect("a folder");
        assert_ne!(held.path, place.path().join("1-1"));
        assert_eq!(fs::metadata(&held.path).expect("it is there").permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn only_what_nobody_holds_is_abandoned() {
        let place = tempfile::tempdir().expect("a folder");
        let held = LockedDir::make(place.path(), "of-1").expect("a folder");
        for left in ["of-2", "other"] {
            fs::create_dir(place.path().join(left)).expect("one that was left");
        }
        let abandoned = || LockedDir::abandoned(place.path(), "of-").expect("they are listed");
        let paths = |found: &[LockedDir]| found.iter().map(|one| one.path.clone()).collect::<Vec<_>>();
        assert_eq!(paths(&abandoned()), [place.path().join("of-2")]);
        fs::remove_dir(place.path().join("of-2")).expect("it goes");
        let path = held.path.clone();
        drop(held);
        assert_eq!(paths(&abandoned()), [path]);
    }
}
