//! Tapes and raw entries, page by page.

use palyra_journal_core::families::runs;
use palyra_ports::TapePage;
use palyra_ports::read_tape::{MAX_TAPE_ENTRIES_PER_RESPONSE, MoreEntries, TAPE_PAGE_BYTES_MAX};
use palyra_types::session::SessionRef;
use palyra_types::tape::{JournalEventRecord, OrchestratorTapeRecord};
use palyra_types::{RunId, Seq, TapeSeq};
use rusqlite::Connection;

use crate::entry::{SELECT_ENTRIES, StoredEntry};
use crate::fault::{EntryFault, ReadFault};
use crate::rows::{SqliteRows, sql_error};
use crate::sql::{count_to_sql, seq_from_sql, seq_to_sql};

/// Entries of one page of the raw journal, at most.
const ENTRIES_PAGE_MAX: usize = 1_000;

/// Collects a page up to its limits.
struct PageBuilder {
    entries: Vec<OrchestratorTapeRecord>,
    entries_max: usize,
    bytes: usize,
}

impl PageBuilder {
    fn new(limit: usize) -> Self {
        let entries_max = limit.clamp(1, MAX_TAPE_ENTRIES_PER_RESPONSE);
        Self { entries: Vec::new(), entries_max, bytes: 0 }
    }

    /// Takes an entry unless the page is full.
    fn take(&mut self, entry: StoredEntry) -> Result<MoreEntries, ReadFault> {
        let bytes = self.bytes.saturating_add(entry.payload.len());
        let full = self.entries.len() >= self.entries_max
            || (!self.entries.is_empty() && bytes > TAPE_PAGE_BYTES_MAX);
        if full {
            return Ok(MoreEntries::Some);
        }
        self.bytes = bytes;
        self.entries.push(entry.into_tape_record()?);
        Ok(MoreEntries::None)
    }
}

/// Reads a page of a run's tape.
pub(crate) fn tape(
    connection: &Connection,
    run: RunId,
    after: TapeSeq,
    limit: usize,
) -> Result<TapePage, ReadFault> {
    let sql = format!("{SELECT_ENTRIES} WHERE e.run_id = ?1 AND e.tape_seq > ?2 ORDER BY e.tape_seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((run.to_bytes(), after.0))?;
    let mut page = PageBuilder::new(limit);
    let mut last = after;
    while let Some(row) = rows.next()? {
        let entry = StoredEntry::read(connection, row)?;
        let expected = last.next();
        if entry.envelope.run != Some((run, expected)) {
            return Err(EntryFault::Tape.at(entry.envelope.seq));
        }
        if page.take(entry)? == MoreEntries::Some {
            return Ok(TapePage { entries: page.entries, more: MoreEntries::Some });
        }
        last = expected;
    }
    Ok(TapePage { entries: page.entries, more: MoreEntries::None })
}

/// Reads a page of the tape entries of a session's runs, in the journal's order.
pub(crate) fn session_tape(
    connection: &Connection,
    session: SessionRef,
    after: Option<Seq>,
    limit: usize,
) -> Result<TapePage, ReadFault> {
    let mut page = PageBuilder::new(limit);
    let sql = format!("{SELECT_ENTRIES} WHERE e.seq = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    for seq in session_seqs(connection, session, after, page.entries_max + 1)? {
        let mut rows = statement.query([seq])?;
        let row = rows.next()?.ok_or_else(|| EntryFault::Numbering.at(seq_from_sql(seq)))?;
        if page.take(StoredEntry::read(connection, row)?)? == MoreEntries::Some {
            return Ok(TapePage { entries: page.entries, more: MoreEntries::Some });
        }
    }
    Ok(TapePage { entries: page.entries, more: MoreEntries::None })
}

/// Merges the numbers of the session's runs. Runs rarely overlap, so few are looked at beyond a page.
fn session_seqs(
    connection: &Connection,
    session: SessionRef,
    after: Option<Seq>,
    wanted: usize,
) -> rusqlite::Result<Vec<i64>> {
    let after = after.map_or(-1, seq_to_sql);
    let runs = runs::of_session(&mut SqliteRows::new(connection), session).map_err(sql_error)?;
    let runs = runs.into_iter().filter(|(_, last_seq)| seq_to_sql(*last_seq) > after);
    let sql = "SELECT seq FROM entry WHERE run_id = ?1 ORDER BY tape_seq";
    let mut entries = connection.prepare_cached(sql)?;
    let mut seqs: Vec<i64> = Vec::new();
    for (record, _) in runs {
        let (first, run) = (seq_to_sql(record.first_seq), record.run.to_bytes());
        if seqs.len() >= wanted {
            seqs.sort_unstable();
            seqs.truncate(wanted);
            if seqs.last().is_some_and(|last| *last < first) {
                break;
            }
        }
        for seq in entries.query_map([run], |row| row.get::<_, i64>(0))? {
            let seq = seq?;
            if seq > after {
                seqs.push(seq);
            }
        }
    }
    seqs.sort_unstable();
    seqs.truncate(wanted);
    Ok(seqs)
}

/// Reads raw entries from `from` on.
pub(crate) fn entries(
    connection: &Connection,
    from: Seq,
    limit: usize,
) -> Result<Vec<JournalEventRecord>, ReadFault> {
    let sql = format!("{SELECT_ENTRIES} WHERE e.seq >= ?1 ORDER BY e.seq LIMIT ?2");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query((seq_to_sql(from), count_to_sql(limit.clamp(1, ENTRIES_PAGE_MAX))))?;
    let mut records = Vec::new();
    let mut expected = from;
    while let Some(row) = rows.next()? {
        let entry = StoredEntry::read(connection, row)?;
        if entry.envelope.seq != expected {
            return Err(EntryFault::Numbering.at(expected));
        }
        records.push(entry.into_record()?);
        expected = expected.next();
    }
    Ok(records)
}
