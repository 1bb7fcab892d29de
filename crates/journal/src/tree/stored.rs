//! Rows of `tile` and `frontier`, and the tree as proofs read it.

use palyra_ledger::tree::{Tile, TileStore};
use palyra_ledger::{Frontier, LeafHash, leaf_hash};
use rusqlite::{Connection, OptionalExtension, params};

use crate::sql::{count_to_sql, u64_from_sql, u64_to_sql};

/// Writes a full tile.
pub(crate) fn insert_tile(connection: &Connection, tile: &Tile<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT INTO tile(level, \"index\", hashes) VALUES (?1, ?2, ?3)";
    let values = params![tile.level, u64_to_sql(tile.index), tile.bytes];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

/// Replaces the frontier's row.
pub(crate) fn write_frontier(connection: &Connection, frontier: &Frontier) -> rusqlite::Result<()> {
    let sql = "UPDATE frontier SET size = ?1, hashes = ?2 WHERE id = 0";
    let values = params![u64_to_sql(frontier.size()), frontier.to_bytes()];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

/// Reads the frontier; `None` where its row is missing or malformed.
pub(crate) fn read_frontier(connection: &Connection) -> rusqlite::Result<Option<Frontier>> {
    let sql = "SELECT size, hashes FROM frontier WHERE id = 0";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?));
    let row = connection.query_row(sql, [], read).optional()?;
    Ok(row.and_then(|(size, hashes)| Frontier::from_bytes(u64_from_sql(size), &hashes).ok()))
}

/// Tiles and leaves of the log that a connection sees.
#[derive(Debug)]
pub(crate) struct StoredTiles<'c>(pub(crate) &'c Connection);

impl TileStore for StoredTiles<'_> {
    type Error = rusqlite::Error;

    fn tile(&mut self, level: u8, index: u64) -> rusqlite::Result<Option<Vec<u8>>> {
        let sql = "SELECT hashes FROM tile WHERE level = ?1 AND \"index\" = ?2";
        let names = (level, u64_to_sql(index));
        self.0.prepare_cached(sql)?.query_row(names, |row| row.get(0)).optional()
    }

    fn leaves(&mut self, first: u64, count: usize) -> rusqlite::Result<Vec<LeafHash>> {
        let sql = "SELECT envelope FROM entry WHERE seq >= ?1 ORDER BY seq LIMIT ?2";
        let mut statement = self.0.prepare_cached(sql)?;
        let leaf = |row: &rusqlite::Row<'_>| Ok(leaf_hash(row.get_ref(0)?.as_blob()?));
        statement.query_map((u64_to_sql(first), count_to_sql(count)), leaf)?.collect()
    }
}
