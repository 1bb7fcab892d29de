//! Beginning an epoch: its key, its entry, the head that vouches for it, the end of the keys before it.
//!
//! Owns the order of these, and what a log begins with: opened, gone on with, or reopened over what is left.
//! Invariant: a crash between any two steps leaves what the next start goes on from.

use std::sync::Arc;

use palyra_journal_core::families::runs;
use palyra_ledger::{Chain, CheckpointNote, EpochKey, TreeWriter, log_id};
use palyra_ports::NewEntry;
use palyra_types::event::{HeldCause, JournalEvent, LogEvent, RunEvent, TapeEvent};
use palyra_types::proof::{ReopenReason, TreeHead};
use palyra_types::run::{RunLifecycleState, RunRecord};
use palyra_types::{Epoch, LogId, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use super::error::OpenError;
use super::integrity::{head_of, holds};
use super::options::OpenOptions;
use super::tail::LogTail;
use crate::counters::WriterCounters;
use crate::sign::{self, SignedHead};
use crate::write::{GroupError, LogWriter, own_append, own_entry};
use crate::{read, rows, schema, tree};

/// What an epoch begins over.
pub(super) enum LogBefore {
    /// There is no log yet.
    Nothing,
    /// A log that goes on, with keys that may vouch for the next one.
    Log(LogTail, TreeWriter, Vec<EpochKey>),
    /// What is left of a log that is given up, citing its newest head.
    GivenUp(LogTail, TreeWriter, TreeHead, ReopenReason),
}

/// An epoch that has begun, with nobody writing yet.
pub(super) struct EpochStart {
    pub(super) log: LogWriter,
    pub(super) log_id: LogId,
    /// `None` where nothing may be written.
    pub(super) signing: Option<SigningStart>,
}

/// What the signer begins with.
pub(crate) struct SigningStart {
    pub(crate) key: EpochKey,
    pub(crate) first: SignedHead,
}

/// Begins the next epoch.
pub(super) fn begin_epoch(
    options: &OpenOptions,
    connection: Connection,
    before: LogBefore,
    counters: &Arc<WriterCounters>,
) -> Result<EpochStart, OpenError> {
    let key = EpochKey::from_entropy(options.entropy.bytes32());
    let newest = match &before {
        LogBefore::Nothing => Epoch(0),
        LogBefore::Log(tail, ..) | LogBefore::GivenUp(tail, ..) => {
            tail.last_epoch.max(rows::newest_epoch(&connection)?)
        }
    };
    let epoch = newest.next();
    sign::save(&options.state_dir, epoch, &key).map_err(OpenError::doing("saving the epoch's key"))?;
    let is_new = matches!(before, LogBefore::Nothing);
    let held = match &before {
        LogBefore::GivenUp(..) => hold_open_runs(&connection, options.clock.wall())?,
        LogBefore::Nothing | LogBefore::Log(..) => Vec::new(),
    };
    let LogOpening { chain, tree, older_keys, event } = opening(options, &key, before);
    let started = JournalEvent::Log(LogEvent::EpochStarted {
        epoch,
        key: key.public(),
        sealing: Some(options.sealing.of_epoch()),
    });
    let time = options.clock.wall();
    let begins = event.into_iter().chain([started]).map(|event| own_entry(time, event));
    let append = own_append(begins.chain(held));
    let mut log = LogWriter::new(connection, chain, tree, epoch, Arc::clone(counters))?;
    let make_tables = |connection: &Connection| if is_new { schema::create(connection) } else { Ok(()) };
    log.begin_epoch(newest, &append, make_tables).map_err(failed)?;
    let signers: Vec<&EpochKey> = older_keys.iter().chain([&key]).collect();
    let first = sign::sign(log.log_id(), log.head(), &signers, options.clock.wall());
    log.store_head(&first).map_err(failed)?;
    sign::destroy_older(&options.state_dir, epoch);
    Ok(EpochStart { log_id: log.log_id(), log, signing: Some(SigningStart { key, first }) })
}

/// Returns what lets each open run wait for a person: nobody knows what it did in the part that is lost. Of the
/// runs of a session that have not begun only the first is held, if none has begun; the others wait behind it.
fn hold_open_runs(connection: &Connection, time: Timestamp) -> Result<Vec<NewEntry>, OpenError> {
    let mut open = read::read_rows(connection, |rows, _| runs::open(rows))?;
    open.sort_by_key(|run| {
        (run.principal, run.session, run.state == RunLifecycleState::Pending, run.first_seq)
    });
    open.dedup_by_key(|run| (run.principal, run.session));
    let hold = |run: RunRecord| NewEntry {
        time,
        principal: run.principal,
        session: Some(run.session),
        run: Some((run.run, run.last_tape_seq.next())),
        event: JournalEvent::Tape(TapeEvent::Run(RunEvent::Held { cause: HeldCause::LogReopened })),
    };
    Ok(open.into_iter().map(hold).collect())
}

fn failed(error: GroupError) -> OpenError {
    match error {
        GroupError::Fenced => OpenError::Fenced,
        GroupError::Store(error) => error.into(),
    }
}

/// Where the first entries of an epoch go, and what stands before EpochStarted.
struct LogOpening {
    chain: Chain,
    tree: TreeWriter,
    older_keys: Vec<EpochKey>,
    event: Option<JournalEvent>,
}

fn opening(options: &OpenOptions, key: &EpochKey, before: LogBefore) -> LogOpening {
    let nonce = options.entropy.bytes32();
    let log_id = log_id(&key.public(), &nonce);
    match before {
        LogBefore::Nothing => {
            let event = JournalEvent::Log(LogEvent::Opened { log_id, nonce, first_key: key.public() });
            let (chain, tree) = (Chain::begin(log_id), TreeWriter::new());
            LogOpening { chain, tree, older_keys: Vec::new(), event: Some(event) }
        }
        LogBefore::Log(tail, tree, older_keys) => {
            LogOpening { chain: tail.chain, tree, older_keys, event: None }
        }
        LogBefore::GivenUp(tail, tree, abandoned, reason) => {
            tracing::warn!(%log_id, given_up = abandoned.size, "a new log begins over what is left of the old one");
            let event =
                JournalEvent::Log(LogEvent::Reopened { log_id, nonce, key: key.public(), abandoned, reason });
            LogOpening { chain: tail.chain, tree, older_keys: Vec::new(), event: Some(event) }
        }
    }
}

/// Makes the tree of what is left of a log, and forgets the signed heads that speak of anything else.
pub(super) fn gather_what_is_left(connection: &Connection) -> Result<TreeWriter, OpenError> {
    let transaction = connection.unchecked_transaction()?;
    let tree = tree::refill(&transaction, &|_| ())?;
    let newest = "SELECT size, note FROM checkpoint ORDER BY size DESC LIMIT 1";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
    while let Some((size, note)) = transaction.query_row(newest, [], read).optional()? {
        let note = CheckpointNote::parse(note.as_bytes()).ok();
        let head = note.as_ref().map(head_of);
        if let Some(head) = head
            && holds(&transaction, tree.size(), head)?
        {
            break;
        }
        transaction.execute("DELETE FROM checkpoint WHERE size = ?1", [size])?;
    }
    transaction.commit()?;
    Ok(tree)
}
