//! After an I/O error or damage: the log is copied to fresh files, verified, and swapped in.
//!
//! A failed fsync leaves it open which pages of a file the disk holds; a copy that is read, written and synced
//! anew does not. What is derived from the log is not copied but made anew. Invariant: the old files stay until the verified copy has taken their name, and are kept
//! beside it afterwards; a crash at any point leaves the mark set and the work is done again.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_ledger::TreeWriter;
use palyra_ports::VerifyReport;
use rusqlite::Connection;

use super::error::OpenError;
use super::folder;
use super::format::{LogFormat, check_stamp};
use crate::connection::{self, ConnectionAccess, connect, shm_path, wal_path};
use crate::fault::ReadFault;
use crate::quarantine::{QuarantineMarker, sync_folder};
use crate::refold;
use crate::schema;
use crate::tree;
use crate::verify::{VerifyScope, verify};

/// Copies the log, verifies the copy and lets it take the original's place.
pub(super) fn copy_verify_swap(database: &Path, marker: &QuarantineMarker) -> Result<(), OpenError> {
    tracing::warn!("the journal was left after an I/O error or is damaged: copying and verifying it");
    if marker.found().is_none() {
        marker.set("repairing");
    }
    let fresh = with_ending(database, ".fresh");
    remove(&fresh);
    let result = make_verified_copy(database, &fresh).and_then(|()| {
        swap(database, &fresh).map_err(OpenError::doing("putting the repaired journal in place"))?;
        marker.clear().map_err(OpenError::doing("removing the quarantine's mark"))
    });
    if result.is_err() {
        remove(&fresh);
    }
    result
}

fn remove(database: &Path) {
    let files = [database.to_owned(), wal_path(database), shm_path(database)];
    files.iter().for_each(|path| drop(fs::remove_file(path)));
}

fn make_verified_copy(database: &Path, fresh: &Path) -> Result<(), OpenError> {
    if !folder::has_content(database)? {
        return Err(OpenError::NotAJournal);
    }
    folder::create_empty(fresh)?;
    let connection = connect(fresh, ConnectionAccess::Write)?;
    if never_begun(database)? {
        tracing::warn!("the journal's first commit failed: it starts again");
    } else {
        copy_log(&connection, database).map_err(|error| name_first_bad(database, error))?;
        let report = verify(&connection, VerifyScope::Log, &(Arc::new(|_, _| ()) as _))?;
        if let Some((seq, _)) = report.fault {
            return Err(OpenError::Corrupt { seq: seq.0 });
        }
        refold::recreate(&connection, &refold::log_progress)?;
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))?;
    drop(connection);
    let synced = File::open(fresh).and_then(|file| file.sync_all()).and_then(|()| sync_folder(fresh));
    synced.map_err(OpenError::doing("syncing the repaired journal"))
}

/// Returns whether the file is a database in which nothing was ever committed.
fn never_begun(database: &Path) -> Result<bool, OpenError> {
    let counted = connect(database, ConnectionAccess::Read).and_then(|connection| {
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
    });
    match counted {
        Err(error) if connection::is_damage(&error) => Ok(false),
        counted => Ok(counted? == 0),
    }
}

/// Copies the log row by row: indexes and what is derived from the log are made anew, whatever became of them.
fn copy_log(fresh: &Connection, database: &Path) -> Result<(), OpenError> {
    fresh.execute("ATTACH DATABASE ?1 AS damaged", [database.as_os_str().as_bytes()])?;
    let number = |pragma| fresh.pragma_query_value(Some("damaged"), pragma, |row| row.get::<_, i32>(0));
    let format = check_stamp(number("application_id")?, number("user_version")?)?;
    let transaction = fresh.unchecked_transaction()?;
    schema::create(&transaction)?;
    for table in schema::LOG_TABLES {
        // Indexes are not read: the rows alone count.
        let all =
            format!("INSERT INTO main.{table} SELECT * FROM damaged.{table} NOT INDEXED ORDER BY rowid");
        transaction.execute(&all, [])?;
    }
    let tree = tree::fill(&transaction, &|_| ())?;
    if format == LogFormat::Present {
        copy_heads(&transaction, database)?;
        compare_frontier(database, &tree)?;
    }
    transaction.commit()?;
    Ok(fresh.execute_batch("DETACH DATABASE damaged")?)
}

/// Copies the signed heads. Where they cannot be read the start has to do without: it asks for the key then.
fn copy_heads(fresh: &Connection, database: &Path) -> Result<(), OpenError> {
    // On a connection of its own: one that has met damage cannot commit any more.
    let damaged = connect(database, ConnectionAccess::Read)?;
    let rows = |damaged: &Connection| -> rusqlite::Result<Vec<(i64, String)>> {
        let mut all = damaged.prepare("SELECT size, note FROM checkpoint ORDER BY size")?;
        all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    };
    let heads = match rows(&damaged) {
        Err(error) if connection::is_damage(&error) => {
            tracing::error!("the signed heads cannot be read and are left out");
            Vec::new()
        }
        heads => heads?,
    };
    let mut insert = fresh.prepare("INSERT INTO checkpoint(size, note) VALUES (?1, ?2)")?;
    heads.iter().try_for_each(|head| insert.execute((head.0, &head.1)).map(drop))?;
    Ok(())
}

/// Refuses a log that is not the one of its old tree; a frontier that cannot be read says nothing.
fn compare_frontier(database: &Path, tree: &TreeWriter) -> Result<(), OpenError> {
    match tree::read_frontier(&connect(database, ConnectionAccess::Read)?) {
        Ok(Some(kept)) if kept != *tree.frontier() => {
            let (entries, frontier) = (tree.size(), kept.size());
            tracing::error!(entries, frontier, "the log contradicts its tree");
            Err(OpenError::Corrupt { seq: entries.min(frontier) })
        }
        Err(error) if !connection::is_damage(&error) => Err(error.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Says which entry is the first that cannot be copied, where that is what failed.
fn name_first_bad(database: &Path, error: OpenError) -> OpenError {
    if !error.is_damage() {
        return error;
    }
    let report = connect(database, ConnectionAccess::Read)
        .map_err(ReadFault::from)
        .and_then(|connection| verify(&connection, VerifyScope::Log, &(Arc::new(|_, _| ()) as _)));
    match report {
        Ok(VerifyReport { fault: Some((seq, _)), .. }) => OpenError::Corrupt { seq: seq.0 },
        Ok(_) | Err(_) => error,
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
