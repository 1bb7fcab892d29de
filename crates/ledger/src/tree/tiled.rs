//! The tree as it is stored: full tiles, and leaves where there is no full tile yet.
//!
//! Owns how the hash of any perfect subtree follows from stored tiles. Knows no SQL: rows come through
//! [`TileStore`]. Invariant: an answer depends on stored hashes of leaves below `size` alone, so a proof for
//! an older size can be made while the log grows. Begin at [`Tiled::hash`].

use super::{HASH_BYTES, NodeHash, Subtree, TILE_HEIGHT, TILE_LEVELS, TILE_WIDTH, edge_width, perfect_root};
use crate::leaf::LeafHash;

/// Where full tiles and leaves are stored.
pub trait TileStore {
    /// Why reading failed.
    type Error: std::error::Error + 'static;

    /// Returns the bytes of a full tile; `None` where it is not stored.
    ///
    /// # Errors
    /// Its own.
    fn tile(&mut self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Self::Error>;

    /// Returns `count` leaves (at most 255) from `first` on; fewer where the log ends.
    ///
    /// # Errors
    /// Its own.
    fn leaves(&mut self, first: u64, count: usize) -> Result<Vec<LeafHash>, Self::Error>;
}

impl<S: TileStore + ?Sized> TileStore for &mut S {
    type Error = S::Error;

    fn tile(&mut self, level: u8, index: u64) -> Result<Option<Vec<u8>>, S::Error> {
        (**self).tile(level, index)
    }

    fn leaves(&mut self, first: u64, count: usize) -> Result<Vec<LeafHash>, S::Error> {
        (**self).leaves(first, count)
    }
}

/// Why stored tiles do not yield a hash.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TiledError<E: std::error::Error + 'static> {
    /// The subtree reaches beyond the tree's size.
    #[error("the subtree reaches beyond the tree")]
    Outside,
    /// A full tile is not stored.
    #[error("tile {index} of level {level} is missing")]
    Missing {
        /// The tile's level.
        level: u8,
        /// The tile's index.
        index: u64,
    },
    /// A stored tile has not [`TILE_BYTES`](super::TILE_BYTES).
    #[error("tile {index} of level {level} has not 256 hashes")]
    Malformed {
        /// The tile's level.
        level: u8,
        /// The tile's index.
        index: u64,
    },
    /// The log has fewer leaves than the tree.
    #[error("the log has fewer leaves than the tree")]
    Leaves,
    /// The store failed.
    #[error("could not read tiles or leaves")]
    Store(#[source] E),
}

/// The hashes of a tree of one size over stored tiles.
///
/// Keeps two tiles of each level in memory, 128 KiB at most: the one last read and the unfinished one, which
/// on levels above the first is made from up to 255 tiles. So proofs in order of their leaves are cheap.
#[derive(Debug)]
pub struct Tiled<S> {
    store: S,
    size: u64,
    edges: [Option<Vec<[u8; 32]>>; TILE_LEVELS],
    recent: [Option<(u64, Vec<[u8; 32]>)>; TILE_LEVELS],
}

impl<S: TileStore> Tiled<S> {
    /// Reads the tree of the first `size` leaves from `store`, which may hold more.
    pub fn new(store: S, size: u64) -> Self {
        Self { store, size, edges: Default::default(), recent: Default::default() }
    }

    /// Returns the size of the tree.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the root of a perfect subtree.
    ///
    /// # Errors
    /// [`TiledError::Outside`] beyond the tree; else what is wrong with the store.
    pub fn hash(&mut self, subtree: Subtree) -> Result<NodeHash, TiledError<S::Error>> {
        let leaves = 1u64.checked_shl(u32::from(subtree.level)).ok_or(TiledError::Outside)?;
        let end = subtree.index.checked_add(1).and_then(|next| next.checked_mul(leaves));
        if end.is_none_or(|end| end > self.size) {
            return Err(TiledError::Outside);
        }
        let (level, height) = (subtree.level / TILE_HEIGHT as u8, subtree.level % TILE_HEIGHT as u8);
        let first = subtree.index << height;
        let (tile, at) = (first / TILE_WIDTH as u64, (first % TILE_WIDTH as u64) as usize);
        let hashes = self.hashes(level, tile)?;
        hashes.get(at..at + (1 << height)).map(perfect_root).ok_or(TiledError::Outside)
    }

    /// Returns the hashes of the unfinished tile of a level; none where the size leaves none.
    ///
    /// # Errors
    /// What is wrong with the store.
    pub(super) fn edge(&mut self, level: u8) -> Result<&[[u8; 32]], TiledError<S::Error>> {
        let slot = usize::from(level);
        if self.edges[slot].is_none() {
            self.edges[slot] = Some(self.read_edge(level)?);
        }
        Ok(self.edges[slot].as_deref().unwrap_or_default())
    }

    fn hashes(&mut self, level: u8, tile: u64) -> Result<&[[u8; 32]], TiledError<S::Error>> {
        let slot = usize::from(level);
        if tile == self.edge_index(level) {
            return self.edge(level);
        }
        if self.recent[slot].as_ref().is_none_or(|(held, _)| *held != tile) {
            self.recent[slot] = Some((tile, self.read_tile(level, tile)?));
        }
        Ok(self.recent[slot].as_ref().map_or(&[], |(_, hashes)| hashes))
    }

    fn read_edge(&mut self, level: u8) -> Result<Vec<[u8; 32]>, TiledError<S::Error>> {
        let count = edge_width(self.size, usize::from(level));
        let first = self.edge_index(level) * TILE_WIDTH as u64;
        let Some(below) = level.checked_sub(1) else {
            let leaves = self.store.leaves(first, count).map_err(TiledError::Store)?;
            let whole = leaves.len() == count;
            return if whole {
                Ok(leaves.iter().map(|leaf| leaf.0).collect())
            } else {
                Err(TiledError::Leaves)
            };
        };
        (first..).take(count).map(|tile| Ok(perfect_root(&self.read_tile(below, tile)?).0)).collect()
    }

    fn read_tile(&mut self, level: u8, index: u64) -> Result<Vec<[u8; 32]>, TiledError<S::Error>> {
        let stored = self.store.tile(level, index).map_err(TiledError::Store)?;
        let bytes = stored.ok_or(TiledError::Missing { level, index })?;
        let (hashes, rest) = bytes.as_chunks::<HASH_BYTES>();
        if hashes.len() != TILE_WIDTH || !rest.is_empty() {
            return Err(TiledError::Malformed { level, index });
        }
        Ok(hashes.to_vec())
    }

    fn edge_index(&self, level: u8) -> u64 {
        // Shifted in two steps: on the highest level both together are the whole width.
        self.size >> (TILE_HEIGHT * u32::from(level)) >> TILE_HEIGHT
    }
}
