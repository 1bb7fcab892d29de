//! Three implementations by other people agree with ours, byte for byte, in both directions.
//!
//! Owns the comparison only. `signed_note` reads and writes notes, `tlog_tiles` checkpoints and tiles,
//! `ct-merkle` roots and proofs.

mod notes;
mod proofs;
mod tiles;

use palyra_ledger::{LeafHash, leaf_hash};

/// What the leaves are made of: entries that differ from each other and are not all of one length.
fn entries(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|i| format!("entry {i}").into_bytes()).collect()
}

fn leaves(count: usize) -> Vec<LeafHash> {
    entries(count).iter().map(|entry| leaf_hash(entry)).collect()
}
