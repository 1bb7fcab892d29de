//! What leaves the tables in the commit of an `Erased` entry: payloads, files, and every column derived from them.
//!
//! Invariant: what is left equals a fold over the log without these payloads.

use palyra_types::Seq;
use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::proof::SeqRange;
use rusqlite::Connection;
use rusqlite::types::Value;

use super::find::bounds;
use super::ranges::{hold, joined};
use crate::entry::PreparedEntry;
use crate::sql::seq_from_sql;

/// A column that holds content, beside the seq of the entry that it comes from.
struct Derived {
    table: &'static str,
    /// What names a row.
    key: &'static str,
    /// The column with the entry's seq.
    source: &'static str,
    /// Empties the column as a fold without payload leaves it.
    emptied: &'static str,
}

/// Every column that the schema marks as content.
const DERIVED: &[Derived] = &[
    Derived { table: "principal", key: "principal", source: "seq", emptied: "name = ''" },
    Derived { table: "token", key: "token", source: "seq", emptied: "label = ''" },
    Derived { table: "agent", key: "agent", source: "seq", emptied: "profile = x''" },
    Derived { table: "session", key: "seq", source: "seq", emptied: "key = NULL" },
    Derived { table: "session", key: "seq", source: "label_seq", emptied: "label = NULL" },
    Derived { table: "run", key: "seq", source: "seq", emptied: "input_preview = ''" },
    Derived { table: "effect", key: "seq", source: "seq", emptied: "tool = ''" },
];

/// What an append's `Erased` entries took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TakenOut {
    /// There were none.
    Nothing,
    /// Rows have changed beneath whoever remembers them.
    Content,
}

/// Takes out what the `Erased` entries among these name; the caller holds their transaction.
pub(crate) fn take_out_named(
    connection: &Connection,
    entries: &[PreparedEntry],
) -> rusqlite::Result<TakenOut> {
    let mut taken = TakenOut::Nothing;
    for entry in entries {
        if let JournalEvent::Log(LogEvent::Erased { ranges, .. }) = &entry.event {
            take_out(connection, &joined(ranges.clone()))?;
            taken = TakenOut::Content;
        }
    }
    Ok(taken)
}

fn take_out(connection: &Connection, ranges: &[SeqRange]) -> rusqlite::Result<()> {
    for table in ["payload", "chunk"] {
        let mut delete =
            connection.prepare_cached(&format!("DELETE FROM {table} WHERE seq BETWEEN ?1 AND ?2"))?;
        for range in ranges {
            delete.execute(bounds(*range))?;
        }
    }
    DERIVED.iter().try_for_each(|derived| empty(connection, derived, ranges))
}

/// Empties a column where its source is in a range: one look at the table, however many ranges there are.
fn empty(connection: &Connection, derived: &Derived, ranges: &[SeqRange]) -> rusqlite::Result<()> {
    let (Some(first), Some(last)) = (ranges.first(), ranges.last()) else { return Ok(()) };
    let Derived { table, key, source, emptied } = derived;
    let sql = format!("SELECT {key}, {source} FROM {table} WHERE {source} BETWEEN ?1 AND ?2");
    let mut rows = connection.prepare_cached(&sql)?;
    let all = bounds(SeqRange { first: first.first, last: last.last });
    let found = rows.query_map(all, |row| Ok((row.get::<_, Value>(0)?, seq_from_sql(row.get(1)?))))?;
    let found = found.collect::<rusqlite::Result<Vec<(Value, Seq)>>>()?;
    let mut update = connection.prepare_cached(&format!("UPDATE {table} SET {emptied} WHERE {key} = ?1"))?;
    for (name, _) in found.into_iter().filter(|(_, seq)| hold(ranges, *seq)) {
        update.execute([name])?;
    }
    Ok(())
}
