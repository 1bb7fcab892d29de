//! Proofs out of a tree: that it holds a leaf, that it extends an older one (RFC 6962, 2.1.1 and 2.1.2).
//!
//! Owns which hashes a proof needs and in which order. Knows no storage: the caller's closure returns the
//! root of any perfect subtree. Invariant: only perfect subtrees of leaves below the given size are asked for.
//! Begin at [`inclusion_proof`].

use super::{NodeHash, node_hash};

/// A perfect subtree: the leaves from `index << level` on, `1 << level` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subtree {
    /// Its height; 0 is a single leaf.
    pub level: u8,
    /// Which of its level, from 0.
    pub index: u64,
}

/// Why there is no proof.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError<E> {
    /// The tree has no leaf of this index.
    #[error("the tree has no leaf of this index")]
    IndexOutside,
    /// The old size is zero, or above the new one.
    #[error("an older tree has at least one leaf and no more than the newer")]
    SizesOutOfOrder,
    /// A subtree's hash could not be had.
    #[error("could not read the tree")]
    Source(E),
}

/// Returns the path from leaf `index` to the root of the first `size` leaves, lowest first.
///
/// # Errors
/// [`ProofError::IndexOutside`], or the source's own.
pub fn inclusion_proof<E>(
    index: u64,
    size: u64,
    mut source: impl FnMut(Subtree) -> Result<NodeHash, E>,
) -> Result<Vec<NodeHash>, ProofError<E>> {
    if index >= size {
        return Err(ProofError::IndexOutside);
    }
    let mut proof = Vec::new();
    let (mut begin, mut end) = (0, size);
    while end - begin > 1 {
        let middle = begin + split(end - begin);
        if index < middle {
            proof.push(range_root(middle, end, &mut source).map_err(ProofError::Source)?);
            end = middle;
        } else {
            proof.push(range_root(begin, middle, &mut source).map_err(ProofError::Source)?);
            begin = middle;
        }
    }
    proof.reverse();
    Ok(proof)
}

/// Returns what proves that the first `new` leaves begin with the first `old`; empty for equal sizes.
///
/// # Errors
/// [`ProofError::SizesOutOfOrder`] unless `0 < old <= new`, or the source's own.
pub fn consistency_proof<E>(
    old: u64,
    new: u64,
    mut source: impl FnMut(Subtree) -> Result<NodeHash, E>,
) -> Result<Vec<NodeHash>, ProofError<E>> {
    if old == 0 || old > new {
        return Err(ProofError::SizesOutOfOrder);
    }
    let mut proof = Vec::new();
    let (mut begin, mut end) = (0, new);
    while end != old {
        let middle = begin + split(end - begin);
        if old <= middle {
            proof.push(range_root(middle, end, &mut source).map_err(ProofError::Source)?);
            end = middle;
        } else {
            proof.push(range_root(begin, middle, &mut source).map_err(ProofError::Source)?);
            begin = middle;
        }
    }
    // From the first leaf on it is the old tree itself, whose root the verifier has.
    if begin > 0 {
        proof.push(range_root(begin, end, &mut source).map_err(ProofError::Source)?);
    }
    proof.reverse();
    Ok(proof)
}

/// Returns the root of the first `size` leaves.
///
/// # Errors
/// The source's own.
pub fn root_at<E>(size: u64, mut source: impl FnMut(Subtree) -> Result<NodeHash, E>) -> Result<NodeHash, E> {
    if size == 0 { Ok(NodeHash::EMPTY_TREE) } else { range_root(0, size, &mut source) }
}

/// Returns the root over leaves `begin..end`, where `begin` is a multiple of the largest power of two below
/// their number: at most one subtree for each one bit of it.
fn range_root<E>(
    mut begin: u64,
    end: u64,
    source: &mut impl FnMut(Subtree) -> Result<NodeHash, E>,
) -> Result<NodeHash, E> {
    let mut peaks = Vec::new();
    while begin < end {
        let level = (end - begin).ilog2();
        peaks.push(source(Subtree { level: level as u8, index: begin >> level })?);
        begin += 1 << level;
    }
    let mut peaks = peaks.into_iter().rev();
    let Some(smallest) = peaks.next() else { return Ok(NodeHash::EMPTY_TREE) };
    Ok(peaks.fold(smallest, |right, left| node_hash(left, right)))
}

/// Returns the largest power of two below `count`, which is at least two.
fn split(count: u64) -> u64 {
    1 << (count - 1).ilog2()
}
