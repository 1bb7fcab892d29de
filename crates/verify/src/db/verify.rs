//! The order of checks over one file.
//!
//! Owns what is read when, and putting the report together. Everything is read within one transaction.

use std::path::Path;

use rusqlite::{Connection, Statement};

use super::checkpoints::Checkpoints;
use super::contents::ContentTables;
use super::cursor::{Cursor, ReadTrouble};
use super::rows::{CHECKPOINTS, CheckpointRow, ENTRIES, EntryRow, HEADS_OF_ENTRIES, HeadRow, PAYLOADS};
use super::schema::{self, Schema};
use super::tapes::RowSum;
use super::tiles::{self, StoredTiles};
use super::walk::{LogWalk, WalkStep};
use super::{indexes, statics, tapes};
use crate::digest::IdGeneration;
use crate::erasure::ErasedRanges;
use crate::facts::{ERASED, ErasedFacts};
use crate::fault::{FaultCode, LogFault};
use crate::options::{ProgressFn, VerifyOptions};
use crate::read_only;
use crate::report::VerifyReport;

/// Entries between two words on progress.
const PROGRESS_ENTRIES: u64 = 16_384;

/// Verifies the journal in the file at `path`.
///
/// Whatever the file holds, the outcome is a report: what cannot be read is a fault of it.
pub fn verify_database(path: &Path, options: &mut VerifyOptions) -> VerifyReport {
    let verified = read_only::open(path).map_err(|error| error.to_string()).and_then(|database| {
        let connection = database.connection();
        let schema = schema::read(connection)?;
        read(connection, &schema, options).map_err(|ReadTrouble(what)| what)
    });
    verified.unwrap_or_else(|what| {
        let fault = LogFault { seq: None, code: FaultCode::Malformed, what };
        VerifyReport { fault: Some(fault), faults: 1, ..VerifyReport::default() }
    })
}

/// The statements of one walk.
struct WalkStatements<'c> {
    entries: Statement<'c>,
    payloads: Statement<'c>,
    chunks: Statement<'c>,
    checkpoints: Option<Statement<'c>>,
}

impl<'c> WalkStatements<'c> {
    fn prepare(connection: &'c Connection, schema: &Schema) -> rusqlite::Result<Self> {
        let chunks =
            format!("SELECT seq, n, sealed FROM chunk INDEXED BY \"{}\" ORDER BY seq, n", schema.by_part);
        let checkpoints = (schema.format > 1).then(|| connection.prepare(CHECKPOINTS)).transpose()?;
        Ok(Self {
            entries: connection.prepare(ENTRIES)?,
            payloads: connection.prepare(PAYLOADS)?,
            chunks: connection.prepare(&chunks)?,
            checkpoints,
        })
    }
}

fn read(
    connection: &Connection,
    schema: &Schema,
    options: &mut VerifyOptions,
) -> Result<VerifyReport, ReadTrouble> {
    let erasures = erasures(connection, options.progress.as_deref_mut())?;
    let stored_tiles = (schema.format > 1).then(|| StoredTiles::new(connection)).transpose()?;
    let mut statements = WalkStatements::prepare(connection, schema)?;
    let stored = statements.checkpoints.as_mut().map(|s| s.query([])).transpose()?;
    let checkpoints = Checkpoints {
        stored: stored.map(Cursor::<CheckpointRow>::new),
        trust: options.key.as_ref(),
        since: options.since.as_ref().map(|kept| &kept.0),
        since_root: None,
        newest: None,
    };
    let contents = ContentTables {
        payloads: Cursor::new(statements.payloads.query([])?),
        chunks: Cursor::new(statements.chunks.query([])?),
        keys: options.keys.as_mut(),
        erasures,
        unreadable: false,
        checked: 0,
        sealed: 0,
    };
    let mut walk = LogWalk::new(stored_tiles, checkpoints, contents);
    let entries = Cursor::new(statements.entries.query([])?);
    let table = walk_entries(entries, &mut walk, options.progress.as_deref_mut());
    let whole = table.is_some();
    if whole {
        finish(connection, schema, &mut walk);
    } else {
        walk.break_off();
    }
    tapes::check(connection, &schema.by_run, table, &mut walk.faults);
    indexes::check(connection, schema, &mut walk.faults);
    let statics = statics::check(connection, &mut walk.faults);
    Ok(report(walk, schema, statics, whole))
}

/// Reads which entries were erased, before the walk that needs to know.
fn erasures(
    connection: &Connection,
    mut progress: Option<&mut ProgressFn>,
) -> Result<ErasedRanges, ReadTrouble> {
    let mut erasures = ErasedRanges::default();
    let mut heads = connection.prepare(HEADS_OF_ENTRIES)?;
    let mut envelope = connection.prepare("SELECT substr(envelope, 163) FROM entry WHERE seq = ?1")?;
    let mut rows = Cursor::<HeadRow>::new(heads.query([])?);
    // What is out of order or cannot be read here ends the walk that follows too, which names it.
    while let Ok(Some(row)) = rows.next() {
        let Ok(seq) = u64::try_from(row.seq) else { break };
        if seq.is_multiple_of(PROGRESS_ENTRIES) {
            tell(&mut progress, "looking for erasures", seq);
        }
        if u16::from_be_bytes([row.head[2], row.head[3]]) != ERASED {
            continue;
        }
        let facts: Result<Vec<u8>, _> = envelope.query_row([row.seq], |row| row.get(0));
        if let Some(erased) = facts.ok().and_then(|facts| ErasedFacts::parse(&facts, seq)) {
            erasures
                .add(seq, &erased)
                .map_err(|_| ReadTrouble("it has more erased ranges than a verifier keeps".to_owned()))?;
        }
    }
    erasures.sort();
    Ok(erasures)
}

/// Walks over all entries; returns the sum over their rows, or `None` where it had to stop.
fn walk_entries(
    mut rows: Cursor<'_, EntryRow>,
    walk: &mut LogWalk<'_>,
    mut progress: Option<&mut ProgressFn>,
) -> Option<RowSum> {
    let mut sum = RowSum::new();
    loop {
        let seq = walk.expected();
        if seq.is_multiple_of(PROGRESS_ENTRIES) {
            tell(&mut progress, "verifying", seq);
        }
        match rows.next() {
            Ok(Some(row)) => {
                sum.add(row.seq, row.run.as_deref(), row.tape_seq);
                if walk.entry(&row) == WalkStep::Ended {
                    return None;
                }
            }
            Ok(None) => return Some(sum),
            Err(ReadTrouble(what)) => {
                walk.faults.add(seq, FaultCode::Malformed, || format!("entry {seq}: {what}"));
                return None;
            }
        }
    }
}

/// Checks what concerns the end of the log.
fn finish(connection: &Connection, schema: &Schema, walk: &mut LogWalk<'_>) {
    let stored = (schema.format > 1).then(|| tiles::frontier(connection));
    let frontier = match stored.transpose() {
        Ok(frontier) => frontier,
        Err(ReadTrouble(what)) => {
            walk.faults.add(None, FaultCode::Malformed, || format!("the frontier: {what}"));
            None
        }
    };
    let entries = walk.finish(frontier.as_ref()).size();
    if entries == 0 {
        walk.faults.add(0, FaultCode::Malformed, || "there is no entry, not even LogOpened".to_owned());
    }
    if schema.format > 1 {
        tiles::beyond(connection, entries, &mut walk.faults);
    } else if walk.lineage.log().is_some_and(|log| log.generation == IdGeneration::Second) {
        walk.faults.add(0, FaultCode::Malformed, || {
            "a log that began with checkpoints is in a file without them".to_owned()
        });
    }
    if let Some(seq) = walk.lineage.unsigned() {
        walk.faults
            .add(seq, FaultCode::Signature, || "runs began, and no head of the log is stored".to_owned());
    }
}

fn report(mut walk: LogWalk<'_>, schema: &Schema, statics: u64, whole: bool) -> VerifyReport {
    let entries = walk.tree().size();
    let mut report = VerifyReport {
        entries,
        root: walk.tree().root(),
        format: schema.format,
        statics,
        ..VerifyReport::default()
    };
    if whole {
        (report.signer, report.freshness) =
            walk.checkpoints.conclude(entries, &walk.lineage, &mut walk.faults);
    }
    report.newest = walk.checkpoints.newest;
    report.payloads_checked = walk.contents.checked;
    report.payloads_sealed = walk.contents.sealed;
    (report.erased, report.erased_count) = walk.contents.erasures.into_listed();
    report.log = walk.lineage.log().map(|log| log.name.clone());
    report.epochs = walk.lineage.epochs();
    report.reopened = walk.lineage.reopened;
    report.faults = walk.faults.count();
    report.fault = walk.faults.into_first();
    report
}

fn tell(progress: &mut Option<&mut ProgressFn>, what: &'static str, entries: u64) {
    if let Some(progress) = progress {
        progress(what, entries);
    }
}
