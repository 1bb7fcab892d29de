//! What a file holds, as far as breaking it needs to know.
//!
//! Owns reading it with plain SQL, so that classes of damage work on files of a real daemon too.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

/// What a file holds.
#[derive(Debug, Clone)]
pub(crate) struct View {
    pub(crate) format: i64,
    pub(crate) envelopes: Vec<Vec<u8>>,
    /// Seq, key number.
    pub(crate) payloads: Vec<(u64, i64)>,
    /// Seq, number.
    pub(crate) chunks: Vec<(u64, i64)>,
    /// First, last, and the entry that says so.
    pub(crate) erased: Vec<(u64, u64, u64)>,
    pub(crate) statics: i64,
    /// Sizes.
    pub(crate) checkpoints: Vec<(u64, String)>,
    /// Level, index.
    pub(crate) tiles: Vec<(i64, i64)>,
}

impl View {
    pub(crate) fn read(path: &Path) -> rusqlite::Result<Self> {
        let from = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let format = from.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let all = |sql: &str| -> rusqlite::Result<Vec<(i64, i64)>> {
            from.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let keyed = |rows: Vec<(i64, i64)>| rows.into_iter().map(|(seq, n)| (seq as u64, n)).collect();
        let envelopes: Vec<Vec<u8>> = from
            .prepare("SELECT envelope FROM entry ORDER BY seq")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let (checkpoints, tiles) = if format > 1 {
            let notes = from
                .prepare("SELECT size, note FROM checkpoint ORDER BY size")?
                .query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            (notes, all("SELECT level, \"index\" FROM tile ORDER BY level, \"index\"")?)
        } else {
            (Vec::new(), Vec::new())
        };
        Ok(Self {
            format,
            payloads: keyed(all("SELECT seq, key_id FROM payload ORDER BY seq")?),
            chunks: keyed(all("SELECT seq, n FROM chunk ORDER BY seq, n")?),
            erased: erased(&envelopes),
            envelopes,
            statics: from.query_row("SELECT count(*) FROM static", [], |row| row.get(0))?,
            checkpoints,
            tiles,
        })
    }

    pub(crate) fn len(&self) -> u64 {
        self.envelopes.len() as u64
    }

    pub(crate) fn kind(&self, seq: u64) -> u16 {
        let envelope = &self.envelopes[seq as usize];
        u16::from_be_bytes([envelope[2], envelope[3]])
    }

    /// Returns the first entry whose payload is gone and that nothing explains, if only these entries were there.
    pub(crate) fn first_unexplained(&self, size: u64) -> Option<u64> {
        let covered =
            |seq| self.erased.iter().any(|(first, last, by)| *by < size && (*first..=*last).contains(&seq));
        let there = |seq: &u64| self.payloads.binary_search_by_key(seq, |row| row.0).is_ok();
        (0..size).find(|seq| self.envelopes[*seq as usize][1] & 1 == 1 && !there(seq) && !covered(*seq))
    }

    /// Returns the entries that have a payload row, at which an unsealed payload can be broken.
    pub(crate) fn with_payload(&self) -> Vec<u64> {
        self.payloads.iter().map(|row| row.0).collect()
    }
}

/// Reads the ranges of Erased entries, by hand.
fn erased(envelopes: &[Vec<u8>]) -> Vec<(u64, u64, u64)> {
    let mut ranges = Vec::new();
    for (by, envelope) in (0..).zip(envelopes) {
        if envelope[2..4] != [0, 3] {
            continue;
        }
        let mut facts = &envelope[162..];
        while let Some((number, value)) = field(&mut facts) {
            if let (4, Value::Bytes(mut range)) = (number, value) {
                let mut bounds = [0, 0];
                while let Some((number, Value::Number(value))) = field(&mut range) {
                    bounds[number as usize - 1] = value;
                }
                ranges.push((bounds[0], bounds[1], by));
            }
        }
    }
    ranges
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn field<'a>(from: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = varint(from)?;
    let value = varint(from)?;
    if tag & 7 == 0 {
        return Some((tag >> 3, Value::Number(value)));
    }
    let (bytes, rest) = from.split_at_checked(value as usize)?;
    *from = rest;
    Some((tag >> 3, Value::Bytes(bytes)))
}

fn varint(from: &mut &[u8]) -> Option<u64> {
    let end = from.iter().position(|byte| byte & 0x80 == 0)?;
    let value = from[..=end].iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7F));
    *from = &from[end + 1..];
    Some(value)
}
