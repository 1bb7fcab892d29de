//! Opening, step by step.

use std::path::Path;
use std::sync::Arc;

use palyra_ledger::TreeWriter;
use palyra_ports::ReadOnlyCause;
use palyra_types::LogId;
use palyra_types::proof::{ReopenReason, TreeHead};
use rusqlite::Connection;

use super::begin::{EpochStart, LogBefore, SigningStart, begin_epoch, gather_what_is_left};
use super::error::OpenError;
use super::folder;
use super::format::{LogFormat, check_stamp};
use super::integrity::{self, LogState};
use super::options::OpenOptions;
use super::tail::{self, LogTail};
use super::upgrade::upgrade;
use super::{derived, missing, repair, wal_check};
use crate::connection::{ConnectionAccess, connect};
use crate::counters::WriterCounters;
use crate::quarantine::{CopyReason, QuarantineMarker};
use crate::rows::{SqliteRows, sql_error};
use crate::write::LogWriter;
use palyra_journal_core::families::kinds_seen;
use palyra_types::event::kind::{EventKind, is_critical};

/// A journal whose epoch has begun, with nobody writing yet.
pub(crate) struct OpenedJournal {
    pub(crate) database: std::path::PathBuf,
    pub(crate) log: LogWriter,
    pub(crate) log_id: LogId,
    /// `None` where nothing may be written.
    pub(crate) signing: Option<SigningStart>,
    pub(crate) counters: Arc<WriterCounters>,
    pub(crate) marker: QuarantineMarker,
}

/// Opens the journal below the state directory, making it when there is none, and begins a new epoch.
pub(crate) fn open(options: &OpenOptions) -> Result<OpenedJournal, OpenError> {
    let database = folder::prepare(&options.state_dir)?;
    let marker = QuarantineMarker::beside(&database);
    if folder::has_content(&database)? {
        wal_check::check(&database)?;
        repair_if_marked(&database, &marker)?;
    } else {
        missing::refuse_lost_database(&options.state_dir, &database)?;
    }
    let counters = Arc::new(WriterCounters::default());
    let begun = match begin(options, &database, &counters) {
        Err(error) if error.is_damage() => {
            repair::copy_verify_swap(&database, &marker)?;
            begin(options, &database, &counters)?
        }
        begun => begun?,
    };
    counters.forget_start();
    let EpochStart { log, log_id, signing } = begun;
    missing::mark(&options.state_dir, log_id);
    Ok(OpenedJournal { database, log, log_id, signing, counters, marker })
}

fn repair_if_marked(database: &Path, marker: &QuarantineMarker) -> Result<(), OpenError> {
    let Some(reason) = marker.found() else { return Ok(()) };
    match repair::copy_verify_swap(database, marker) {
        Err(error @ OpenError::Corrupt { .. }) if reason == CopyReason::MetWhileReading => {
            tracing::error!("the journal cannot be repaired and is used as it is: {error}");
            marker.clear().map_err(OpenError::doing("removing the quarantine's mark"))
        }
        repaired => repaired,
    }
}

fn begin(
    options: &OpenOptions,
    database: &Path,
    counters: &Arc<WriterCounters>,
) -> Result<EpochStart, OpenError> {
    let (connection, tail) = connect_and_check(options, database)?;
    if let Some(pages) = options.database_pages_max {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    let Some(tail) = tail else {
        missing::refuse_lost_log(&options.state_dir)?;
        return begin_epoch(options, connection, LogBefore::Nothing, counters);
    };
    let (standing, held) = judge(options, &connection, &tail)?;
    if let LogState::Doubtful { cause: cause @ ReadOnlyCause::NewerEntries } = standing {
        return stay_readable(connection, tail, counters, cause);
    }
    let before = match (standing, options.reopen) {
        (LogState::Sound { tree, keys }, None) => LogBefore::Log(tail, *tree, keys),
        (LogState::Sound { tree, keys }, Some(ReopenReason::RollbackAccepted | ReopenReason::KeyLost)) => {
            tracing::warn!("there is no rollback to accept: the log goes on");
            LogBefore::Log(tail, *tree, keys)
        }
        (LogState::Sound { .. }, Some(reason @ ReopenReason::Restored))
        | (LogState::Doubtful { .. }, Some(reason)) => {
            let tree = gather_what_is_left(&connection)?;
            let present = TreeHead { size: tree.size(), root: tree.root().0 };
            LogBefore::GivenUp(tail, tree, held.unwrap_or(present), reason)
        }
        (LogState::Doubtful { cause }, None) => return stay_readable(connection, tail, counters, cause),
    };
    begin_epoch(options, connection, before, counters)
}

/// Judges the log. A doubt that may come from a derived table alone counts only once those are rebuilt.
fn judge(
    options: &OpenOptions,
    connection: &Connection,
    tail: &LogTail,
) -> Result<(LogState, Option<TreeHead>), OpenError> {
    let look = || {
        if holds_unknown_kinds(connection)? {
            return Ok((LogState::Doubtful { cause: ReadOnlyCause::NewerEntries }, None));
        }
        integrity::judge(options, connection, tail)
    };
    match look() {
        Ok(sound @ (LogState::Sound { .. }, _)) => Ok(sound),
        Ok(behind @ (LogState::Doubtful { cause: ReadOnlyCause::BehindAnchor { .. } }, _)) => Ok(behind),
        doubtful => match derived::rebuild(options, connection, "the log is in doubt by what they say") {
            Ok(()) => look(),
            Err(error) => {
                tracing::error!(%error, "what is derived from the log cannot be rebuilt");
                doubtful
            }
        },
    }
}

/// Opens the file, checks its format and the end of the log, and brings the projections up to date.
fn connect_and_check(
    options: &OpenOptions,
    database: &Path,
) -> Result<(Connection, Option<LogTail>), OpenError> {
    if folder::has_content(database)? {
        folder::prewrite_wal(database)?;
    } else {
        folder::create_empty(database)?;
    }
    let connection = connect(database, ConnectionAccess::Write)?;
    let Some(format) = check_format(&connection)? else {
        drop(connection);
        // SQLite deletes the WAL of an empty database, so the reserve is written once there is a first page.
        folder::prewrite_wal(database)?;
        return Ok((connect(database, ConnectionAccess::Write)?, None));
    };
    move_wal(&connection)?;
    if format == LogFormat::WithoutTree {
        upgrade(&connection, database, &options.free_space())?;
    }
    let tail = tail::read(&connection)?;
    derived::settle(options, &connection, database, tail.as_ref())?;
    Ok((connection, tail))
}

/// Returns the format of the tables, if there are any; refuses what is not a journal or newer than we know.
fn check_format(connection: &Connection) -> Result<Option<LogFormat>, OpenError> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(None);
    }
    check_stamp(number("application_id")?, number("user_version")?).map(Some)
}

/// Empties the WAL into the database, so that the whole reserve is there; a full disk may prevent it.
fn move_wal(connection: &Connection) -> Result<(), OpenError> {
    match connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).map_err(OpenError::from) {
        Err(OpenError::DiskFull) => Ok(()),
        result => result,
    }
}

/// Returns whether an entry outside tapes is critical and of a kind that this version does not know.
fn holds_unknown_kinds(connection: &Connection) -> rusqlite::Result<bool> {
    let kinds = kinds_seen::outside_tapes(&mut SqliteRows::new(connection)).map_err(sql_error)?;
    let unknown = |kind: &u16| EventKind::from_number(*kind).is_none() && is_critical(*kind);
    Ok(match kinds.into_iter().find(unknown) {
        Some(kind) => {
            tracing::error!(kind, "a newer version wrote this journal: it is read-only here");
            true
        }
        None => false,
    })
}

/// Begins no epoch and takes no entry.
fn stay_readable(
    connection: Connection,
    tail: LogTail,
    counters: &Arc<WriterCounters>,
    cause: ReadOnlyCause,
) -> Result<EpochStart, OpenError> {
    counters.quarantine(cause);
    let tree = TreeWriter::new();
    let log = LogWriter::new(connection, tail.chain, tree, tail.last_epoch, Arc::clone(counters))?;
    Ok(EpochStart { log, log_id: tail.chain.log_id, signing: None })
}
