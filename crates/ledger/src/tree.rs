//! The Merkle tree over all leaves of the log (RFC 6962), kept as tiles and a frontier.
//!
//! Owns how leaves become a root, what of the tree is stored, and proofs with their verification. Knows no
//! database: stored tiles come through [`TileStore`], any other source through a closure. Invariant: the root
//! depends on the leaves and their order alone, whatever was stored, restored or rolled back on the way.
//!
//! Begin at [`TreeWriter::push`] for writing, at [`inclusion_proof`] for proofs.

mod frontier;
mod writer;
mod tiled;
mod proof;
mod verify;
mod path;

#[cfg(test)]
mod tests;

use std::fmt;

use sha2::{Digest, Sha256};

pub use frontier::{Frontier, FrontierError, LEAVES_MAX};
pub use path::{entries_path, tile_path};
pub use proof::{ProofError, Subtree, consistency_proof, inclusion_proof, root_at};
pub use tiled::{TileStore, Tiled, TiledError};
pub use verify::{ProofRefused, SizedRoot, verify_consistency, verify_inclusion};
pub use writer::{CompletedTiles, RestoreError, Tile, TreeWriter};

use crate::domains::NODE_PREFIX;
use crate::leaf::LeafHash;

/// Hashes in a full tile.
pub const TILE_WIDTH: usize = 256;
/// Bytes of a full tile.
pub const TILE_BYTES: usize = TILE_WIDTH * HASH_BYTES;
/// Levels of the tree that one level of tiles spans.
const TILE_HEIGHT: u32 = 8;
/// Levels of tiles that a tree of 2^64 leaves has.
const TILE_LEVELS: usize = 8;
const HASH_BYTES: usize = 32;

/// Hash of a subtree or of the whole tree; that of a single leaf's subtree is the leaf's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NodeHash(pub [u8; 32]);

impl NodeHash {
    /// The root of a tree without leaves: SHA-256 of nothing.
    pub const EMPTY_TREE: Self = Self([
        0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27,
        0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
    ]);
}

impl From<LeafHash> for NodeHash {
    fn from(leaf: LeafHash) -> Self {
        Self(leaf.0)
    }
}

impl fmt::Debug for NodeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().take(6).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Returns SHA-256(0x01 || left || right).
#[must_use]
pub fn node_hash(left: NodeHash, right: NodeHash) -> NodeHash {
    let mut joined = [NODE_PREFIX; 1 + 2 * HASH_BYTES];
    joined[1..=HASH_BYTES].copy_from_slice(&left.0);
    joined[1 + HASH_BYTES..].copy_from_slice(&right.0);
    NodeHash(Sha256::digest(joined).into())
}

/// Returns how many hashes the unfinished tile of a level has.
fn edge_width(size: u64, level: usize) -> usize {
    ((size >> (TILE_HEIGHT * level as u32)) % TILE_WIDTH as u64) as usize
}

/// Returns the root over the hashes of a perfect subtree: a power of two, at least one.
fn perfect_root(hashes: &[[u8; 32]]) -> NodeHash {
    match hashes {
        [one] => NodeHash(*one),
        more => {
            let (left, right) = more.split_at(more.len() / 2);
            node_hash(perfect_root(left), perfect_root(right))
        }
    }
}
