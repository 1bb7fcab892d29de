//! Policies that were tried out: the newest count of each. Owns the table `shadow`.

use palyra_types::Seq;
use rusqlite::{Connection, OptionalExtension, Row};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// A row of `shadow`: the candidate, and the entry of its newest count.
type ShadowRow = ([u8; 32], Seq);

/// The table `shadow`.
pub(crate) struct Shadows;

impl Family for Shadows {
    type Key = [u8; 32];
    type Row = ShadowRow;

    fn load(connection: &Connection, key: &[u8; 32]) -> rusqlite::Result<Option<ShadowRow>> {
        let sql = "SELECT candidate, seq FROM shadow WHERE candidate = ?1";
        connection.prepare_cached(sql)?.query_row([key], read).optional()
    }

    fn store(connection: &Connection, (candidate, seq): &ShadowRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO shadow(candidate, seq) VALUES (?1, ?2)
            ON CONFLICT(candidate) DO UPDATE SET seq = excluded.seq";
        connection.prepare_cached(sql)?.execute((candidate, seq_to_sql(*seq))).map(drop)
    }
}

/// Folds a count.
pub(super) fn counted(shadows: &mut Held<Shadows>, entry: &Folded<'_>, candidate: [u8; 32]) {
    shadows.put(candidate, (candidate, entry.seq));
}

/// Returns the entry of the newest count of a candidate; of any where none is named.
pub(crate) fn newest(connection: &Connection, candidate: Option<[u8; 32]>) -> rusqlite::Result<Option<Seq>> {
    let sql =
        "SELECT candidate, seq FROM shadow WHERE ?1 IS NULL OR candidate = ?1 ORDER BY seq DESC LIMIT 1";
    let found = connection.prepare_cached(sql)?.query_row([candidate], read).optional()?;
    Ok(found.map(|(_, seq)| seq))
}

fn read(row: &Row<'_>) -> rusqlite::Result<ShadowRow> {
    Ok((row.get(0)?, seq_from_sql(row.get(1)?)))
}
