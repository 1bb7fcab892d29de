//! Principals: the names behind the ids. Owns the table `principal`.

use palyra_types::access::PrincipalRecord;
use palyra_types::{PrincipalId, Redacted, Seq};
use rusqlite::{Connection, OptionalExtension, Row};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// A row of `principal`.
#[derive(Debug, Clone)]
pub(crate) struct PrincipalRow {
    record: PrincipalRecord,
    seq: Seq,
}

/// The table `principal`.
pub(crate) struct Principals;

impl Family for Principals {
    type Key = PrincipalId;
    type Row = PrincipalRow;

    fn load(connection: &Connection, key: &PrincipalId) -> rusqlite::Result<Option<PrincipalRow>> {
        let sql = "SELECT principal, name, seq FROM principal WHERE principal = ?1";
        connection.prepare_cached(sql)?.query_row([key.to_bytes()], read).optional()
    }

    fn store(connection: &Connection, row: &PrincipalRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO principal(principal, name, seq) VALUES (?1, ?2, ?3)
            ON CONFLICT(principal) DO UPDATE SET name = excluded.name, seq = excluded.seq";
        let values = (row.record.id.to_bytes(), row.record.name.expose(), seq_to_sql(row.seq));
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds a registration; the latest name counts.
pub(super) fn registered(
    principals: &mut Held<Principals>,
    entry: &Folded<'_>,
    id: PrincipalId,
    name: &Redacted<String>,
) {
    let record = PrincipalRecord { id, name: name.clone() };
    principals.put(id, PrincipalRow { record, seq: entry.seq });
}

/// Returns all principals in order of id.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<PrincipalRecord>> {
    let mut statement =
        connection.prepare_cached("SELECT principal, name, seq FROM principal ORDER BY principal")?;
    let rows = statement.query_map([], read)?;
    rows.map(|row| row.map(|row| row.record)).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<PrincipalRow> {
    let record =
        PrincipalRecord { id: PrincipalId::from_bytes(row.get(0)?), name: row.get::<_, String>(1)?.into() };
    Ok(PrincipalRow { record, seq: seq_from_sql(row.get(2)?) })
}
