//! Whether the journal's files are still those that were opened.
//!
//! SQLite goes on writing into a file that lost its name, and whoever starts next never finds what was acknowledged.
//! Owns which file stands where, and saving a database that has no name any more. Begin at [`FilePlaces::lost`].

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::connection::wal_path;
use crate::quarantine::sync_folder;

/// In the state directory: the database as it was saved after its file had been removed.
pub(crate) const RESCUED_FILE_NAME: &str = "journal.db.rescued";

const COPY_BYTES: usize = 1024 * 1024;

/// A file that is no longer what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LostFile {
    /// `journal.db`.
    Database,
    /// `journal.db-wal`.
    Wal,
}

impl LostFile {
    /// Says what happened.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Database => "journal.db was removed, replaced or cut while it was in use",
            Self::Wal => "journal.db-wal was removed, replaced or cut while it was in use",
        }
    }
}

/// The files of one journal and where they have to be. Both are held open elsewhere, so their inodes are not reused.
pub(crate) struct FilePlaces {
    database: WatchedPlace,
    wal: WatchedPlace,
    /// The database never shrinks.
    database_bytes: u64,
}

struct WatchedPlace {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl WatchedPlace {
    fn of(path: PathBuf) -> io::Result<Self> {
        let found = fs::metadata(&path)?;
        Ok(Self { path, device: found.dev(), inode: found.ino() })
    }

    fn look(&self) -> Option<Metadata> {
        let found = fs::metadata(&self.path).ok()?;
        ((found.dev(), found.ino()) == (self.device, self.inode)).then_some(found)
    }
}

impl FilePlaces {
    /// Remembers the files of an open journal.
    pub(crate) fn of(database: &Path) -> io::Result<Self> {
        let wal = WatchedPlace::of(wal_path(database))?;
        Ok(Self { database: WatchedPlace::of(database.to_owned())?, wal, database_bytes: 0 })
    }

    /// Returns the file that is gone, if one is. The write-ahead log has to have `wal_bytes`.
    pub(crate) fn lost(&mut self, wal_bytes: u64) -> Option<LostFile> {
        match self.database.look() {
            Some(found) if found.len() >= self.database_bytes => self.database_bytes = found.len(),
            Some(_) | None => return Some(LostFile::Database),
        }
        match self.wal.look() {
            Some(found) if found.len() >= wal_bytes => None,
            Some(_) | None => Some(LostFile::Wal),
        }
    }
}

/// Copies a database that lost its name beside its place; one that has a name elsewhere is whole there.
pub(crate) fn rescue(file: &Arc<File>, database: &Path) -> io::Result<Option<PathBuf>> {
    if file.metadata()?.nlink() > 0 {
        return Ok(None);
    }
    let path = database.with_file_name(RESCUED_FILE_NAME);
    let copy = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    let mut buffer = vec![0; COPY_BYTES];
    let mut at = 0;
    loop {
        let count = file.read_at(&mut buffer, at)?;
        if count == 0 {
            break;
        }
        copy.write_all_at(&buffer[..count], at)?;
        at += count as u64;
    }
    copy.sync_all()?;
    sync_folder(&path)?;
    Ok(Some(path))
}
