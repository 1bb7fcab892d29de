//! From format 1, which had no tree and no checkpoints, to the present one.
//!
//! Owns the copy that is made first. Invariant: nothing of the journal changes before the copy is on the disk,
//! and then everything changes in one transaction; a crash at any point leaves the old format and the work is
//! done again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::error::OpenError;
use crate::quarantine::sync_folder;
use crate::sql::u64_from_sql;
use crate::write::FreeSpace;
use crate::{schema, tree};

/// What a tree takes for each entry: its hash in a tile, with what SQLite adds, twice for the write-ahead log.
const TREE_BYTES_PER_ENTRY: u64 = 80;

/// What has to stay free besides.
const SPARE_BYTES_MIN: u64 = 1024 * 1024;

const COPY_ENDING: &str = ".format-1";
const UNFINISHED_COPY_ENDING: &str = ".format-1.unfinished";

/// Copies the database and brings it up to the present format.
pub(super) fn upgrade(
    connection: &Connection,
    database: &Path,
    free_space: &FreeSpace,
) -> Result<(), OpenError> {
    let last = "SELECT coalesce(max(seq) + 1, 0) FROM entry";
    let entries = u64_from_sql(connection.query_row(last, [], |row| row.get(0))?);
    check_space(database, entries, free_space)?;
    let row = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    if connection.query_row("PRAGMA wal_checkpoint(FULL)", [], row)? != 0 {
        return Err(OpenError::Store { what: "another program holds the journal".to_owned() });
    }
    copy(database).map_err(OpenError::doing("copying the journal before its upgrade"))?;
    tracing::info!(entries, "upgrading the journal from format 1: making its tree");
    let transaction = connection.unchecked_transaction()?;
    schema::add_proofs(&transaction)?;
    let progress = |done: u64| tracing::info!(done, entries, "making the journal's tree");
    tree::fill(&transaction, &progress)?;
    transaction.commit()?;
    tracing::info!(
        "the journal is upgraded; the file as it was is kept beside it as journal.db{COPY_ENDING}"
    );
    Ok(())
}

fn check_space(database: &Path, entries: u64, free_space: &FreeSpace) -> Result<(), OpenError> {
    let size = fs::metadata(database).map_err(OpenError::doing("looking at journal.db"))?.len();
    let needed_bytes = size + entries.saturating_mul(TREE_BYTES_PER_ENTRY) + SPARE_BYTES_MIN;
    // A probe that fails says nothing about space; if there is none, copying will tell.
    match free_space() {
        Ok(free_bytes) if free_bytes < needed_bytes => {
            Err(OpenError::NoSpaceToUpgrade { needed_bytes, free_bytes })
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn copy(database: &Path) -> io::Result<()> {
    let [unfinished, kept] = [UNFINISHED_COPY_ENDING, COPY_ENDING].map(|ending| beside(database, ending));
    let copied = fs::copy(database, &unfinished)
        .and_then(|_| File::open(&unfinished)?.sync_all())
        .and_then(|()| fs::rename(&unfinished, &kept))
        .and_then(|()| sync_folder(&kept));
    if copied.is_err() {
        drop(fs::remove_file(&unfinished));
    }
    copied
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
