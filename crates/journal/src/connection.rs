//! Opening SQLite the one way it is opened here.
//!
//! Owns the pragmas. Invariant: no connection checkpoints by itself, neither when the WAL grows nor on
//! close: an I/O error inside an automatic checkpoint would go unseen.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::seal::add_unseal;
use crate::sql::u64_to_sql;

/// Name of the database below the state directory.
pub(crate) const DATABASE_FILE_NAME: &str = "journal.db";

/// Size that the WAL is pre-written to and kept at.
pub(crate) const WAL_RESERVE_BYTES: u64 = 8 * 1024 * 1024;

/// The upper pages of the indexes, and what one group changes; beyond it the system's own cache of the file is asked.
const PAGE_CACHE_KIB_MAX: i64 = 4 * 1024;
const STATEMENTS_CACHED_MAX: usize = 128;
/// A connection that nobody has used for so long gives its pages back; the system's own cache still has them.
pub(crate) const QUIET_SPAN: Duration = Duration::from_secs(30);
/// How long a statement waits for another process's lock.
pub(crate) const LOCK_WAIT_MAX: Duration = Duration::from_secs(5);

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionAccess {
    /// Read committed entries.
    Read,
    /// Write; there is one such connection.
    Write,
}

/// Opens a connection to an existing (for [`ConnectionAccess::Write`]: or new and empty) database file.
pub(crate) fn connect(path: &Path, access: ConnectionAccess) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match access {
        ConnectionAccess::Read => {
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)?
        }
        ConnectionAccess::Write => {
            let write = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
            Connection::open_with_flags(path, flags | write)?
        }
    };
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Else a statement is planned anew whenever it is asked for another value: SQLite peeks at them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(LOCK_WAIT_MAX)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED_MAX);
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -PAGE_CACHE_KIB_MAX)?;
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    add_unseal(&connection, path)?;
    match access {
        ConnectionAccess::Read => {
            connection.pragma_update(None, "query_only", true)?;
        }
        ConnectionAccess::Write => {
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
            connection.pragma_update_and_check(
                None,
                "journal_size_limit",
                u64_to_sql(WAL_RESERVE_BYTES),
                |_| Ok(()),
            )?;
        }
    }
    Ok(connection)
}

/// Returns the path of the write-ahead log of a database.
pub(crate) fn wal_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    PathBuf::from(path)
}

/// Returns the path of the shared-memory index of a database.
pub(crate) fn shm_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-shm");
    PathBuf::from(path)
}

/// The classes of SQLite's failures that are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// No space: nothing is broken.
    Full,
    /// A row contradicts another.
    Constraint,
    /// Somebody else holds the lock.
    Busy,
    /// A deadline passed.
    Interrupted,
    /// Anything else: the handle is not to be trusted any more.
    Storage,
}

/// Sorts a failure of SQLite into its class.
pub(crate) fn classify(error: &rusqlite::Error) -> Failure {
    use rusqlite::ErrorCode as Code;
    match error.sqlite_error_code() {
        Some(Code::DiskFull) => Failure::Full,
        Some(Code::ConstraintViolation) => Failure::Constraint,
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => Failure::Busy,
        Some(Code::OperationInterrupted) => Failure::Interrupted,
        _ => Failure::Storage,
    }
}

/// Returns whether SQLite found something in the file that it never wrote.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode as Code;
    matches!(error.sqlite_error_code(), Some(Code::DatabaseCorrupt | Code::NotADatabase))
}

/// Says what failed in SQLite's own words, which never hold content.
pub(crate) fn describe(error: &rusqlite::Error) -> String {
    match error.sqlite_error() {
        Some(code) => rusqlite::ffi::code_to_str(code.extended_code).to_owned(),
        None => "a column has an unexpected type".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_statement_is_planned_once_whatever_it_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let connection = connect(&folder.path().join("a.db"), ConnectionAccess::Write).expect("opened");
        connection.execute_batch("CREATE TABLE t(a BLOB, b INTEGER, UNIQUE(a, b))").expect("made");
        let sql = "SELECT b FROM t WHERE a = ?1 AND b > ?2 ORDER BY b LIMIT ?3";
        let mut statement = connection.prepare(sql).expect("planned");
        for asked in 0..3_i64 {
            let mut rows = statement.query([asked, asked, asked]).expect("asked");
            assert!(rows.next().expect("answered").is_none());
        }
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
    }
}
