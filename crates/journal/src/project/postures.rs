//! Standing settings of tools: which still hold. Owns the table `posture`: a row for each that was made.
//!
//! What a setting says stands in the entry that the row names, and nowhere else.

use palyra_types::Seq;
use palyra_types::posture::PostureChanged;
use rusqlite::{Connection, OptionalExtension, Row};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// A row of `posture`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostureRow {
    /// The entry that made it.
    seq: Seq,
    /// The entry that replaced it, or took it back.
    ended: Option<Seq>,
}

/// The table `posture`.
pub(crate) struct Postures;

impl Family for Postures {
    type Key = Seq;
    type Row = PostureRow;

    fn load(connection: &Connection, key: &Seq) -> rusqlite::Result<Option<PostureRow>> {
        let sql = "SELECT seq, ended_seq FROM posture WHERE seq = ?1";
        connection.prepare_cached(sql)?.query_row([seq_to_sql(*key)], read).optional()
    }

    fn store(connection: &Connection, row: &PostureRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO posture(seq, ended_seq) VALUES (?1, ?2)
            ON CONFLICT(seq) DO UPDATE SET ended_seq = excluded.ended_seq";
        let values = (seq_to_sql(row.seq), row.ended.map(seq_to_sql));
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds a change; what ended stays so.
pub(super) fn changed(
    postures: &mut Held<Postures>,
    connection: &Connection,
    entry: &Folded<'_>,
    changed: &PostureChanged,
) -> rusqlite::Result<()> {
    if let Some(replaced) = changed.replaces {
        postures.change(connection, &replaced, |row| row.ended = row.ended.or(Some(entry.seq)))?;
    }
    if changed.posture.is_some() {
        postures.put(entry.seq, PostureRow { seq: entry.seq, ended: None });
    }
    Ok(())
}

/// Returns the entries of the settings that hold, oldest first.
pub(crate) fn standing(connection: &Connection) -> rusqlite::Result<Vec<Seq>> {
    let sql = "SELECT seq, ended_seq FROM posture WHERE ended_seq IS NULL ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], read)?;
    rows.map(|row| row.map(|row| row.seq)).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<PostureRow> {
    let ended = row.get::<_, Option<i64>>(1)?.map(seq_from_sql);
    Ok(PostureRow { seq: seq_from_sql(row.get(0)?), ended })
}
