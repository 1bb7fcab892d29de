//! Kinds that the log holds, so that a start knows at once whether it meets one it cannot read.
//!
//! Owns the table `kind_seen`: one row per kind and place, written when the first such entry comes.

use palyra_types::Seq;
use rusqlite::{Connection, OptionalExtension, Row};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// A kind and where it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeenKind {
    pub(crate) number: u16,
    pub(crate) on_tape: i64,
}

/// The table `kind_seen`.
pub(crate) struct KindsSeen;

impl Family for KindsSeen {
    type Key = SeenKind;
    type Row = (SeenKind, Seq);

    fn load(connection: &Connection, key: &SeenKind) -> rusqlite::Result<Option<Self::Row>> {
        let sql = "SELECT kind, on_tape, seq FROM kind_seen WHERE kind = ?1 AND on_tape = ?2";
        let names = (key.number, key.on_tape);
        connection.prepare_cached(sql)?.query_row(names, read).optional()
    }

    fn store(connection: &Connection, (kind, seq): &Self::Row) -> rusqlite::Result<()> {
        let sql = "INSERT INTO kind_seen(kind, on_tape, seq) VALUES (?1, ?2, ?3)";
        let values = (kind.number, kind.on_tape, seq_to_sql(*seq));
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds the kind of an entry.
pub(super) fn seen(
    kinds: &mut Held<KindsSeen>,
    connection: &Connection,
    entry: &Folded<'_>,
) -> rusqlite::Result<()> {
    let kind = SeenKind { number: entry.kind, on_tape: i64::from(entry.run.is_some()) };
    if kinds.get(connection, &kind)?.is_none() {
        kinds.put(kind, (kind, entry.seq));
    }
    Ok(())
}

/// Returns the kinds that stand outside tapes, in order.
pub(crate) fn outside_tapes(connection: &Connection) -> rusqlite::Result<Vec<u16>> {
    let sql = "SELECT kind, on_tape, seq FROM kind_seen WHERE on_tape = 0 ORDER BY kind";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], read)?;
    rows.map(|row| row.map(|(kind, _)| kind.number)).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<(SeenKind, Seq)> {
    Ok((SeenKind { number: row.get(0)?, on_tape: row.get(1)? }, seq_from_sql(row.get(2)?)))
}
