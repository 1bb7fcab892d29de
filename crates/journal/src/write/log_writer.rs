//! One transaction of the log: chain, insert, grow the tree, fold, commit.
//!
//! Owns the write connection, the chain's head, the tree's edge and the projections' rows in use. Knows no queue and no
//! waiting caller. Invariant: what is in memory equals what is committed; a rollback drops the rest.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use palyra_ledger::{Chain, Envelope, TreeWriter, leaf_hash, sha256};
use palyra_ports::{AppendError, CommitReceipt, StaticText};
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::TreeHead;
use palyra_types::{Epoch, LogId};
use rusqlite::{Connection, OptionalExtension, params};

use super::checkpoint::WAL_FRAME_BYTES;
use super::contents;
use super::guards;
use super::prepare::{PreparedAppend, invalid};
use crate::counters::WriterCounters;
use crate::entry::PreparedEntry;
use crate::erase::{self, TakenOut};
use crate::fault::ReadFault;
use crate::refold;
use crate::rows::{self, SqliteRows, sql_error};
use crate::schema;
use crate::seal::{PayloadSealer, PayloadSealing, SealError};
use crate::sign::{SignedHead, StoredHeads};
use crate::sql::seq_to_sql;
use crate::tree;
use palyra_journal_core::families::FamilySet;
use palyra_journal_core::family::FoldedEntry;

/// Static texts remembered as stored, at most.
const STATICS_REMEMBERED_MAX: usize = 1_024;

/// What each append of a group came to; nothing of it may be told before the commit.
pub(crate) type AppendOutcomes = Vec<Result<CommitReceipt, AppendError>>;

/// Why a whole transaction came to nothing.
#[derive(Debug)]
pub(crate) enum GroupError {
    /// A newer daemon has started writing.
    Fenced,
    /// SQLite failed.
    Store(rusqlite::Error),
}

impl From<rusqlite::Error> for GroupError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error)
    }
}

/// The write connection with what it must remember.
pub(crate) struct LogWriter {
    connection: Connection,
    epoch: Epoch,
    chain: Chain,
    tree: TreeWriter,
    families: FamilySet,
    statics: HashSet<[u8; 32]>,
    heads: StoredHeads,
    counters: Arc<WriterCounters>,
    sealer: Option<PayloadSealer>,
}

impl LogWriter {
    /// Takes over a connection whose log ends where `chain` and `tree` stand.
    pub(crate) fn new(
        mut connection: Connection,
        chain: Chain,
        tree: TreeWriter,
        epoch: Epoch,
        counters: Arc<WriterCounters>,
    ) -> rusqlite::Result<Self> {
        let watched = Arc::clone(&counters);
        connection.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, frames: std::ffi::c_int| {
            let frames = u64::try_from(frames).unwrap_or(0);
            watched.wal_bytes_used.store(frames * WAL_FRAME_BYTES, Ordering::Relaxed);
            Ok(())
        }))?;
        WriterCounters::set(&counters.entries, chain.next_seq.0);
        WriterCounters::set(&counters.epoch, u64::from(epoch.0));
        let (families, statics, heads) = (FamilySet::default(), HashSet::new(), StoredHeads::default());
        Ok(Self { connection, epoch, chain, tree, families, statics, heads, counters, sealer: None })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Gives back what is only kept for the next append: rows that the tables have, and pages of the database.
    pub(crate) fn rest(&mut self) {
        self.families.forget();
        // What cannot be given back stays, as it would have.
        let _ = self.connection.release_memory();
    }

    /// Lets payloads be sealed from now on.
    pub(crate) fn seal_with(&mut self, sealer: Option<PayloadSealer>) {
        self.sealer = sealer;
    }

    /// Returns whether payloads are sealed.
    pub(crate) fn sealing(&self) -> PayloadSealing {
        self.sealer.as_ref().map_or(PayloadSealing::Off, PayloadSealer::sealing)
    }

    /// Destroys the keys of what was erased and replaces the root of the others, where anything was ever sealed.
    pub(crate) fn replace_root(&mut self) -> Result<(), SealError> {
        self.sealer.as_mut().map_or(Ok(()), |sealer| sealer.replace_root(&self.connection))
    }

    /// Returns the epoch that is being written.
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns the log that is being written.
    pub(crate) fn log_id(&self) -> LogId {
        self.chain.log_id
    }

    /// Returns how many entries are committed.
    pub(crate) fn size(&self) -> u64 {
        self.tree.size()
    }

    /// Returns how many entries are committed, and the root over them.
    pub(crate) fn head(&self) -> TreeHead {
        TreeHead { size: self.tree.size(), root: self.tree.root().0 }
    }

    /// Writes the entries that begin this epoch, in one transaction with the tables where they are missing.
    pub(crate) fn begin_epoch(
        &mut self,
        before: Epoch,
        append: &PreparedAppend,
        make_tables: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), GroupError> {
        self.transact(|log| {
            make_tables(&log.connection)?;
            log.write(&[append], before, None)
        })?;
        self.heads = StoredHeads::read(&self.connection)?;
        Ok(())
    }

    /// Appends a group in one transaction. An append that is refused leaves the others alone.
    pub(crate) fn commit(&mut self, group: &[&PreparedAppend]) -> Result<AppendOutcomes, GroupError> {
        self.commit_with(group, None)
    }

    /// Appends a group and stores a signed head in the same transaction, if anything is appended.
    pub(crate) fn commit_with(
        &mut self,
        group: &[&PreparedAppend],
        riding: Option<&SignedHead>,
    ) -> Result<AppendOutcomes, GroupError> {
        self.transact(|log| log.write(group, log.epoch, riding))
    }

    /// Returns whether a signed head of this size or a larger one is stored.
    pub(crate) fn has_stored(&self, size: u64) -> bool {
        self.heads.covers(size)
    }

    /// Stores a signed head in a transaction of its own, unless one that covers it is stored.
    pub(crate) fn store_head(&mut self, signed: &SignedHead) -> Result<(), GroupError> {
        if self.heads.covers(signed.size()) {
            return Ok(());
        }
        self.transact(|log| {
            let rows_before = log.connection.total_changes();
            if rows::newest_epoch(&log.connection)? != log.epoch {
                return Err(GroupError::Fenced);
            }
            log.heads.store(&log.connection, signed)?;
            log.connection.prepare_cached("COMMIT")?.execute([])?;
            WriterCounters::add(&log.counters.commits, 1);
            WriterCounters::add(&log.counters.rows, log.connection.total_changes() - rows_before);
            Ok(AppendOutcomes::new())
        })
        .map(drop)
    }

    /// Creates the projections anew and folds the log into them, in one transaction; `None` when fenced. The log
    /// itself says whether another daemon writes it: the table of epochs may be what is damaged.
    pub(crate) fn rebuild(&mut self, progress: &dyn Fn(u64, u64)) -> Result<Option<u64>, ReadFault> {
        self.families.forget();
        let transaction = self.connection.unchecked_transaction()?;
        if last_epoch(&transaction)? != Some(self.epoch) {
            return Ok(None);
        }
        schema::recreate_projections(&transaction)?;
        let entries = refold::fold_log(&transaction, progress)?;
        transaction.commit()?;
        Ok(Some(entries))
    }

    fn transact(
        &mut self,
        write: impl FnOnce(&mut Self) -> Result<AppendOutcomes, GroupError>,
    ) -> Result<AppendOutcomes, GroupError> {
        let before = (self.chain, self.epoch, self.heads);
        let begin = self.connection.prepare_cached("BEGIN IMMEDIATE");
        let begun = begin.and_then(|mut begin| begin.execute([])).map_err(GroupError::Store);
        begun.and_then(|_| write(self)).inspect(|_| self.tree.settle()).inspect_err(|_| {
            (self.chain, self.epoch, self.heads) = before;
            self.tree.rollback();
            self.families.forget();
            self.statics.clear();
            if !self.connection.is_autocommit() {
                // A rollback that fails leaves a handle that is given up anyway.
                drop(self.connection.execute_batch("ROLLBACK"));
            }
        })
    }

    fn write(
        &mut self,
        group: &[&PreparedAppend],
        newest: Epoch,
        riding: Option<&SignedHead>,
    ) -> Result<AppendOutcomes, GroupError> {
        let rows_before = self.connection.total_changes();
        let first = self.chain.next_seq;
        if rows::newest_epoch(&self.connection)? != newest {
            return Err(GroupError::Fenced);
        }
        let mut bytes = 0;
        let mut outcomes = AppendOutcomes::with_capacity(group.len());
        for append in group {
            outcomes.push(match guards::check(&self.connection, &mut self.families, append)? {
                Ok(()) => self.append(append, &mut bytes)?,
                Err(refused) => Err(refused),
            });
        }
        let end = if self.chain.next_seq == first { "ROLLBACK" } else { "COMMIT" };
        if self.chain.next_seq != first {
            tree::write_frontier(&self.connection, self.tree.frontier())?;
            riding.map_or(Ok(()), |signed| self.heads.store(&self.connection, signed))?;
        }
        self.connection.prepare_cached(end)?.execute([])?;
        if self.chain.next_seq != first {
            WriterCounters::set(&self.counters.entries, self.chain.next_seq.0);
            WriterCounters::set(&self.counters.epoch, u64::from(self.epoch.0));
            WriterCounters::add(&self.counters.commits, 1);
            WriterCounters::add(&self.counters.rows, self.connection.total_changes() - rows_before);
            WriterCounters::add(&self.counters.bytes, bytes);
        }
        Ok(outcomes)
    }

    fn append(
        &mut self,
        append: &PreparedAppend,
        bytes: &mut u64,
    ) -> rusqlite::Result<Result<CommitReceipt, AppendError>> {
        let wrong = |text: &&StaticText| {
            !self.statics.contains(&text.sha256) && sha256(text.body.as_bytes()) != text.sha256
        };
        if append.statics.iter().any(|text| wrong(&text)) {
            return Ok(Err(invalid("a static text does not have its digest")));
        }
        let first_seq = self.chain.next_seq;
        for text in &append.statics {
            self.insert_static(text)?;
        }
        for entry in &append.entries {
            *bytes += self.insert_entry(entry)?;
        }
        self.families.flush(&mut SqliteRows::new(&self.connection)).map_err(sql_error)?;
        if erase::take_out_named(&self.connection, &mut self.families, &append.entries)? == TakenOut::Content
        {
            self.families.forget();
        }
        Ok(Ok(CommitReceipt { first_seq }))
    }

    fn insert_static(&mut self, text: &StaticText) -> rusqlite::Result<()> {
        if self.statics.contains(&text.sha256) {
            return Ok(());
        }
        let sql = "INSERT INTO static(hash, body) SELECT ?1, ?2
            WHERE NOT EXISTS (SELECT 1 FROM static WHERE hash = ?1)";
        self.connection.prepare_cached(sql)?.execute(params![text.sha256, &*text.body])?;
        if self.statics.len() >= STATICS_REMEMBERED_MAX {
            self.statics.clear();
        }
        self.statics.insert(text.sha256);
        Ok(())
    }

    fn insert_entry(&mut self, entry: &PreparedEntry) -> rusqlite::Result<u64> {
        let seq = self.chain.next_seq;
        self.turn_over(&entry.event);
        let envelope = Envelope {
            redaction: entry.redaction,
            kind: entry.kind,
            epoch: self.epoch,
            seq,
            time: entry.time,
            log_id: self.chain.log_id,
            principal: entry.principal,
            session: entry.session,
            run: entry.run,
            redaction_ruleset: entry.redaction_ruleset,
            prev: self.chain.head,
            commitment: entry.payload.as_ref().map(|payload| payload.commitment),
            facts: entry.facts.clone(),
        };
        let encoded = envelope.encode().expect("an append is checked against every rule of envelopes");
        let sql = "INSERT INTO entry(seq, envelope, run_id, tape_seq, kind) VALUES (?1, ?2, ?3, ?4, ?5)";
        let run = entry.run.map(|(run, _)| run.to_bytes());
        let tape_seq = entry.run.map(|(_, at)| at.0);
        let mut insert = self.connection.prepare_cached(sql)?;
        insert.execute(params![seq_to_sql(seq), encoded, run, tape_seq, entry.kind])?;
        drop(insert);
        let log_id = self.chain.log_id;
        let content = contents::insert(&self.connection, self.sealer.as_mut(), log_id, seq, entry)?;
        let folded = FoldedEntry {
            seq,
            kind: entry.kind,
            time: entry.time,
            principal: entry.principal,
            session: entry.session,
            run: entry.run,
            event: &entry.event,
        };
        self.families.fold(&mut SqliteRows::new(&self.connection), &folded).map_err(sql_error)?;
        let leaf = leaf_hash(&encoded);
        for tile in self.tree.push(leaf) {
            tree::insert_tile(&self.connection, &tile)?;
        }
        self.chain = Chain { next_seq: seq.next(), head: leaf, ..self.chain };
        Ok(encoded.len() as u64 + content)
    }

    /// An entry that begins an epoch or a log belongs to it already.
    fn turn_over(&mut self, event: &JournalEvent) {
        if let JournalEvent::Log(LogEvent::EpochStarted { epoch, .. }) = event {
            self.epoch = *epoch;
        }
        if let JournalEvent::Log(LogEvent::Reopened { log_id, .. }) = event {
            self.chain.log_id = *log_id;
        }
    }
}

/// Returns the epoch of the log's last entry.
fn last_epoch(connection: &Connection) -> rusqlite::Result<Option<Epoch>> {
    let last = "SELECT envelope FROM entry ORDER BY seq DESC LIMIT 1";
    let envelope: Option<Vec<u8>> = connection.query_row(last, [], |row| row.get(0)).optional()?;
    Ok(envelope.and_then(|envelope| Envelope::decode(&envelope).ok()).map(|envelope| envelope.epoch))
}
