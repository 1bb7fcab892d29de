//! Verification of proofs (RFC 9162, 2.1.3.2 and 2.1.4.2), by whoever holds roots and no tree.
//!
//! Owns what is refused and why. Invariant: a proof has exactly one length for its sizes, and every hash of
//! it takes part in the result. Begin at [`verify_inclusion`].

use super::{NodeHash, node_hash};
use crate::leaf::LeafHash;

/// Why a proof proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofRefused {
    /// A tree of this size has no leaf of this index.
    #[error("the tree has no leaf of this index")]
    IndexOutside,
    /// The old size is zero, which every tree extends, or above the new one.
    #[error("an older tree has at least one leaf and no more than the newer")]
    SizesOutOfOrder,
    /// It has more or fewer hashes than its sizes ask for.
    #[error("the proof has another length than its sizes ask for")]
    Length,
    /// Another root follows from it.
    #[error("the proof leads to another root")]
    Root,
}

/// Checks that `leaf` is number `index` of the tree of `size` leaves with this root.
///
/// # Errors
/// Names what is wrong with the proof.
pub fn verify_inclusion(
    leaf: LeafHash,
    index: u64,
    size: u64,
    proof: &[NodeHash],
    root: NodeHash,
) -> Result<(), ProofRefused> {
    if index >= size {
        return Err(ProofRefused::IndexOutside);
    }
    let (mut at, mut last) = (index, size - 1);
    let mut hash = NodeHash::from(leaf);
    for sibling in proof {
        if last == 0 {
            return Err(ProofRefused::Length);
        }
        if is_left_sibling(&mut at, &mut last) {
            hash = node_hash(*sibling, hash);
        } else {
            hash = node_hash(hash, *sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    if last != 0 {
        return Err(ProofRefused::Length);
    }
    if hash == root { Ok(()) } else { Err(ProofRefused::Root) }
}

/// How many leaves a tree has, and its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizedRoot {
    /// The number of leaves.
    pub size: u64,
    /// The hash over all of them.
    pub root: NodeHash,
}

impl SizedRoot {
    /// Makes the head of a tree of `size` leaves.
    #[must_use]
    pub fn new(size: u64, root: NodeHash) -> Self {
        Self { size, root }
    }
}

/// Checks that the tree of `new` leaves begins with the leaves of the tree of `old`.
///
/// # Errors
/// Names what is wrong with the proof. An empty old tree is refused: nothing has to be proved about it.
pub fn verify_consistency(old: SizedRoot, new: SizedRoot, proof: &[NodeHash]) -> Result<(), ProofRefused> {
    let SizedRoot { size: old_size, root: old_root } = old;
    let SizedRoot { size: new_size, root: new_root } = new;
    if old_size == 0 || old_size > new_size {
        return Err(ProofRefused::SizesOutOfOrder);
    }
    if old_size == new_size {
        return match proof {
            [] if old_root == new_root => Ok(()),
            [] => Err(ProofRefused::Root),
            [_, ..] => Err(ProofRefused::Length),
        };
    }
    // The old tree is one perfect subtree: its root is the first hash, and left out of the proof.
    let (first, rest) = if old_size.is_power_of_two() {
        (old_root, proof)
    } else {
        proof.split_first().map(|(first, rest)| (*first, rest)).ok_or(ProofRefused::Length)?
    };
    let shared = (old_size - 1).trailing_ones();
    let (mut at, mut last) = ((old_size - 1) >> shared, (new_size - 1) >> shared);
    let (mut from_old, mut from_new) = (first, first);
    for sibling in rest {
        if last == 0 {
            return Err(ProofRefused::Length);
        }
        if is_left_sibling(&mut at, &mut last) {
            from_old = node_hash(*sibling, from_old);
            from_new = node_hash(*sibling, from_new);
        } else {
            from_new = node_hash(from_new, *sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    if last != 0 {
        return Err(ProofRefused::Length);
    }
    if from_old == old_root && from_new == new_root { Ok(()) } else { Err(ProofRefused::Root) }
}

/// Returns whether the next hash stands to the left, after climbing the levels on which the last node of an
/// incomplete tree has no sibling. `last` is above zero.
fn is_left_sibling(at: &mut u64, last: &mut u64) -> bool {
    if *at & 1 == 1 {
        return true;
    }
    if at != last {
        return false;
    }
    let alone = at.trailing_zeros();
    (*at, *last) = (*at >> alone, *last >> alone);
    true
}
