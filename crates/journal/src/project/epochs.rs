//! Epochs: which start is the newest. Owns the table `epoch`, by which late writers are fenced.

use palyra_types::{Epoch, Seq};
use rusqlite::{Connection, OptionalExtension, params};

use super::folded::Folded;
use super::rows::{Family, Held};
use crate::sql::{seq_from_sql, seq_to_sql};

/// A row of `epoch`.
#[derive(Debug, Clone)]
pub(crate) struct EpochRow {
    epoch: Epoch,
    seq: Seq,
    key: [u8; 32],
}

/// The table `epoch`.
pub(crate) struct Epochs;

impl Family for Epochs {
    type Key = Epoch;
    type Row = EpochRow;

    fn load(connection: &Connection, key: &Epoch) -> rusqlite::Result<Option<EpochRow>> {
        let sql = "SELECT epoch, seq, key FROM epoch WHERE epoch = ?1";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(EpochRow { epoch: Epoch(row.get(0)?), seq: seq_from_sql(row.get(1)?), key: row.get(2)? })
        };
        connection.prepare_cached(sql)?.query_row([key.0], read).optional()
    }

    fn store(connection: &Connection, row: &EpochRow) -> rusqlite::Result<()> {
        let sql = "INSERT INTO epoch(epoch, seq, key) VALUES (?1, ?2, ?3)";
        let values = params![row.epoch.0, seq_to_sql(row.seq), row.key];
        connection.prepare_cached(sql)?.execute(values).map(drop)
    }
}

/// Folds the beginning of an epoch.
pub(super) fn started(epochs: &mut Held<Epochs>, entry: &Folded<'_>, epoch: Epoch, key: &[u8; 32]) {
    epochs.put(epoch, EpochRow { epoch, seq: entry.seq, key: *key });
}

/// Returns the newest epoch; zero before the first.
pub(crate) fn newest(connection: &Connection) -> rusqlite::Result<Epoch> {
    let sql = "SELECT epoch FROM epoch ORDER BY epoch DESC LIMIT 1";
    let newest = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    Ok(Epoch(newest.unwrap_or(0)))
}

/// Returns every epoch with the entry that began it and its key, newest first.
pub(crate) fn descending(connection: &Connection) -> rusqlite::Result<Vec<(Epoch, Seq, [u8; 32])>> {
    let mut statement = connection.prepare("SELECT epoch, seq, key FROM epoch ORDER BY epoch DESC")?;
    let read = |row: &rusqlite::Row<'_>| Ok((Epoch(row.get(0)?), seq_from_sql(row.get(1)?), row.get(2)?));
    statement.query_map([], read)?.collect()
}
