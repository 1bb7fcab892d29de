//! Appending to the tree, tile by tile.
//!
//! Owns the frontier and the hashes of the unfinished tile on each level. Knows no transaction, only its two
//! ends: [`TreeWriter::settle`] and [`TreeWriter::rollback`]. Invariant: on each level lie the hashes that the
//! unfinished tile had when last settled, then all that came since; so forgetting is cutting off.
//! Begin at [`TreeWriter::push`].

use super::tiled::{TileStore, Tiled, TiledError};
use super::{Frontier, NodeHash, TILE_HEIGHT, TILE_LEVELS, TILE_WIDTH, edge_width, perfect_root};
use crate::leaf::LeafHash;

/// A full tile, to be stored in the commit that filled it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile<'a> {
    /// 0: its hashes are leaves; above: roots of full tiles of the level below.
    pub level: u8,
    /// Which of its level, from 0.
    pub index: u64,
    /// 256 hashes, [`TILE_BYTES`](super::TILE_BYTES).
    pub bytes: &'a [u8],
}

/// The tree's growing edge: at most 255 hashes on each of eight levels, and what came since it was settled.
#[derive(Debug, Clone)]
pub struct TreeWriter {
    frontier: Frontier,
    settled: Frontier,
    levels: [Vec<[u8; 32]>; TILE_LEVELS],
}

/// Why a writer cannot go on from what is stored.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError<E: std::error::Error + 'static> {
    /// Tiles or leaves could not be read, or are out of shape.
    #[error("could not read the unfinished tiles")]
    Source(#[source] TiledError<E>),
    /// The frontier does not follow from the stored tiles and leaves.
    #[error("the frontier differs from the tiles of level {level}")]
    Differs {
        /// The level of the tiles from which another peak follows.
        level: u8,
    },
}

impl Default for TreeWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl TreeWriter {
    /// Begins an empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Frontier::new(), Default::default())
    }

    /// Goes on where a frontier stands, with the unfinished tiles as they follow from what is stored.
    ///
    /// Reads at most 255 leaves, and 255 tiles on each level.
    ///
    /// # Errors
    /// Those of the store; [`RestoreError::Differs`] when the frontier is not that of the tiles and leaves.
    pub fn restore<S: TileStore>(frontier: Frontier, store: S) -> Result<Self, RestoreError<S::Error>> {
        let mut tiles = Tiled::new(store, frontier.size());
        let mut levels: [Vec<[u8; 32]>; TILE_LEVELS] = Default::default();
        for (level, hashes) in (0u8..).zip(&mut levels) {
            hashes.extend_from_slice(tiles.edge(level).map_err(RestoreError::Source)?);
            if !agrees(&frontier, level, hashes) {
                return Err(RestoreError::Differs { level });
            }
        }
        Ok(Self::of(frontier, levels))
    }

    fn of(frontier: Frontier, mut levels: [Vec<[u8; 32]>; TILE_LEVELS]) -> Self {
        for hashes in levels.iter_mut().take(2) {
            hashes.reserve(TILE_WIDTH - hashes.len());
        }
        Self { frontier, settled: frontier, levels }
    }

    /// Appends a leaf and returns the tiles that it filled: none, or one for each level from 0 up.
    pub fn push(&mut self, leaf: LeafHash) -> CompletedTiles<'_> {
        let levels = &mut self.levels;
        levels[0].push(leaf.0);
        self.frontier.push_and_tell(leaf, |level, hash| {
            let above = (level / TILE_HEIGHT) as usize;
            // A subtree of 2^64 leaves would have no tile to go to.
            if level % TILE_HEIGHT == 0
                && let Some(hashes) = levels.get_mut(above)
            {
                hashes.push(hash.0);
            }
        });
        CompletedTiles { writer: self, next: 0 }
    }

    /// Keeps what was pushed: the transaction has committed, or the next one begins.
    pub fn settle(&mut self) {
        for (level, hashes) in self.levels.iter_mut().enumerate() {
            let done = hashes.len() - edge_width(self.frontier.size(), level);
            hashes.drain(..done);
        }
        self.settled = self.frontier;
    }

    /// Forgets what was pushed since the last [`settle`](Self::settle).
    pub fn rollback(&mut self) {
        for (level, hashes) in self.levels.iter_mut().enumerate() {
            hashes.truncate(edge_width(self.settled.size(), level));
        }
        self.frontier = self.settled;
    }

    /// Returns the edge with everything pushed so far: what the frontier's row has to say at this commit.
    #[must_use]
    pub fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// Returns the number of leaves pushed so far.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.frontier.size()
    }

    /// Returns the root over everything pushed so far.
    #[must_use]
    pub fn root(&self) -> NodeHash {
        self.frontier.root()
    }

    /// Returns the hashes of the unfinished tile of a level, 32 bytes each; empty where there is none.
    #[must_use]
    pub fn edge(&self, level: u8) -> &[u8] {
        let level = usize::from(level);
        let Some(hashes) = self.levels.get(level) else { return &[] };
        hashes[hashes.len() - edge_width(self.size(), level)..].as_flattened()
    }
}

/// Returns whether the peaks on a tile level's eight levels of the tree are those of its unfinished tile.
fn agrees(frontier: &Frontier, level: u8, mut hashes: &[[u8; 32]]) -> bool {
    let lowest = TILE_HEIGHT as usize * usize::from(level);
    for height in (0..TILE_HEIGHT as usize).rev() {
        let Some(peak) = frontier.peak(lowest + height) else { continue };
        let Some((subtree, right)) = hashes.split_at_checked(1 << height) else { return false };
        if perfect_root(subtree) != peak {
            return false;
        }
        hashes = right;
    }
    hashes.is_empty()
}

/// The tiles that one leaf filled, from level 0 up.
#[derive(Debug)]
#[must_use = "a full tile belongs in the commit that fills it"]
pub struct CompletedTiles<'a> {
    writer: &'a TreeWriter,
    next: u8,
}

impl<'a> Iterator for CompletedTiles<'a> {
    type Item = Tile<'a>;

    fn next(&mut self) -> Option<Tile<'a>> {
        let level = self.next;
        let (size, span) = (self.writer.size(), TILE_HEIGHT * (u32::from(level) + 1));
        if size.trailing_zeros() < span {
            return None;
        }
        let hashes = self.writer.levels.get(usize::from(level))?;
        self.next += 1;
        let bytes = hashes[hashes.len() - TILE_WIDTH..].as_flattened();
        Some(Tile { level, index: (size >> span) - 1, bytes })
    }
}
