//! Idempotency keys of inputs that joined or answered a run. Owns the table `input_key`.
//!
//! Keys of inputs that began a run stand in that run's row.

use palyra_types::run::IdempotencyDigest;
use palyra_types::{PrincipalId, RunId, Seq};
use rusqlite::{Connection, OptionalExtension, Row};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// A row of `input_key`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputKeyRow {
    key: (PrincipalId, IdempotencyDigest),
    run: RunId,
    seq: Seq,
}

/// The table `input_key`.
pub(crate) struct InputKeys;

impl Family for InputKeys {
    type Key = (PrincipalId, IdempotencyDigest);
    type Row = InputKeyRow;

    fn load(connection: &Connection, key: &Self::Key) -> rusqlite::Result<Option<InputKeyRow>> {
        let sql = "SELECT run, seq FROM input_key WHERE principal = ?1 AND idempotency = ?2";
        let read = |row: &Row<'_>| {
            Ok(InputKeyRow { key: *key, run: RunId::from_bytes(row.get(0)?), seq: seq_from_sql(row.get(1)?) })
        };
        connection.prepare_cached(sql)?.query_row((key.0.to_bytes(), key.1.0), read).optional()
    }

    fn store(connection: &Connection, row: &InputKeyRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO input_key(principal, idempotency, run, seq) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO NOTHING";
        let values = (row.key.0.to_bytes(), row.key.1.0, row.run.to_bytes(), seq_to_sql(row.seq));
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds an input with a key; the first one keeps it.
pub(super) fn received(
    keys: &mut Held<InputKeys>,
    connection: &Connection,
    entry: &Folded<'_>,
    digest: IdempotencyDigest,
) -> rusqlite::Result<()> {
    let key = (entry.principal, digest);
    let Some((run, _)) = entry.run else { return Ok(()) };
    if keys.get(connection, &key)?.is_none() {
        keys.put(key, InputKeyRow { key, run, seq: entry.seq });
    }
    Ok(())
}
