//! The state directory and the journal's plain files in it.
//!
//! Owns which folders are refused, and the reserve that is written before SQLite opens anything.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::error::OpenError;
use crate::connection::{DATABASE_FILE_NAME, WAL_RESERVE_BYTES, wal_path};
use crate::quarantine::sync_folder;

static ZEROS: [u8; 64 * 1024] = [0; 64 * 1024];

/// Magic numbers of file systems whose locks or mappings cannot be trusted.
const NETWORK_FILE_SYSTEMS: &[(u64, &str)] = &[
    (0x6969, "nfs"),
    (0x517B, "smb"),
    (0xFF53_4D42, "cifs"),
    (0xFE53_4D42, "smb2"),
    (0x5346_414F, "afs"),
    (0x6B41_4653, "afs"),
    (0x7375_7245, "coda"),
    (0x564C, "ncp"),
    (0x0102_1997, "9p"),
    (0x00C3_6400, "ceph"),
    (0x0BD0_0BD0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x0116_1970, "gfs2"),
    (0x7461_636F, "ocfs2"),
];

/// Makes the folder (0700) unless it is there, refuses network file systems, returns the database's path.
pub(super) fn prepare(state_dir: &Path) -> Result<PathBuf, OpenError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(state_dir)
        .map_err(OpenError::doing("making the folder"))?;
    let found = rustix::fs::statfs(state_dir).map_err(io::Error::from);
    let magic = found.map_err(OpenError::doing("asking for its file system"))?.f_type;
    if let Some(file_system) = network_file_system(magic.cast_unsigned()) {
        return Err(OpenError::NetworkFilesystem { file_system });
    }
    Ok(state_dir.join(DATABASE_FILE_NAME))
}

fn network_file_system(magic: u64) -> Option<&'static str> {
    let known = NETWORK_FILE_SYSTEMS.iter().find(|(number, _)| *number == magic & 0xFFFF_FFFF);
    known.map(|(_, name)| *name)
}

/// Returns whether a database file with something in it exists.
pub(super) fn has_content(database: &Path) -> Result<bool, OpenError> {
    match fs::metadata(database) {
        Ok(found) => Ok(found.len() > 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(OpenError::doing("looking for journal.db")(error)),
    }
}

/// Makes an empty database file that only we can read; SQLite gives its other files the same mode.
pub(super) fn create_empty(database: &Path) -> Result<(), OpenError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.open(database).map(drop).map_err(OpenError::doing("making journal.db"))
}

/// Extends the WAL with zeros, which SQLite takes for its end, so that later commits need no new blocks.
///
/// A disk that is too full for it is not an error: the headroom will say so.
pub(super) fn prewrite_wal(database: &Path) -> Result<(), OpenError> {
    match try_prewrite(&wal_path(database)) {
        Err(error) if error.kind() == io::ErrorKind::StorageFull => Ok(()),
        result => result.map_err(OpenError::doing("pre-writing the write-ahead log")),
    }
}

fn try_prewrite(wal: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(wal)?;
    let mut length = file.metadata()?.len();
    if length >= WAL_RESERVE_BYTES {
        return Ok(());
    }
    while length < WAL_RESERVE_BYTES {
        let more =
            usize::try_from(WAL_RESERVE_BYTES - length).map_or(ZEROS.len(), |rest| rest.min(ZEROS.len()));
        file.write_all(&ZEROS[..more])?;
        length += more as u64;
    }
    file.sync_all()?;
    sync_folder(wal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_magic() {
        assert_eq!(network_file_system(0x6969), Some("nfs"));
        assert_eq!(network_file_system(0xFFFF_FFFF_FF53_4D42), Some("cifs"), "sign-extended on some kernels");
        assert_eq!(network_file_system(0xEF53), None);
    }

    #[test]
    fn the_wal_is_extended_and_keeps_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("journal.db");
        fs::write(wal_path(&database), b"frames").unwrap();
        prewrite_wal(&database).unwrap();
        prewrite_wal(&database).unwrap();
        let bytes = fs::read(wal_path(&database)).unwrap();
        assert_eq!(bytes.len() as u64, WAL_RESERVE_BYTES);
        assert!(bytes.starts_with(b"frames\0"));
    }
}
