//! The shapes of rows.
//!
//! Owns the queries of the walk: all of them run along a key, and none filters or sorts.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::cursor::{KeyedRow, ReadTrouble, blob, integer, shape, text};

pub(super) const ENTRIES: &str = "SELECT seq, envelope, run_id, tape_seq, kind FROM entry ORDER BY seq";
pub(super) const HEADS_OF_ENTRIES: &str = "SELECT seq, substr(envelope, 1, 4) FROM entry ORDER BY seq";
pub(super) const PAYLOADS: &str = "SELECT seq, key_id, sealed FROM payload ORDER BY seq";
pub(super) const CHECKPOINTS: &str = "SELECT size, note FROM checkpoint ORDER BY size";
pub(super) const TILES: &str = "SELECT level, \"index\" FROM tile ORDER BY level, \"index\"";

/// A row of `entry`.
pub(super) struct EntryRow {
    pub(super) seq: i64,
    pub(super) envelope: Vec<u8>,
    pub(super) run: Option<Vec<u8>>,
    pub(super) tape_seq: Option<i64>,
    pub(super) kind: i64,
}

impl KeyedRow for EntryRow {
    fn read(row: &Row<'_>) -> Result<Self, ReadTrouble> {
        let run = match row.get_ref(2)? {
            ValueRef::Null => None,
            ValueRef::Blob(bytes) => Some(bytes.to_vec()),
            other => return Err(shape(2, "bytes", other)),
        };
        let tape_seq = match row.get_ref(3)? {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number),
            other => return Err(shape(3, "a number", other)),
        };
        Ok(Self { seq: integer(row, 0)?, envelope: blob(row, 1)?, run, tape_seq, kind: integer(row, 4)? })
    }

    fn key(&self) -> (i64, i64) {
        (self.seq, 0)
    }
}

/// The beginning of an envelope.
pub(super) struct HeadRow {
    pub(super) seq: i64,
    /// Version, flags and kind, where they are there.
    pub(super) head: [u8; 4],
}

impl KeyedRow for HeadRow {
    fn read(row: &Row<'_>) -> Result<Self, ReadTrouble> {
        let head = match row.get_ref(1)? {
            ValueRef::Blob(bytes) => bytes.try_into().unwrap_or_default(),
            _ => [0; 4],
        };
        Ok(Self { seq: integer(row, 0)?, head })
    }

    fn key(&self) -> (i64, i64) {
        (self.seq, 0)
    }
}

/// A row of `payload`.
pub(super) struct PayloadRow {
    seq: i64,
    pub(super) key_id: i64,
    pub(super) sealed: Vec<u8>,
}

impl KeyedRow for PayloadRow {
    fn read(row: &Row<'_>) -> Result<Self, ReadTrouble> {
        Ok(Self { seq: integer(row, 0)?, key_id: integer(row, 1)?, sealed: blob(row, 2)? })
    }

    fn key(&self) -> (i64, i64) {
        (self.seq, 0)
    }
}

/// A row of `chunk`.
pub(super) struct ChunkRow {
    seq: i64,
    pub(super) n: i64,
    pub(super) sealed: Vec<u8>,
}

impl KeyedRow for ChunkRow {
    fn read(row: &Row<'_>) -> Result<Self, ReadTrouble> {
        Ok(Self { seq: integer(row, 0)?, n: integer(row, 1)?, sealed: blob(row, 2)? })
    }

    fn key(&self) -> (i64, i64) {
        (self.seq, self.n)
    }
}

/// A row of `checkpoint`.
pub(super) struct CheckpointRow {
    pub(super) size: i64,
    pub(super) note: String,
}

impl KeyedRow for CheckpointRow {
    fn read(row: &Row<'_>) -> Result<Self, ReadTrouble> {
        Ok(Self { size: integer(row, 0)?, note: text(row, 1)? })
    }

    fn key(&self) -> (i64, i64) {
        (self.size, 0)
    }
}

/// The place of a row of `tile`.
pub(super) struct TileRow {
    pub(super) level: i64,
    pub(super) index: i64,
}

impl KeyedRow for TileRow {
    fn read(row: &Row<'_>) -> Result<Self, ReadTrouble> {
        Ok(Self { level: integer(row, 0)?, index: integer(row, 1)? })
    }

    fn key(&self) -> (i64, i64) {
        (self.level, self.index)
    }
}
