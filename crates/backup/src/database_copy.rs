//! Copying a SQLite database while another connection writes it.
//!
//! Owns the read transaction that the whole copy is made in: the writer goes on in its write-ahead log, no step begins
//! again, and the copy is one state of the journal. Between two steps the disk is left to the writer.

use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::error::BackupError;
use crate::plan::CopyPace;
use crate::step_pace::StepPace;
use crate::watch::BackupWatch;

/// How long another's lock is waited for.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(5);
/// Between two tries at a source that is locked.
const BUSY_PAUSE: Duration = Duration::from_millis(20);
const BUSY_TRIES_MAX: u32 = 500;
/// Bytes after which the copy is brought to the disk, so that the end of it is not one long write.
const SYNC_BYTES: u64 = 8 * 1024 * 1024;
/// Pages of the copy that are kept in memory.
const COPY_CACHE_KIB: i64 = 2 * 1024;

/// How a copy went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CopyFigures {
    /// Its bytes.
    pub(crate) bytes: u64,
    /// The longest step.
    pub(crate) longest_step: Duration,
    /// How many steps there were.
    pub(crate) steps: u64,
}

/// What a copy of a journal says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JournalFacts {
    pub(crate) log: String,
    pub(crate) entries: u64,
    pub(crate) checkpoint: Option<String>,
    pub(crate) has_sealed_payloads: bool,
}

/// How a database is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatabaseState {
    /// Another connection may write it, or one that was killed left a write-ahead log.
    Live,
    /// The file is all there is.
    Whole,
}

/// A database to be copied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SourceDatabase<'a> {
    path: &'a Path,
    state: DatabaseState,
}

impl<'a> SourceDatabase<'a> {
    /// A journal: a daemon that ended in order leaves the file alone.
    pub(crate) fn journal(path: &'a Path) -> Self {
        Self { path, state: state_of(path) }
    }

    /// A database that is locked while it is written.
    pub(crate) fn locked(path: &'a Path) -> Self {
        Self { path, state: DatabaseState::Live }
    }
}

/// Copies a database to a new file that only its owner can read.
pub(crate) fn copy_database(
    source: &SourceDatabase<'_>,
    target: &Path,
    pace: CopyPace,
    watch: &BackupWatch,
) -> Result<CopyFigures, BackupError> {
    let from = open_source(source.path, source.state)?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target);
    let file = file.map_err(BackupError::on("making", target))?;
    let mut to = open_target(target)?;
    let figures = copy_steps(&from, &mut to, &CopyTarget { path: target, file: &file }, pace, watch)?;
    drop(to);
    file.sync_all().map_err(BackupError::on("writing", target))?;
    Ok(figures)
}

/// Reads what a whole copy of a journal says of itself.
pub(crate) fn journal_facts(copy: &Path) -> Result<JournalFacts, BackupError> {
    let connection = open_source(copy, DatabaseState::Whole)?;
    let failed = |error: rusqlite::Error| database(&error);
    let last = "SELECT envelope FROM entry ORDER BY seq DESC LIMIT 1";
    let envelope: Option<Vec<u8>> =
        connection.query_row(last, [], |row| row.get(0)).optional().map_err(failed)?;
    // Bytes 24 to 40 of an envelope are the id of its log.
    let log = envelope.as_deref().and_then(|envelope| envelope.get(24..40)).unwrap_or_default();
    let entries = "SELECT coalesce(max(seq) + 1, 0) FROM entry";
    let entries: i64 = connection.query_row(entries, [], |row| row.get(0)).map_err(failed)?;
    let newest = "SELECT note FROM checkpoint ORDER BY size DESC LIMIT 1";
    let checkpoint = connection.query_row(newest, [], |row| row.get(0)).optional().map_err(failed)?;
    let sealed = "SELECT EXISTS (SELECT 1 FROM payload WHERE key_id > 0)";
    let has_sealed_payloads = connection.query_row(sealed, [], |row| row.get(0)).map_err(failed)?;
    let log = log.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(JournalFacts { log, entries: entries.unsigned_abs(), checkpoint, has_sealed_payloads })
}

struct CopyTarget<'a> {
    path: &'a Path,
    file: &'a File,
}

fn copy_steps(
    from: &Connection,
    to: &mut Connection,
    target: &CopyTarget<'_>,
    pace: CopyPace,
    watch: &BackupWatch,
) -> Result<CopyFigures, BackupError> {
    let page: i64 =
        from.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(|error| database(&error))?;
    let page = page.unsigned_abs();
    let backup = Backup::new(from, to).map_err(|error| failure(&error, target.path))?;
    let mut figures = CopyFigures::default();
    let mut steps = StepPace::default();
    let mut busy = 0;
    let mut synced = 0;
    loop {
        if watch.stop.is_requested() {
            return Err(BackupError::Stopped);
        }
        let begun = Instant::now();
        let stepped = backup.step(steps.pages()).map_err(|error| failure(&error, target.path))?;
        let took = begun.elapsed();
        let progress = backup.progress();
        let pages = |count: i32| u64::from(count.max(0).unsigned_abs()) * page;
        let total = pages(progress.pagecount);
        let left = pages(progress.remaining);
        match stepped {
            StepResult::Busy | StepResult::Locked if busy < BUSY_TRIES_MAX => {
                busy += 1;
                watch.stop.pause(BUSY_PAUSE);
                continue;
            }
            StepResult::Busy | StepResult::Locked => {
                return Err(BackupError::Database { what: "it is locked".to_owned() });
            }
            _ => {}
        }
        steps.measured(took);
        figures.steps += 1;
        figures.longest_step = figures.longest_step.max(took);
        figures.bytes = total;
        (watch.progress)(total - left, total);
        if stepped == StepResult::Done {
            return Ok(figures);
        }
        if pace == CopyPace::BesideWriter {
            if total - left - synced >= SYNC_BYTES {
                synced = total - left;
                target.file.sync_data().map_err(BackupError::on("writing", target.path))?;
            }
            watch.stop.pause(took.max(Duration::from_millis(1)));
        }
    }
}

/// Returns whether a database has a write-ahead log beside it.
fn state_of(source: &Path) -> DatabaseState {
    let mut wal = source.as_os_str().to_owned();
    wal.push("-wal");
    match std::fs::metadata(Path::new(&wal)) {
        Ok(found) if found.len() > 0 => DatabaseState::Live,
        _ => DatabaseState::Whole,
    }
}

/// Opens a database to read one state of it.
fn open_source(path: &Path, state: DatabaseState) -> Result<Connection, BackupError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = match state {
        DatabaseState::Live => Connection::open_with_flags(path, flags),
        DatabaseState::Whole => {
            let name = format!("file:{}?immutable=1", escaped(path));
            Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_URI)
        }
    };
    let begun = opened.and_then(|connection| {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.busy_timeout(LOCK_WAIT_MAX)?;
        connection.pragma_update(None, "query_only", true)?;
        connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
        Ok(connection)
    });
    begun.map_err(|error| database(&error))
}

/// Opens the new file of a copy: without locks, journal and syncs of its own, because half a copy is removed.
fn open_target(path: &Path) -> Result<Connection, BackupError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "cache_size", -COPY_CACHE_KIB)?;
        Ok(connection)
    });
    opened.map_err(|error| failure(&error, path))
}

fn escaped(path: &Path) -> String {
    path.as_os_str().as_bytes().iter().fold(String::new(), |text, byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
            text + &char::from(*byte).to_string()
        }
        _ => text + &format!("%{byte:02X}"),
    })
}

fn database(error: &rusqlite::Error) -> BackupError {
    let what = match error.sqlite_error() {
        Some(code) => rusqlite::ffi::code_to_str(code.extended_code).to_owned(),
        None => "a column has an unexpected type".to_owned(),
    };
    BackupError::Database { what }
}

/// A failure while the copy is written: a full disk is that of the copy.
fn failure(error: &rusqlite::Error, target: &Path) -> BackupError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => BackupError::DiskFull { path: target.to_owned() },
        _ => database(error),
    }
}
