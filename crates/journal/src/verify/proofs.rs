//! What proves the log, held against its entries: tiles, frontier, signed heads and who vouches for their keys.
//!
//! Owns no walk: leaves and facts are handed in, in order. Begin at [`Proofs::admit`].

use palyra_ledger::tree::{TileStore as _, Tiled, TiledError, root_at};
use palyra_ledger::{CheckpointNote, KeyRing, LeafHash, TreeWriter};
use palyra_types::Seq;
use palyra_types::event::{JournalEvent, LogEvent};
use rusqlite::Connection;

use super::FirstFault;
use crate::fault::{EntryFault, ReadFault};
use crate::sign::begun_in_format_1;
use crate::sql::{seq_from_sql, u64_from_sql};
use crate::tree::{StoredTiles, read_frontier};

const HASH_BYTES: usize = 32;

/// The tree and the keys, as they follow from the entries so far.
#[derive(Default)]
pub(super) struct Proofs {
    tree: TreeWriter,
    keys: Option<KeyRing>,
    /// The first tile that is not the one that follows from the entries.
    tile: FirstFault,
    /// Signed heads that are those of these entries, and the size of the newest.
    signed: (u64, u64),
}

impl Proofs {
    /// Takes in the next entry.
    pub(super) fn admit(
        &mut self,
        connection: &Connection,
        seq: Seq,
        leaf: LeafHash,
        event: &JournalEvent,
    ) -> Result<(), ReadFault> {
        self.tree.settle();
        for tile in self.tree.push(leaf) {
            let stored = StoredTiles(connection).tile(tile.level, tile.index)?;
            if self.tile.is_none() && stored.as_deref() != Some(tile.bytes) {
                let span = 1_u64 << (8 * u32::from(tile.level));
                let differs = stored.map_or(u64::MAX, |stored| first_difference(&stored, tile.bytes));
                let last = (tile.index * 256 + differs.min(255) + 1).saturating_mul(span) - 1;
                self.tile = Some((Seq(last), EntryFault::Tile));
            }
        }
        self.admit_keys(seq, event).map_err(|()| EntryFault::Keys.at(seq))
    }

    fn admit_keys(&mut self, seq: Seq, event: &JournalEvent) -> Result<(), ()> {
        let keys = self.keys.as_mut();
        match (event, keys) {
            (JournalEvent::Log(LogEvent::Opened { log_id, nonce, first_key }), None) => {
                self.keys = Some(KeyRing::open(*log_id, nonce, *first_key).map_err(drop)?);
                Ok(())
            }
            (JournalEvent::Log(LogEvent::EpochStarted { epoch, key, .. }), Some(keys)) => {
                keys.epoch_started(seq, *epoch, *key).map_err(drop)
            }
            (JournalEvent::Log(LogEvent::Reopened { log_id, nonce, key, .. }), Some(keys)) => {
                keys.reopened(seq, *log_id, nonce, *key).map_err(drop)
            }
            (_, Some(_)) => Ok(()),
            (_, None) => Err(()),
        }
    }

    /// Compares what is stored beside the entries, once all of them were admitted.
    pub(super) fn faults(&mut self, connection: &Connection) -> Result<Vec<(Seq, EntryFault)>, ReadFault> {
        let found =
            [self.tile, self.surplus_tile(connection)?, self.frontier(connection)?, self.heads(connection)?];
        Ok(found.into_iter().flatten().collect())
    }

    /// Returns how many signed heads were found right, and how many entries the newest covers.
    pub(super) fn signed(&self) -> (u64, u64) {
        self.signed
    }

    fn surplus_tile(&self, connection: &Connection) -> rusqlite::Result<FirstFault> {
        let size = self.tree.size();
        let full: u64 = (1..=7_u32).map(|level| size >> (8 * level)).sum();
        let tiles = "SELECT count(*) FROM tile";
        let stored = u64_from_sql(connection.query_row(tiles, [], |row| row.get(0))?);
        // Where one is missing its own fault is found already.
        Ok((stored > full).then_some((Seq(size), EntryFault::Truncated)))
    }

    fn frontier(&self, connection: &Connection) -> rusqlite::Result<FirstFault> {
        let size = self.tree.size();
        let last = Seq(size.saturating_sub(1));
        Ok(match read_frontier(connection)? {
            Some(stored) if stored == *self.tree.frontier() => None,
            Some(stored) if stored.size() > size => Some((Seq(size), EntryFault::Truncated)),
            Some(stored) if stored.size() < size => Some((Seq(stored.size()), EntryFault::Frontier)),
            Some(_) | None => Some((last, EntryFault::Frontier)),
        })
    }

    /// Finds the first stored head that the log is not the log of, or that nobody signed who may.
    fn heads(&mut self, connection: &Connection) -> Result<FirstFault, ReadFault> {
        let mut tree = Tiled::new(StoredTiles(connection), self.tree.size());
        let mut statement = connection.prepare("SELECT size, note FROM checkpoint ORDER BY size")?;
        let mut rows = statement.query([])?;
        let mut stored = 0_u64;
        while let Some(row) = rows.next()? {
            stored += 1;
            let size = u64_from_sql(row.get(0)?);
            let note = CheckpointNote::parse(row.get_ref(1)?.as_str()?.as_bytes());
            let at = Seq(size.saturating_sub(1));
            let Some(note) = note.ok().filter(|note| note.checkpoint().size == size) else {
                return Ok(Some((at, EntryFault::Head)));
            };
            if size > self.tree.size() {
                return Ok(Some((Seq(self.tree.size()), EntryFault::Truncated)));
            }
            let root = match root_at(size, |subtree| tree.hash(subtree)) {
                Err(TiledError::Store(error)) => return Err(error.into()),
                root => root.ok(),
            };
            // A tile that is not in order was found already; the head may still be good.
            if root.is_some_and(|root| root != note.checkpoint().root) && self.tile.is_none() {
                return Ok(Some((at, EntryFault::Forked)));
            }
            if self.keys.as_mut().is_none_or(|keys| keys.admit(&note).is_err()) {
                return Ok(Some((at, EntryFault::Signature)));
            }
            self.signed = (stored, size);
        }
        // The first head of a log begun with heads is stored before its first run begins.
        if stored == 0 && begun_in_format_1(connection)?.is_none() {
            let first_run = "SELECT min(seq) FROM entry WHERE run_id IS NOT NULL";
            let first: Option<i64> = connection.query_row(first_run, [], |row| row.get(0))?;
            return Ok(first.map(|seq| (seq_from_sql(seq), EntryFault::Unsigned)));
        }
        Ok(None)
    }
}

fn first_difference(stored: &[u8], made: &[u8]) -> u64 {
    let pairs = stored.chunks(HASH_BYTES).zip(made.chunks(HASH_BYTES));
    let same = pairs.take_while(|(stored, made)| stored == made).count();
    same as u64
}
