//! Stored tiles and the stored frontier, against those made from the entries.
//!
//! Owns docs/journal-format.md, section 3, as far as it is stored.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Statement};

use super::cursor::{Cursor, ReadTrouble, blob, integer};
use super::rows::{TILES, TileRow};
use crate::digest::Hash;
use crate::fault::{FaultCode, FaultCount};
use crate::tree::{FullTile, TILE_HASHES, leaves_below};

const HASH_BYTES: usize = 32;

/// The stored tiles, looked up one by one as they become full.
pub(super) struct StoredTiles<'s> {
    find: Statement<'s>,
    found: u64,
}

impl<'s> StoredTiles<'s> {
    pub(super) fn new(connection: &'s Connection) -> Result<Self, rusqlite::Error> {
        let find = connection.prepare("SELECT hashes FROM tile WHERE level = ?1 AND \"index\" = ?2")?;
        Ok(Self { find, found: 0 })
    }

    /// Compares a tile that has just become full.
    pub(super) fn compare(&mut self, tile: &FullTile, faults: &mut FaultCount) {
        let FullTile { level, index, hashes } = tile;
        let wrong_at = match self.first_difference(tile) {
            Ok(None) => return,
            Ok(Some(at)) => at,
            Err(error) => {
                let seq = last_leaf(*level, *index, TILE_HASHES - 1);
                return faults.add(seq, FaultCode::Malformed, || {
                    format!("tile {level}/{index}: the file is damaged: {error}")
                });
            }
        };
        let at = wrong_at.min(hashes.len() / HASH_BYTES - 1);
        faults.add(last_leaf(*level, *index, at), FaultCode::Mismatch, || {
            format!("tile {level}/{index} is missing or does not match the entries")
        });
    }

    /// Returns the number of the first hash that differs; the last one where there is no tile at all.
    fn first_difference(&mut self, tile: &FullTile) -> rusqlite::Result<Option<usize>> {
        let stored = self.find.query_row((tile.level, i64::try_from(tile.index).unwrap_or(-1)), |row| {
            Ok(match row.get_ref(0)? {
                ValueRef::Blob(bytes) => Some(bytes.to_vec()),
                _ => None,
            })
        });
        let Some(stored) = stored.optional()?.flatten() else { return Ok(Some(usize::MAX)) };
        self.found += 1;
        if stored == tile.hashes {
            return Ok(None);
        }
        let pairs = stored.chunks(HASH_BYTES).zip(tile.hashes.chunks(HASH_BYTES));
        Ok(Some(pairs.take_while(|(left, right)| left == right).count()))
    }
}

/// Notes tiles that the entries do not fill.
pub(super) fn beyond(connection: &Connection, entries: u64, faults: &mut FaultCount) {
    let mut step = || -> Result<(), ReadTrouble> {
        let mut statement = connection.prepare(TILES)?;
        let mut rows = Cursor::<TileRow>::new(statement.query([])?);
        while let Some(row) = rows.next()? {
            let filled = u64::try_from(row.level).ok().zip(u64::try_from(row.index).ok()).and_then(
                |(level, index)| leaves_below(level.checked_add(1)?)?.checked_mul(index.checked_add(1)?),
            );
            match filled {
                Some(size) if size <= entries => {}
                Some(_) => faults.add(entries, FaultCode::Truncated, || {
                    format!("the log has {entries} entries, and there is a tile of later ones")
                }),
                None => return Err(ReadTrouble("a tile has an impossible place".to_owned())),
            }
        }
        Ok(())
    };
    if let Err(ReadTrouble(what)) = step() {
        faults.add(None, FaultCode::Malformed, || format!("the tiles: {what}"));
    }
}

fn last_leaf(level: u32, index: u64, at: usize) -> u64 {
    let hashes = index.saturating_mul(TILE_HASHES as u64).saturating_add(at as u64 + 1);
    leaves_below(u64::from(level)).unwrap_or(1).saturating_mul(hashes).saturating_sub(1)
}

/// The stored right edge.
#[derive(Debug)]
pub(super) struct StoredFrontier {
    pub(super) size: u64,
    pub(super) hashes: Vec<Hash>,
}

/// Reads the frontier; an error says what is out of shape.
pub(super) fn frontier(connection: &Connection) -> Result<StoredFrontier, ReadTrouble> {
    let mut statement = connection.prepare("SELECT id, size, hashes FROM frontier")?;
    let mut rows = statement.query([])?;
    let row = rows.next()?.ok_or_else(|| ReadTrouble("it is missing".to_owned()))?;
    let (id, size, bytes) = (integer(row, 0)?, integer(row, 1)?, blob(row, 2)?);
    if rows.next()?.is_some() || id != 0 {
        return Err(ReadTrouble("there is more than the one row 0".to_owned()));
    }
    let size = u64::try_from(size).map_err(|_| ReadTrouble("its size is negative".to_owned()))?;
    let (hashes, rest) = bytes.as_chunks::<HASH_BYTES>();
    if !rest.is_empty() || hashes.len() != size.count_ones() as usize {
        return Err(ReadTrouble("it has another number of hashes than its size".to_owned()));
    }
    Ok(StoredFrontier { size, hashes: hashes.to_vec() })
}
