//! The whole log as static tiles (C2SP tlog-tiles), without content.

use std::sync::Arc;

use palyra_ledger::tree::{Subtree, Tiled, entries_path, tile_path};
use palyra_ports::{ExportPart, ExportSink};
use palyra_types::proof::SignedCheckpoint;
use rusqlite::Connection;

use super::fault::ProveFault;
use crate::sql::u64_to_sql;
use crate::tree::StoredTiles;

const TILE_WIDTH: u64 = 256;
/// Levels of tiles over 2^63 leaves.
const TILE_LEVELS: u8 = 8;

/// Writes `checkpoint`, `tile/<L>/<N>` and `tile/entries/<N>` of the log up to a head.
pub(crate) fn export_tiles(
    connection: &Connection,
    head: &SignedCheckpoint,
    sink: &ExportSink,
) -> Result<(), ProveFault> {
    let snapshot = connection.unchecked_transaction()?;
    let size = head.head.size;
    let entries = super::proofs::entries(&snapshot)?;
    if size > entries {
        return Err(ProveFault::OutOfRange { entries });
    }
    give(sink, "checkpoint".into(), head.note.as_bytes().to_vec())?;
    let mut tree = Tiled::new(StoredTiles(&snapshot), size);
    for level in 0..TILE_LEVELS {
        let hashes = size >> (8 * u32::from(level));
        for index in 0..hashes.div_ceil(TILE_WIDTH) {
            let width = (hashes - index * TILE_WIDTH).min(TILE_WIDTH);
            let mut data = Vec::with_capacity(width as usize * 32);
            for at in 0..width {
                let subtree = Subtree { level: level * 8, index: index * TILE_WIDTH + at };
                data.extend_from_slice(&tree.hash(subtree)?.0);
            }
            give(sink, tile_path(level, index, width as usize), data)?;
        }
    }
    for index in 0..size.div_ceil(TILE_WIDTH) {
        let first = index * TILE_WIDTH;
        let width = (size - first).min(TILE_WIDTH);
        let data = envelopes(&snapshot, first, width)?;
        give(sink, entries_path(index, width as usize), data)?;
    }
    Ok(())
}

/// Returns envelopes, each after its length in two bytes.
fn envelopes(connection: &Connection, first: u64, count: u64) -> Result<Vec<u8>, ProveFault> {
    let sql = "SELECT envelope FROM entry WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query((u64_to_sql(first), u64_to_sql(count)))?;
    let mut data = Vec::new();
    while let Some(row) = rows.next()? {
        let envelope = row.get_ref(0)?.as_blob()?;
        let length = u16::try_from(envelope.len())
            .map_err(|_| ProveFault::Tree { what: "an envelope is too large".to_owned() })?;
        data.extend_from_slice(&length.to_be_bytes());
        data.extend_from_slice(envelope);
    }
    Ok(data)
}

fn give(sink: &ExportSink, path: String, data: Vec<u8>) -> Result<(), ProveFault> {
    if sink(ExportPart { path: Arc::from(path), data }) { Ok(()) } else { Err(ProveFault::Abandoned) }
}
