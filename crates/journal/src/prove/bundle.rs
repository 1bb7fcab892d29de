//! What proves one run: its entries with their content, and the way from each to a signed head.
//!
//! Format: docs/journal-format.md, section 7.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use palyra_ledger::tree::{Tiled, inclusion_proof};
use palyra_ledger::{CheckpointNote, Envelope};
use palyra_ports::{ExportPart, ExportSink};
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::{SeqRange, SignedCheckpoint};
use palyra_types::{RunId, Seq};
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::{Value, json};

use super::fault::ProveFault;
use crate::blob::{BLOB_CHUNKS, chunks_sql};
use crate::fault::EntryFault;
use crate::seal::unseal_column;
use crate::sign::begun_in_format_1;
use crate::sql::{seq_from_sql, seq_to_sql, u64_to_sql};
use crate::tree::StoredTiles;
use palyra_journal_core::codec;
use palyra_types::event::kind::{EventKind, KindPlace};

/// Entries of one bundle, at most.
const BUNDLE_ENTRIES_MAX: usize = 1_000_000;

/// Writes what proves a run below a head.
pub(crate) fn export_run(
    connection: &Connection,
    run: RunId,
    head: &SignedCheckpoint,
    sink: &ExportSink,
) -> Result<(), ProveFault> {
    let snapshot = connection.unchecked_transaction()?;
    let size = head.head.size;
    let entries = super::proofs::entries(&snapshot)?;
    if size > entries {
        return Err(ProveFault::OutOfRange { entries });
    }
    let erasures = erasures(&snapshot, size)?;
    let seqs = chosen(&snapshot, run, size, &erasures)?;
    let bundle = BundleWriter { connection: &snapshot, sink };
    bundle.give("checkpoint", head.note.as_bytes().to_vec())?;
    bundle.give("handovers", handovers(&snapshot, size)?)?;
    for seq in &seqs {
        let line = bundle.entry(*seq, covering(&erasures, *seq))?;
        bundle.line("entries.jsonl", &line)?;
    }
    let mut tree = Tiled::new(StoredTiles(&snapshot), size);
    for seq in &seqs {
        let hashes = inclusion_proof(seq.0, size, |subtree| tree.hash(subtree))
            .map_err(|error| ProveFault::of_proof(error, entries))?;
        let hashes: Vec<String> = hashes.iter().map(|hash| BASE64.encode(hash.0)).collect();
        bundle.line("proofs.jsonl", &json!({ "seq": seq.0, "hashes": hashes }))?;
    }
    Ok(())
}

/// Returns the erasures below a size, by the entry that records each.
fn erasures(connection: &Connection, size: u64) -> Result<BTreeMap<Seq, Vec<SeqRange>>, ProveFault> {
    let mut found = BTreeMap::new();
    for (seq, envelope) in of_kinds(connection, &[EventKind::Erased], size)? {
        let event = codec::decode(envelope.kind, KindPlace::Log, &envelope.facts, &[])
            .map_err(|_| EntryFault::Facts.at(seq))?;
        if let JournalEvent::Log(LogEvent::Erased { ranges, .. }) = event {
            found.insert(seq, ranges);
        }
    }
    Ok(found)
}

fn covering(erasures: &BTreeMap<Seq, Vec<SeqRange>>, seq: Seq) -> Option<Seq> {
    let covers = |ranges: &Vec<SeqRange>| ranges.iter().any(|range| range.holds(seq));
    erasures.iter().find(|(_, ranges)| covers(ranges)).map(|(by, _)| *by)
}

/// Returns the entries of a bundle: the run's, those that a verifier needs, and the erasures that explain gaps.
fn chosen(
    connection: &Connection,
    run: RunId,
    size: u64,
    erasures: &BTreeMap<Seq, Vec<SeqRange>>,
) -> Result<BTreeSet<Seq>, ProveFault> {
    let sql = "SELECT seq FROM entry WHERE run_id = ?1 AND seq < ?2 ORDER BY tape_seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let limit = i64::try_from(BUNDLE_ENTRIES_MAX).unwrap_or(i64::MAX);
    let rows = statement.query_map((run.to_bytes(), u64_to_sql(size), limit), |row| row.get::<_, i64>(0))?;
    let mut seqs = rows.map(|seq| seq.map(seq_from_sql)).collect::<rusqlite::Result<BTreeSet<_>>>()?;
    if seqs.is_empty() {
        return Err(ProveFault::NoSuchRun);
    }
    let explained: Vec<Seq> = seqs.iter().filter_map(|seq| covering(erasures, *seq)).collect();
    seqs.extend(explained);
    let frame = [EventKind::LogOpened, EventKind::EpochStarted, EventKind::LogReopened];
    seqs.extend(of_kinds(connection, &frame, size)?.into_iter().map(|(seq, _)| seq));
    Ok(seqs)
}

/// Returns entries of some kinds below a size; there are few of these kinds.
fn of_kinds(
    connection: &Connection,
    kinds: &[EventKind],
    size: u64,
) -> Result<Vec<(Seq, Envelope)>, ProveFault> {
    let mut found = Vec::new();
    for kind in kinds {
        let sql = "SELECT seq, envelope FROM entry WHERE kind = ?1 AND seq < ?2 ORDER BY seq";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query((kind.number(), u64_to_sql(size)))?;
        while let Some(row) = rows.next()? {
            let seq = seq_from_sql(row.get(0)?);
            let envelope = Envelope::decode(row.get_ref(1)?.as_blob()?);
            found.push((seq, envelope.map_err(|_| EntryFault::Envelope.at(seq))?));
        }
    }
    Ok(found)
}

/// Returns every stored head that vouches for keys, ascending: handovers, and the first of a log of format 1.
fn handovers(connection: &Connection, size: u64) -> Result<Vec<u8>, ProveFault> {
    let sql = "SELECT note FROM checkpoint WHERE size <= ?1 ORDER BY size";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([u64_to_sql(size)])?;
    let mut notes = Vec::new();
    let mut unsigned_before = begun_in_format_1(connection)?;
    while let Some(row) = rows.next()? {
        let note = row.get_ref(0)?.as_str()?;
        let Ok(read) = CheckpointNote::parse(note.as_bytes()) else { continue };
        let vouches_for_all_before = unsigned_before.take() == Some(read.checkpoint().log_id);
        if read.note().signatures().len() > 1 || vouches_for_all_before {
            notes.extend_from_slice(note.as_bytes());
            notes.push(b'\n');
        }
    }
    Ok(notes)
}

struct BundleWriter<'c> {
    connection: &'c Connection,
    sink: &'c ExportSink,
}

impl BundleWriter<'_> {
    fn entry(&self, seq: Seq, erased_by: Option<Seq>) -> Result<Value, ProveFault> {
        let sql = "SELECT envelope FROM entry WHERE seq = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let envelope: Vec<u8> = statement.query_row([seq_to_sql(seq)], |row| row.get(0))?;
        let payload = self.payload(seq)?.map(|payload| BASE64.encode(payload));
        Ok(json!({
            "seq": seq.0,
            "envelope": BASE64.encode(envelope),
            "erased_by": if payload.is_none() { erased_by.map(|seq| seq.0) } else { None },
            "payload": payload,
            "files": self.files(seq)?,
        }))
    }

    /// Returns salt and payload, opened where they lie sealed.
    fn payload(&self, seq: Seq) -> Result<Option<Vec<u8>>, ProveFault> {
        const SALT_BYTES: usize = crate::entry::SALT_BYTES;
        let sql = format!(
            "SELECT {} FROM payload p JOIN entry e ON e.seq = p.seq WHERE p.seq = ?1",
            unseal_column("p", "-1")
        );
        let read = |row: &Row<'_>| row.get::<_, Option<Vec<u8>>>(0);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let Some(content) = statement.query_row([seq_to_sql(seq)], read).optional()? else { return Ok(None) };
        let mut content = content.ok_or(ProveFault::Sealed { seq: seq.0 })?;
        if content.len() == SALT_BYTES {
            for (_, part) in self.chunks(seq, 0, BLOB_CHUNKS)? {
                content.extend_from_slice(&part);
            }
        }
        Ok(Some(content))
    }

    fn files(&self, seq: Seq) -> Result<Vec<Value>, ProveFault> {
        let chunks = self.chunks(seq, BLOB_CHUNKS, i64::MAX)?;
        Ok(chunks.into_iter().map(|(n, part)| json!({ "n": n, "base64": BASE64.encode(part) })).collect())
    }

    fn chunks(&self, seq: Seq, from: i64, below: i64) -> Result<Vec<(i64, Vec<u8>)>, ProveFault> {
        let sql = chunks_sql("c.n >= ?2 AND c.n < ?3");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query((seq_to_sql(seq), from, below))?;
        let mut chunks = Vec::new();
        while let Some(row) = rows.next()? {
            let part: Option<Vec<u8>> = row.get(0)?;
            chunks.push((row.get(1)?, part.ok_or(ProveFault::Sealed { seq: seq.0 })?));
        }
        Ok(chunks)
    }

    fn line(&self, path: &'static str, value: &Value) -> Result<(), ProveFault> {
        let mut line = value.to_string();
        line.push('\n');
        self.give(path, line.into_bytes())
    }

    fn give(&self, path: &'static str, data: Vec<u8>) -> Result<(), ProveFault> {
        if (self.sink)(ExportPart { path: Arc::from(path), data }) {
            Ok(())
        } else {
            Err(ProveFault::Abandoned)
        }
    }
}
