//! After an I/O error: what can be read is copied to fresh files, verified, and swapped in.
//!
//! A failed fsync leaves it open which pages of a file the disk holds; a copy that is read, written and synced
//! anew does not. Invariant: the old files stay until the verified copy has taken their name, and are kept
//! beside it afterwards; a crash at any point leaves the mark set and the work is done again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::OpenError;
use crate::connection::{Access, connect, shm_path, wal_path};
use crate::project;
use crate::quarantine::{QuarantineMarker, sync_folder};
use crate::verify::verify;

/// Copies database and WAL, verifies the copy and lets it take the original's place.
pub(super) fn copy_verify_swap(database: &Path, marker: &QuarantineMarker) -> Result<(), OpenError> {
    tracing::warn!("the journal was left after an I/O error or is damaged: copying and verifying it");
    marker.set("repairing");
    let fresh = with_ending(database, ".fresh");
    let result = make_verified_copy(database, &fresh).and_then(|()| {
        swap(database, &fresh).map_err(OpenError::doing("putting the repaired journal in place"))?;
        marker.clear().map_err(OpenError::doing("removing the quarantine's mark"))
    });
    if result.is_err() {
        [fresh.clone(), wal_path(&fresh), shm_path(&fresh)]
            .iter()
            .for_each(|path| drop(fs::remove_file(path)));
    }
    result
}

fn make_verified_copy(database: &Path, fresh: &Path) -> Result<(), OpenError> {
    let copied = copy(database, fresh).and_then(|()| copy(&wal_path(database), &wal_path(fresh)));
    copied.map_err(OpenError::doing("copying the journal"))?;
    drop(fs::remove_file(shm_path(fresh)));
    let connection = connect(fresh, Access::Write)?;
    let report = verify(&connection, &(Arc::new(|_, _| ()) as _))?;
    if let Some((seq, _)) = report.fault {
        return Err(OpenError::Corrupt { seq: seq.0 });
    }
    project::recreate(&connection)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))?;
    drop(connection);
    let synced = File::open(fresh).and_then(|file| file.sync_all()).and_then(|()| sync_folder(fresh));
    synced.map_err(OpenError::doing("syncing the repaired journal"))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Ok(_) => File::open(to)?.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The copy holds every frame of the old WAL, so it is the same journal whether or not that WAL is still there.
fn swap(database: &Path, fresh: &Path) -> io::Result<()> {
    let kept = with_ending(database, ".before-repair");
    for (from, to) in [(database.to_owned(), kept.clone()), (wal_path(database), wal_path(&kept))] {
        drop(fs::remove_file(&to));
        match fs::hard_link(&from, &to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(fresh, database)?;
    sync_folder(database)?;
    let left = [wal_path(database), shm_path(database), wal_path(fresh), shm_path(fresh)];
    left.iter().for_each(|path| drop(fs::remove_file(path)));
    sync_folder(database)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
