//! Overwriting what an erasure leaves behind: the write-ahead log, unused space in pages, copies beside the file.
//!
//! Owns the order of these steps. Invariant: at every moment a crash leaves a journal that opens with everything that
//! was committed; the log is overwritten only when the database holds and has synced all of it, header first, and
//! the mark goes last.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use super::pending_overwrites::PendingOverwrites;
use super::{copies, slack};
use crate::connection::{self, Failure, LOCK_WAIT_MAX, WAL_RESERVE_BYTES, wal_path};

/// How long the writer waits for readers to leave the write-ahead log. Appends wait with it, so a verification is not
/// waited for.
const READERS_WAIT_MAX: Duration = Duration::from_secs(2);
/// The same for a log that is only too long, which can wait.
const SHRINK_WAIT_MAX: Duration = Duration::from_millis(50);
/// Bytes at the beginning of the write-ahead log without which nothing behind them counts.
const WAL_HEADER_BYTES: u64 = 32;

/// Why old bytes are still there.
#[derive(Debug)]
pub(crate) enum WipeError {
    /// Something stands in the way for now.
    Transient(String),
    /// SQLite failed: the handle is not to be trusted any more.
    Broken(rusqlite::Error),
}

/// Overwrites for one journal.
pub(crate) struct SpanOverwriter {
    database: PathBuf,
    /// Kept open as long as any connection: closing it drops this process's locks on the file.
    file: Arc<File>,
    owed: PendingOverwrites,
}

impl SpanOverwriter {
    /// Prepares for a database that is open.
    pub(crate) fn new(database: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(database)?;
        Ok(Self {
            database: database.to_owned(),
            file: Arc::new(file),
            owed: PendingOverwrites::beside(database),
        })
    }

    /// Returns the open file, to be kept until the last connection is closed.
    pub(crate) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Returns where the database has its place.
    pub(crate) fn database(&self) -> &Path {
        &self.database
    }

    /// Sets the mark that overwriting is owed.
    pub(crate) fn owe(&self) -> io::Result<()> {
        self.owed.set()
    }

    /// Returns whether overwriting is owed.
    pub(crate) fn is_owed(&self) -> bool {
        self.owed.is_set()
    }

    /// Takes the mark away.
    pub(crate) fn settle(&self) -> Result<(), WipeError> {
        self.owed.clear().map_err(stuck("removing journal.erasing"))
    }

    /// Overwrites everything; returns the copies that it could not reach. The caller is the only writer.
    pub(crate) fn overwrite(&self, connection: &Connection) -> Result<Vec<String>, WipeError> {
        empty_wal(connection, &wal_path(&self.database))?;
        // Pages that the connection remembers would bring back what their unused space held.
        connection.execute_batch("PRAGMA shrink_memory").map_err(WipeError::Broken)?;
        slack::overwrite(&self.file).map_err(stuck("overwriting unused space in journal.db"))?;
        copies::remove(&self.database).map_err(stuck("looking for copies of the journal"))
    }

    /// Moves the write-ahead log into the database, and cuts its file back to the usual size.
    pub(crate) fn shrink_wal(&self, connection: &Connection) -> Result<(), WipeError> {
        checkpoint(connection, "PRAGMA wal_checkpoint(TRUNCATE)", SHRINK_WAIT_MAX)?;
        reserve(&wal_path(&self.database))
    }
}

fn stuck(doing: &'static str) -> impl FnOnce(io::Error) -> WipeError {
    move |error| WipeError::Transient(format!("{doing}: {error}"))
}

/// Moves everything into the database, overwrites the log, and lets it begin anew at its usual size.
fn empty_wal(connection: &Connection, wal: &Path) -> Result<(), WipeError> {
    checkpoint(connection, "PRAGMA wal_checkpoint(RESTART)", READERS_WAIT_MAX)?;
    let doing = "overwriting the write-ahead log";
    overwrite_wal(wal).map_err(stuck(doing))?;
    // Every frame is in the database, so this reads none of them; it makes all connections forget them.
    checkpoint(connection, "PRAGMA wal_checkpoint(TRUNCATE)", READERS_WAIT_MAX)?;
    reserve(wal)
}

/// Gives the empty log its usual size; on a full disk it has none.
fn reserve(wal: &Path) -> Result<(), WipeError> {
    match prewrite(wal) {
        Err(error) if error.kind() != io::ErrorKind::StorageFull => {
            Err(stuck("reserving the write-ahead log")(error))
        }
        _ => Ok(()),
    }
}

/// Moves the write-ahead log into the database as a statement says.
pub(crate) fn checkpoint(
    connection: &Connection,
    sql: &str,
    readers_wait: Duration,
) -> Result<(), WipeError> {
    let read =
        |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?));
    connection.busy_timeout(readers_wait).map_err(WipeError::Broken)?;
    let checkpointed = connection.query_row(sql, [], read);
    connection.busy_timeout(LOCK_WAIT_MAX).map_err(WipeError::Broken)?;
    match checkpointed {
        Ok((0, frames, copied)) if frames == copied => Ok(()),
        Ok(_) => Err(WipeError::Transient("another process still reads the journal".to_owned())),
        Err(error) => match connection::classify(&error) {
            Failure::Full => Err(WipeError::Transient("the disk is full".to_owned())),
            Failure::Busy => Err(WipeError::Transient("another process still reads the journal".to_owned())),
            Failure::Constraint | Failure::Interrupted | Failure::Storage => Err(WipeError::Broken(error)),
        },
    }
}

/// The header goes first and for itself: a log whose header is gone is empty, one with a hole would be cut off there.
fn overwrite_wal(wal: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).open(wal)?;
    let bytes = file.metadata()?.len();
    copies::write_zeros(&file, bytes.min(WAL_HEADER_BYTES))?;
    file.sync_all()?;
    copies::write_zeros(&file, bytes.saturating_sub(WAL_HEADER_BYTES))?;
    file.sync_all()
}

fn prewrite(wal: &Path) -> io::Result<()> {
    let file = OpenOptions::new().append(true).open(wal)?;
    let missing = WAL_RESERVE_BYTES.saturating_sub(file.metadata()?.len());
    copies::write_zeros(&file, missing)?;
    file.sync_all()
}
