//! Verifying the log: every entry, in order, from what is stored alone.
//!
//! Recomputes leaves, chain, numbering and commitments, compares columns with envelopes, checks that epochs
//! rise and tapes are dense; then tree and signed heads against the entries. Invariant: the fault reported is the first one in the order of the log.

use std::collections::{BTreeMap, BTreeSet};

use palyra_ledger::{Chain, ChainFault, Envelope, LeafHash, LogOrigin, leaf_hash, log_origin, sha256};
use palyra_ports::VerifyReport;
use palyra_ports::maintain_journal::ProgressCallback;
use palyra_types::event::{EpochSealing, JournalEvent, LogEvent, ModelEvent, TapeEvent};
use palyra_types::tape::ContentState;
use palyra_types::{Epoch, Seq};
use rusqlite::{Connection, OptionalExtension};

use crate::blob::{self, BLOB_CHUNKS};
use crate::connection;
use crate::entry::{SELECT_ENTRIES, StoredEntry};
use crate::erase::{ErasedCover, names_earlier_only};
use crate::fault::{EntryFault, ReadFault};
use crate::schema;
use crate::sql::{seq_from_sql, seq_to_sql};
use palyra_types::event::kind::EventKind;

use proofs::Proofs;

mod proofs;

/// Entries between two reports of progress.
const PROGRESS_EVERY_ENTRIES: u64 = 4_096;

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerifyScope {
    /// Entries and their content.
    Log,
    /// Also tree and signed heads.
    Everything,
}

/// Checks the whole log in one read transaction.
pub(crate) fn verify(
    connection: &Connection,
    scope: VerifyScope,
    progress: &ProgressCallback,
) -> Result<VerifyReport, ReadFault> {
    let snapshot = connection.unchecked_transaction()?;
    let mut checks = LogChecks::default();
    let walked = walk(&snapshot, progress, &mut checks);
    let in_order = fault_of(walked)?;
    let by_table = match by_table(&snapshot, &checks) {
        // The walk has named the first bad entry; what else is damaged does not matter.
        Err(fault) if fault.is_damage() && in_order.is_some() => Vec::new(),
        found => found?,
    };
    let proofs = match scope {
        VerifyScope::Everything if in_order.is_none() => {
            let mut found = checks.proofs.faults(&snapshot)?;
            found.extend(wrong_shape(&snapshot)?);
            found.extend(wrong_static(&snapshot, &checks)?);
            found
        }
        VerifyScope::Everything | VerifyScope::Log => Vec::new(),
    };
    let (signed_heads, signed_entries) = checks.proofs.signed();
    let first = in_order.into_iter().chain(by_table).chain(proofs).min_by_key(|(seq, _)| *seq);
    Ok(VerifyReport {
        entries: checks.entries,
        head: checks.chain.map_or([0; 32], |chain| chain.head.0),
        fault: first.map(|(seq, fault)| (seq, fault.to_string())),
        signed_heads,
        signed_entries,
    })
}

type FirstFault = Option<(Seq, EntryFault)>;

/// Returns what only a look at whole tables shows.
fn by_table(connection: &Connection, checks: &LogChecks) -> Result<Vec<(Seq, EntryFault)>, ReadFault> {
    let found = [
        unowned_payload(connection)?,
        unowned_chunk(connection)?,
        unowned_blob(connection, &checks.with_blobs)?,
        checks.cover.first_fault(connection)?,
        sparse_tape(connection)?,
        changed_static(connection, &checks.statics)?,
    ];
    Ok(found.into_iter().flatten().collect())
}

fn fault_of(walked: Result<(), ReadFault>) -> Result<FirstFault, ReadFault> {
    match walked {
        Ok(()) => Ok(None),
        Err(ReadFault::Entry { seq, fault }) => Ok(Some((seq, fault))),
        Err(fault @ ReadFault::Store(_)) => Err(fault),
    }
}

/// What has been seen so far.
#[derive(Default)]
struct LogChecks {
    entries: u64,
    chain: Option<Chain>,
    epoch: Option<Epoch>,
    /// What the epoch says of its payloads.
    sealing: Option<EpochSealing>,
    /// Digests of static texts with the first entry that names each; there are few.
    statics: BTreeMap<[u8; 32], Seq>,
    /// Entries that brought files along.
    with_blobs: BTreeSet<Seq>,
    cover: ErasedCover,
    proofs: Proofs,
}

fn walk(
    connection: &Connection,
    progress: &ProgressCallback,
    checks: &mut LogChecks,
) -> Result<(), ReadFault> {
    let counted = "SELECT coalesce(max(seq) + 1, 0) FROM entry";
    let total: i64 = match connection.query_row(counted, [], |row| row.get(0)) {
        // Where the end cannot be read, the walk will say so.
        Err(error) if connection::is_damage(&error) => 0,
        total => total?,
    };
    let total = total.cast_unsigned();
    let sql = format!("{SELECT_ENTRIES} ORDER BY e.seq");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    loop {
        let due = checks.chain.map_or(Seq(0), |chain| chain.next_seq);
        let Some(row) = rows.next().map_err(|error| ReadFault::from(error).located(due))? else { break };
        let entry = StoredEntry::read(connection, row).map_err(|fault| fault.located(due))?;
        if let Err(fault) = checks.admit(connection, &entry) {
            drop(rows);
            return Err(name_culprit(connection, fault, &entry)?);
        }
        checks.entries += 1;
        if checks.entries.is_multiple_of(PROGRESS_EVERY_ENTRIES) {
            progress(checks.entries, total);
        }
    }
    progress(checks.entries, total);
    Ok(())
}

/// An entry that names another predecessor than it has: if its successor vouches for it, the predecessor was
/// changed.
fn name_culprit(
    connection: &Connection,
    fault: ReadFault,
    entry: &StoredEntry,
) -> rusqlite::Result<ReadFault> {
    let seq = entry.envelope.seq;
    let (ReadFault::Entry { fault: EntryFault::Chain, .. }, true) = (&fault, seq > Seq(0)) else {
        return Ok(fault);
    };
    let sql = "SELECT envelope FROM entry WHERE seq = ?1";
    let next: Option<Vec<u8>> =
        connection.query_row(sql, [seq_to_sql(seq.next())], |row| row.get(0)).optional()?;
    let vouched = next
        .and_then(|bytes| Envelope::decode(&bytes).ok())
        .is_some_and(|next| next.prev == leaf_hash(&entry.encoded));
    Ok(if vouched { EntryFault::Leaf.at(Seq(seq.0 - 1)) } else { fault })
}

impl LogChecks {
    fn admit(&mut self, connection: &Connection, entry: &StoredEntry) -> Result<(), ReadFault> {
        let envelope = &entry.envelope;
        let seq = envelope.seq;
        let leaf = self.admit_chain(entry)?;
        if entry.is_sealed && self.sealing == Some(EpochSealing::Off) {
            return Err(EntryFault::SealedInClear.at(seq));
        }
        if entry.content == ContentState::Erased {
            self.cover.miss(seq);
        }
        let event = entry.event()?;
        if !names_earlier_only(seq, &event) {
            return Err(EntryFault::Facts.at(seq));
        }
        if !blob::verify(connection, seq, &event)? {
            return Err(EntryFault::Payload.at(seq));
        }
        if blob::has_blobs(&event) {
            self.with_blobs.insert(seq);
        }
        if let JournalEvent::Tape(TapeEvent::Model(ModelEvent::Requested(requested))) = &event {
            for digest in [requested.context.instructions_digest, requested.context.catalog_digest] {
                self.statics.entry(digest).or_insert(seq);
            }
        }
        self.admit_epoch(entry, &event)?;
        self.proofs.admit(connection, seq, leaf, &event)
    }

    fn admit_chain(&mut self, entry: &StoredEntry) -> Result<LeafHash, ReadFault> {
        let envelope = &entry.envelope;
        let seq = envelope.seq;
        let chain = self.chain.get_or_insert_with(|| Chain::begin(envelope.log_id));
        if envelope.kind == EventKind::LogReopened.number() && chain.next_seq == seq {
            // Whether the entry says so too, and may, is looked at with its facts.
            chain.log_id = envelope.log_id;
        }
        chain.admit(envelope, &entry.encoded).map_err(|fault| match fault {
            ChainFault::Seq => EntryFault::Numbering.at(chain.next_seq.min(seq)),
            ChainFault::Prev => EntryFault::Chain.at(seq),
            ChainFault::Log => EntryFault::Log.at(seq),
        })
    }

    fn admit_epoch(&mut self, entry: &StoredEntry, event: &JournalEvent) -> Result<(), ReadFault> {
        let envelope = &entry.envelope;
        let seq = envelope.seq;
        match event {
            JournalEvent::Log(LogEvent::Opened { log_id: named, nonce, first_key }) => {
                let follows = log_origin(*named, first_key, nonce).is_some();
                if seq != Seq(0) || !follows || envelope.log_id != *named {
                    return Err(EntryFault::Log.at(seq));
                }
                Ok(())
            }
            _ if seq == Seq(0) => Err(EntryFault::Log.at(seq)),
            JournalEvent::Log(LogEvent::Reopened { log_id: named, nonce, key, .. }) => {
                if log_origin(*named, key, nonce) != Some(LogOrigin::Format2) || envelope.log_id != *named {
                    return Err(EntryFault::Log.at(seq));
                }
                // It belongs to the epoch whose beginning follows it.
                let rises = self.epoch.is_some_and(|before| before < envelope.epoch);
                if rises { Ok(()) } else { Err(EntryFault::Epoch.at(seq)) }
            }
            JournalEvent::Log(LogEvent::EpochStarted { epoch, sealing, .. }) => {
                let rises = self.epoch.is_none_or(|before| before < *epoch);
                if !rises || envelope.epoch != *epoch {
                    return Err(EntryFault::Epoch.at(seq));
                }
                (self.epoch, self.sealing) = (Some(*epoch), *sealing);
                Ok(())
            }
            _ if self.epoch != Some(envelope.epoch) => Err(EntryFault::Epoch.at(seq)),
            _ => Ok(()),
        }
    }
}

fn unowned_payload(connection: &Connection) -> rusqlite::Result<FirstFault> {
    let sql = "SELECT p.seq FROM payload p WHERE NOT EXISTS (SELECT 1 FROM entry e WHERE e.seq = p.seq)
        ORDER BY p.seq LIMIT 1";
    first_seq(connection, sql, EntryFault::PayloadUnowned)
}

fn unowned_chunk(connection: &Connection) -> rusqlite::Result<FirstFault> {
    let sql = "SELECT c.seq FROM chunk c WHERE NOT EXISTS
            (SELECT 1 FROM payload p WHERE p.seq = c.seq
                AND (c.n >= 1048576 OR length(p.sealed) = CASE p.key_id WHEN 0 THEN 32 ELSE 60 END))
        ORDER BY c.seq LIMIT 1";
    first_seq(connection, sql, EntryFault::PayloadUnowned)
}

fn unowned_blob(connection: &Connection, owners: &BTreeSet<Seq>) -> rusqlite::Result<FirstFault> {
    let mut statement = connection.prepare("SELECT DISTINCT seq FROM chunk WHERE n >= ?1 ORDER BY seq")?;
    let seqs = statement.query_map([BLOB_CHUNKS], |row| row.get::<_, i64>(0))?;
    for seq in seqs {
        let seq = seq_from_sql(seq?);
        if !owners.contains(&seq) {
            return Ok(Some((seq, EntryFault::PayloadUnowned)));
        }
    }
    Ok(None)
}

fn first_seq(connection: &Connection, sql: &str, fault: EntryFault) -> rusqlite::Result<FirstFault> {
    let seq: Option<i64> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    Ok(seq.map(|seq| (seq_from_sql(seq), fault)))
}

/// Finds the first entry that names a static text whose body is another one now.
fn changed_static(connection: &Connection, named: &BTreeMap<[u8; 32], Seq>) -> rusqlite::Result<FirstFault> {
    let mut statement = connection.prepare("SELECT body FROM static WHERE hash = ?1")?;
    let mut found: FirstFault = None;
    for (digest, seq) in named {
        let body: Option<String> = statement.query_row([digest], |row| row.get(0)).optional()?;
        let changed = body.is_some_and(|body| sha256(body.as_bytes()) != *digest);
        if changed && found.is_none_or(|(first, _)| *seq < first) {
            found = Some((*seq, EntryFault::Static));
        }
    }
    Ok(found)
}

/// Compares what the file says of itself, and the columns of its tables, with those of the format.
fn wrong_shape(connection: &Connection) -> rusqlite::Result<FirstFault> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
    let stamped =
        number("application_id")? == schema::APPLICATION_ID && number("user_version")? == schema::FORMAT;
    let fresh = Connection::open_in_memory()?;
    schema::create(&fresh)?;
    let mut same = stamped;
    for table in schema::LOG_TABLES.iter().chain(schema::PROOF_TABLES) {
        same = same && columns(connection, table)? == columns(&fresh, table)?;
    }
    Ok((!same).then_some((Seq(0), EntryFault::Shape)))
}

type TableColumn = (String, String, i64, i64, i64);

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<TableColumn>> {
    let sql = "SELECT name, type, \"notnull\", pk, hidden FROM pragma_table_xinfo(?1)";
    let mut statement = connection.prepare(sql)?;
    let read =
        |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    statement.query_map([table], read)?.collect()
}

/// Finds a static text that does not have its digest, whether or not an entry names it.
fn wrong_static(connection: &Connection, checks: &LogChecks) -> rusqlite::Result<FirstFault> {
    let mut statement = connection.prepare("SELECT hash, CAST(body AS BLOB) FROM static")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (hash, body) = (row.get_ref(0)?.as_bytes()?, row.get_ref(1)?.as_bytes()?);
        if hash != sha256(body) {
            let named = <[u8; 32]>::try_from(hash).ok().and_then(|hash| checks.statics.get(&hash).copied());
            let last = Seq(checks.entries.saturating_sub(1));
            return Ok(Some((named.unwrap_or(last), EntryFault::Static)));
        }
    }
    Ok(None)
}

/// Finds the first entry whose tape number is not the one after its predecessor's, or lies before it.
fn sparse_tape(connection: &Connection) -> Result<FirstFault, ReadFault> {
    let sql = "SELECT run_id, tape_seq, seq FROM entry WHERE run_id IS NOT NULL ORDER BY run_id, tape_seq";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut before: Option<(Vec<u8>, i64, i64)> = None;
    let mut found: Option<i64> = None;
    while let Some(row) = rows.next()? {
        let here: (Vec<u8>, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let dense = match &before {
            Some((run, tape_seq, seq)) if *run == here.0 => here.1 == tape_seq + 1 && here.2 > *seq,
            _ => here.1 == 1,
        };
        if !dense {
            found = Some(found.map_or(here.2, |seq| seq.min(here.2)));
        }
        before = Some(here);
    }
    Ok(found.map(|seq| (seq_from_sql(seq), EntryFault::Tape)))
}
