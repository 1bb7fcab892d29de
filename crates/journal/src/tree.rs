//! The Merkle tree's tables: full tiles and the frontier.
//!
//! Owns their rows, and filling them from the entries. Knows no hashing: that is the ledger's. Invariant: a
//! tile is written once, in the commit that fills it; the frontier's row is replaced in every commit.
//! Begin at [`stored`].

mod stored;

mod fill;

pub(crate) use fill::{fill, refill};
pub(crate) use stored::{StoredTiles, insert_tile, read_frontier, write_frontier};
