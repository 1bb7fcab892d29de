//! Opening a database without writing anything beside it.
//!
//! Owns the ways to open: as it is, through the shared memory of a writer, or from a copy. Trusts nothing in the
//! file: no triggers, views, extensions or functions named in its schema, and bounded memory.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use crate::limits::{ROW_BYTES_MAX, SQLITE_HEAP_BYTES_MAX};

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error("there is no such file, or it cannot be read: {0}")]
    File(std::io::Error),
    #[error("it is not a regular file")]
    NotAFile,
    #[error("a rollback journal is beside it; a daemon never leaves one")]
    RollbackJournal,
    #[error("its write-ahead log has no shared memory, and a private copy could not be made: {0}")]
    Copy(std::io::Error),
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
}

/// A connection that reads one state of the file, however long it takes.
pub(crate) struct ReadOnly {
    connection: Connection,
    /// The private copy, where one had to be made; gone with this value.
    _copy: Option<TempDir>,
}

impl ReadOnly {
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// Opens the database at `path` for reading.
pub(crate) fn open(path: &Path) -> Result<ReadOnly, OpenError> {
    let path = path.canonicalize().map_err(OpenError::File)?;
    if !path.metadata().map_err(OpenError::File)?.is_file() {
        return Err(OpenError::NotAFile);
    }
    if length(&beside(&path, "-journal")).is_some_and(|bytes| bytes > 0) {
        return Err(OpenError::RollbackJournal);
    }
    let wal = length(&beside(&path, "-wal"));
    let shm = length(&beside(&path, "-shm")).is_some();
    let (connection, copy) = match wal {
        Some(_) if shm => (connect(&path, "mode=ro&readonly_shm=1")?, None),
        Some(bytes) if bytes > 0 => {
            let copy = copy(&path).map_err(OpenError::Copy)?;
            (connect(&copy.path().join("journal.db"), "mode=ro")?, Some(copy))
        }
        Some(_) | None => (connect(&path, "mode=ro&immutable=1")?, None),
    };
    restrain(&connection)?;
    // Begins the one read transaction that everything is read in.
    connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
    Ok(ReadOnly { connection, _copy: copy })
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

fn length(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len())
}

fn copy(path: &Path) -> std::io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("palyra-verify-").tempdir()?;
    let name = folder.path().join("journal.db");
    std::fs::copy(path, &name)?;
    std::fs::copy(beside(path, "-wal"), beside(&name, "-wal"))?;
    Ok(folder)
}

fn connect(path: &Path, parameters: &str) -> rusqlite::Result<Connection> {
    let escaped = path.as_os_str().as_bytes().iter().fold(String::new(), |text, byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
            text + char::from(*byte).encode_utf8(&mut [0; 4])
        }
        _ => text + &format!("%{byte:02X}"),
    });
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(format!("file:{escaped}?{parameters}"), flags)
}

fn restrain(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 64 * 1024),
        (Limit::SQLITE_LIMIT_COLUMN, 100),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 50),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 4),
        (Limit::SQLITE_LIMIT_VDBE_OP, 25_000),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        connection.set_limit(limit, most)?;
    }
    connection.execute_batch(&format!(
        "PRAGMA hard_heap_limit={SQLITE_HEAP_BYTES_MAX}; PRAGMA query_only=ON; PRAGMA cell_size_check=ON;
         PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY; PRAGMA busy_timeout=5000;"
    ))
}
