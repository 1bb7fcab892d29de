//! Opening, step by step.

use std::path::Path;
use std::sync::Arc;

use palyra_ledger::{Chain, EpochKey, TreeWriter, log_id};
use palyra_ports::{AppendClass, NewEntry, ReadOnlyCause};
use palyra_types::event::JournalEvent;
use palyra_types::{Epoch, LogId, PrincipalId};
use rusqlite::Connection;

use super::edge;
use super::error::OpenError;
use super::folder;
use super::format::{Format, check_stamp};
use super::options::OpenOptions;
use super::tail::{self, Tail};
use super::upgrade::upgrade;
use super::{epoch_keys, repair, wal_check};
use crate::connection::{Access, connect};
use crate::counters::Counters;
use crate::entry::PreparedEntry;
use crate::kinds::{Kind, is_critical};
use crate::project;
use crate::quarantine::{QuarantineMarker, Reason};
use crate::schema;
use crate::write::{GroupError, LogWriter, PreparedAppend};

/// A journal whose epoch has begun, with nobody writing yet.
pub(crate) struct Opened {
    pub(crate) database: std::path::PathBuf,
    pub(crate) log: LogWriter,
    pub(crate) log_id: LogId,
    pub(crate) epoch: Epoch,
    pub(crate) counters: Arc<Counters>,
    pub(crate) marker: QuarantineMarker,
}

/// Opens the journal below the state directory, making it when there is none, and begins a new epoch.
pub(crate) fn open(options: &OpenOptions) -> Result<Opened, OpenError> {
    let database = folder::prepare(&options.state_dir)?;
    let marker = QuarantineMarker::beside(&database);
    if folder::has_content(&database)? {
        wal_check::check(&database)?;
        repair_if_marked(&database, &marker)?;
    }
    let counters = Arc::new(Counters::default());
    let begun = match begin(options, &database, &counters) {
        Err(error) if error.is_damage() => {
            repair::copy_verify_swap(&database, &marker)?;
            begin(options, &database, &counters)?
        }
        begun => begun?,
    };
    counters.forget_start();
    Ok(Opened { database, log: begun.log, log_id: begun.log_id, epoch: begun.epoch, counters, marker })
}

fn repair_if_marked(database: &Path, marker: &QuarantineMarker) -> Result<(), OpenError> {
    let Some(reason) = marker.found() else { return Ok(()) };
    match repair::copy_verify_swap(database, marker) {
        Err(error @ OpenError::Corrupt { .. }) if reason == Reason::MetWhileReading => {
            tracing::error!("the journal cannot be repaired and is used as it is: {error}");
            marker.clear().map_err(OpenError::doing("removing the quarantine's mark"))
        }
        repaired => repaired,
    }
}

fn begin(options: &OpenOptions, database: &Path, counters: &Arc<Counters>) -> Result<Begun, OpenError> {
    let (connection, tail) = connect_and_check(options, database)?;
    if let Some(pages) = options.database_pages_max {
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    let Some(tail) = tail else {
        return begin_epoch(options, connection, None, counters);
    };
    if holds_unknown_kinds(&connection)? {
        return stay_readable(connection, tail, counters, ReadOnlyCause::NewerEntries);
    }
    match edge::restore(&connection, &tail)? {
        Some(tree) => begin_epoch(options, connection, Some((tail, tree)), counters),
        None => stay_readable(connection, tail, counters, ReadOnlyCause::TailDisagrees),
    }
}

/// Opens the file, checks its format and the end of the log, and brings the projections up to date.
fn connect_and_check(
    options: &OpenOptions,
    database: &Path,
) -> Result<(Connection, Option<Tail>), OpenError> {
    if folder::has_content(database)? {
        folder::prewrite_wal(database)?;
    } else {
        folder::create_empty(database)?;
    }
    let connection = connect(database, Access::Write)?;
    let Some(format) = check_format(&connection)? else {
        drop(connection);
        // SQLite deletes the WAL of an empty database, so the reserve is written once there is a first page.
        folder::prewrite_wal(database)?;
        return Ok((connect(database, Access::Write)?, None));
    };
    move_wal(&connection)?;
    if format == Format::WithoutTree {
        upgrade(&connection, database, &options.free_space())?;
    }
    refresh_projections(&connection)?;
    let tail = tail::read(&connection)?;
    Ok((connection, tail))
}

/// Returns the format of the tables, if there are any; refuses what is not a journal or newer than we know.
fn check_format(connection: &Connection) -> Result<Option<Format>, OpenError> {
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

fn refresh_projections(connection: &Connection) -> Result<(), OpenError> {
    let version: i64 = connection.query_row("SELECT version FROM projections", [], |row| row.get(0))?;
    if version == schema::PROJECTIONS_VERSION {
        return Ok(());
    }
    tracing::info!("folding the journal anew: its projections are of another version");
    project::recreate(connection).map_err(OpenError::from)
}

/// Returns whether an entry outside tapes is critical and of a kind that this version does not know.
fn holds_unknown_kinds(connection: &Connection) -> rusqlite::Result<bool> {
    let kinds = project::kinds_outside_tapes(connection)?;
    let unknown = |kind: &u16| Kind::from_number(*kind).is_none() && is_critical(*kind);
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
    tail: Tail,
    counters: &Arc<Counters>,
    cause: ReadOnlyCause,
) -> Result<Begun, OpenError> {
    counters.quarantine(cause);
    let stands = (tail.chain, TreeWriter::new());
    let log = LogWriter::new(connection, stands, tail.last_epoch, Arc::clone(counters))?;
    Ok(Begun { log, log_id: tail.chain.log_id, epoch: tail.last_epoch })
}

struct Begun {
    log: LogWriter,
    log_id: LogId,
    epoch: Epoch,
}

fn begin_epoch(
    options: &OpenOptions,
    connection: Connection,
    before: Option<(Tail, TreeWriter)>,
    counters: &Arc<Counters>,
) -> Result<Begun, OpenError> {
    let key = EpochKey::from_entropy(options.entropy.bytes32());
    let (tail, tree) = before.unzip();
    let newest = match tail {
        Some(tail) => tail.last_epoch.max(project::newest_epoch(&connection)?),
        None => Epoch(0),
    };
    let epoch = newest.next();
    epoch_keys::save(&options.state_dir, epoch, &key)?;
    let mut events = Vec::new();
    let chain = match tail {
        Some(tail) => tail.chain,
        None => {
            let nonce = options.entropy.bytes32();
            let log_id = log_id(&key.public(), &nonce);
            events.push(JournalEvent::LogOpened { log_id, nonce, first_key: key.public() });
            Chain::begin(log_id)
        }
    };
    events.push(JournalEvent::EpochStarted { epoch, key: key.public() });
    let append = own_append(options, events);
    let stands = (chain, tree.unwrap_or_default());
    let mut log = LogWriter::new(connection, stands, epoch, Arc::clone(counters))?;
    let make_tables = |connection: &Connection| match tail {
        Some(_) => Ok(()),
        None => schema::create(connection),
    };
    log.begin_epoch(newest, &append, make_tables).map_err(|error| match error {
        GroupError::Fenced => OpenError::Fenced,
        GroupError::Store(error) => error.into(),
    })?;
    Ok(Begun { log, log_id: chain.log_id, epoch })
}

fn own_append(options: &OpenOptions, events: Vec<JournalEvent>) -> PreparedAppend {
    let time = options.clock.wall();
    let entries = events.into_iter().map(|event| {
        let entry = NewEntry { time, principal: PrincipalId::NIL, session: None, run: None, event };
        PreparedEntry::new(entry, || options.entropy.bytes32()).expect("the journal knows its own kinds")
    });
    PreparedAppend {
        guards: Vec::new(),
        entries: entries.collect(),
        statics: Vec::new(),
        class: AppendClass::Ending,
        payload_bytes: 0,
    }
}
