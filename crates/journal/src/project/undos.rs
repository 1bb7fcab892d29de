//! Takings back of what runs changed. Owns the table `undo`: a row for each entry, which holds the paths.

use palyra_types::{RunId, Seq, UndoId};
use rusqlite::Connection;

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// What an entry says of a taking back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// It begins.
    Requested,
    /// It is over.
    Finished,
}

/// A row of `undo`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UndoRow {
    seq: Seq,
    undo: UndoId,
    run: RunId,
    said: Said,
}

/// The table `undo`.
pub(crate) struct Undos;

impl Family for Undos {
    type Key = Seq;
    type Row = UndoRow;

    /// An entry is folded once; nobody looks for its row.
    fn load(_: &Connection, _: &Seq) -> rusqlite::Result<Option<UndoRow>> {
        Ok(None)
    }

    fn store(connection: &Connection, row: &UndoRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO undo(seq, undo, run, finished) VALUES (?1, ?2, ?3, ?4)";
        let finished = i64::from(row.said == Said::Finished);
        let values = (seq_to_sql(row.seq), row.undo.to_bytes(), row.run.to_bytes(), finished);
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds an entry about a taking back.
pub(super) fn said(undos: &mut Held<Undos>, entry: &Folded<'_>, (undo, run): (UndoId, RunId), said: Said) {
    undos.put(entry.seq, UndoRow { seq: entry.seq, undo, run, said });
}

/// Returns the entries of takings back that have no end, oldest first.
pub(crate) fn open(connection: &Connection) -> rusqlite::Result<Vec<Seq>> {
    let sql = "SELECT seq FROM undo WHERE finished = 0 AND NOT EXISTS (
        SELECT 1 FROM undo AS other WHERE other.undo = undo.undo AND other.finished = 1) ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| row.get(0).map(seq_from_sql))?;
    rows.collect()
}
