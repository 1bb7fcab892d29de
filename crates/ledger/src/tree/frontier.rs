//! The right edge of the tree: its size and the roots of the perfect subtrees it is made of.
//!
//! Owns the frontier row of the format. Knows no tiles. Invariant: there is one peak for each one bit of
//! the size, and every other slot is zero, so equal frontiers are equal bytes. Begin at [`Frontier::push`].

use super::{HASH_BYTES, NodeHash, node_hash};
use crate::leaf::LeafHash;

/// Leaves of a log, at most: what the entry's number holds in SQLite.
pub const LEAVES_MAX: u64 = i64::MAX as u64;

/// One slot for each bit of a size.
const PEAKS_MAX: usize = 64;

/// What has to be kept of a tree to go on appending to it. Copied cheaply: 2 KiB, no allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// By level: the root of 2^level leaves where that bit of the size is set.
    peaks: [NodeHash; PEAKS_MAX],
}

/// Why bytes are no frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrontierError {
    /// There is not one hash for each one bit of the size.
    #[error("the frontier's hashes do not fit its size")]
    Length,
    /// The size is above [`LEAVES_MAX`].
    #[error("the frontier's size is beyond every log")]
    Size,
}

impl Default for Frontier {
    fn default() -> Self {
        Self { size: 0, peaks: [NodeHash::default(); PEAKS_MAX] }
    }
}

impl Frontier {
    /// Returns the frontier of a tree without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of leaves.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf: one hash on average, one for each level at most. Below [`LEAVES_MAX`] only.
    pub fn push(&mut self, leaf: LeafHash) {
        self.push_and_tell(leaf, |_, _| {});
    }

    /// Appends a leaf and tells each perfect subtree that it finished above it, with its level.
    pub(super) fn push_and_tell(&mut self, leaf: LeafHash, mut finished: impl FnMut(u32, NodeHash)) {
        let mut carry = NodeHash::from(leaf);
        let levels = self.size.trailing_ones();
        for (level, peak) in (1..=levels).zip(&mut self.peaks) {
            carry = node_hash(std::mem::take(peak), carry);
            finished(level, carry);
        }
        self.peaks[levels as usize] = carry;
        self.size += 1;
    }

    /// Returns the root of the tree.
    #[must_use]
    pub fn root(&self) -> NodeHash {
        // Smallest first: each larger peak is the left sibling of all that lies right of it.
        let mut peaks = self.levels().map(|level| self.peaks[level]);
        let Some(smallest) = peaks.next() else { return NodeHash::EMPTY_TREE };
        peaks.fold(smallest, |right, left| node_hash(left, right))
    }

    /// Returns the peaks, largest first, 32 bytes each: the `hashes` of the frontier's row.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HASH_BYTES * self.size.count_ones() as usize);
        self.levels().rev().for_each(|level| bytes.extend_from_slice(&self.peaks[level].0));
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote.
    ///
    /// # Errors
    /// [`FrontierError::Length`] when the bytes are not one hash for each one bit of `size`;
    /// [`FrontierError::Size`] above [`LEAVES_MAX`].
    pub fn from_bytes(size: u64, bytes: &[u8]) -> Result<Self, FrontierError> {
        if size > LEAVES_MAX {
            return Err(FrontierError::Size);
        }
        let (hashes, rest) = bytes.as_chunks::<HASH_BYTES>();
        if !rest.is_empty() || hashes.len() != size.count_ones() as usize {
            return Err(FrontierError::Length);
        }
        let mut frontier = Self { size, ..Self::default() };
        for (level, hash) in frontier.levels().rev().zip(hashes) {
            frontier.peaks[level] = NodeHash(*hash);
        }
        Ok(frontier)
    }

    /// Returns the root of the perfect subtree of 2^level leaves at the edge, where the size has one.
    pub(super) fn peak(&self, level: usize) -> Option<NodeHash> {
        (self.size >> level & 1 == 1).then(|| self.peaks[level])
    }

    fn levels(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let size = self.size;
        (0..PEAKS_MAX).filter(move |level| size >> level & 1 == 1)
    }
}
