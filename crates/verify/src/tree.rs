//! The Merkle tree over the leaves, of which only the right edge is kept.
//!
//! Owns the hashing of docs/journal-format.md, section 3: frontier, root, tiles, inclusion proofs. Knows no table.

use crate::digest::{Hash, node, sha256};

/// Hashes of one tile.
pub(crate) const TILE_HASHES: usize = 256;

/// The roots of the perfect subtrees that a tree is made of, largest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TreeFrontier {
    size: u64,
    hashes: Vec<Hash>,
}

impl TreeFrontier {
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    pub(crate) fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Adds a leaf at the right.
    pub(crate) fn push(&mut self, leaf: Hash) {
        let mut right = leaf;
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.hashes.pop() {
                right = node(&left, &right);
            }
        }
        self.hashes.push(right);
        self.size += 1;
    }

    /// Returns the root of the tree.
    pub(crate) fn root(&self) -> Hash {
        let folded = self.hashes.iter().rev().copied().reduce(|right, left| node(&left, &right));
        folded.unwrap_or_else(|| sha256(&[]))
    }
}

/// A tile that has just become full.
#[derive(Debug)]
pub(crate) struct FullTile {
    pub(crate) level: u32,
    pub(crate) index: u64,
    pub(crate) hashes: Vec<u8>,
}

/// Tiles in the making, one for each level.
#[derive(Debug, Default)]
pub(crate) struct TreeTiles {
    levels: Vec<(u64, Vec<Hash>)>,
}

impl TreeTiles {
    /// Adds a leaf and returns the tiles that became full by it, lowest level first.
    pub(crate) fn push(&mut self, leaf: Hash) -> Vec<FullTile> {
        let mut full = Vec::new();
        let mut next = Some(leaf);
        for level in 0_u32.. {
            let Some(hash) = next.take() else { break };
            let at = level as usize;
            if self.levels.len() == at {
                self.levels.push((0, Vec::with_capacity(TILE_HASHES)));
            }
            let (index, hashes) = &mut self.levels[at];
            hashes.push(hash);
            if hashes.len() == TILE_HASHES {
                full.push(FullTile { level, index: *index, hashes: hashes.concat() });
                next = Some(perfect_root(hashes));
                *index += 1;
                hashes.clear();
            }
        }
        full
    }
}

/// Returns how many leaves a hash at `level` of the tiles stands for; `None` above any possible tree.
pub(crate) fn leaves_below(level: u64) -> Option<u64> {
    (level < 8).then(|| 1_u64 << (8 * level))
}

fn perfect_root(hashes: &[Hash]) -> Hash {
    let mut edge = TreeFrontier::default();
    for hash in hashes {
        edge.push(*hash);
    }
    edge.root()
}

/// Returns the root that an inclusion proof of `leaf` at `index` in a tree of `size` leads to (RFC 9162, 2.1.3.2);
/// `None` where the proof has another length than such a proof.
pub(crate) fn root_of_inclusion(leaf: Hash, index: u64, size: u64, proof: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    let (mut at, mut last, mut root) = (index, size - 1, leaf);
    for hash in proof {
        if last == 0 {
            return None;
        }
        if at & 1 == 1 || at == last {
            root = node(hash, &root);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            root = node(&root, hash);
        }
        at >>= 1;
        last >>= 1;
    }
    (last == 0).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(n: u64) -> Hash {
        sha256(&[&n.to_be_bytes()])
    }

    /// RFC 6962's own definition, by halves.
    fn root(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => sha256(&[]),
            [one] => *one,
            more => {
                let (left, right) = more.split_at(more.len().next_power_of_two() / 2);
                node(&root(left), &root(right))
            }
        }
    }

    fn proof(leaves: &[Hash], index: usize) -> Vec<Hash> {
        if leaves.len() < 2 {
            return Vec::new();
        }
        let half = leaves.len().next_power_of_two() / 2;
        let (left, right) = leaves.split_at(half);
        let (mut below, beside) = if index < half {
            (proof(left, index), root(right))
        } else {
            (proof(right, index - half), root(left))
        };
        below.push(beside);
        below
    }

    #[test]
    fn the_edge_and_the_proofs_agree_with_the_definition() {
        let mut edge = TreeFrontier::default();
        let mut leaves = Vec::new();
        assert_eq!(edge.root(), root(&[]));
        for n in 0..70 {
            leaves.push(leaf(n));
            edge.push(leaf(n));
            assert_eq!((edge.size(), edge.root()), (n + 1, root(&leaves)));
            assert_eq!(edge.hashes().len(), (n + 1).count_ones() as usize);
            for (index, leaf) in (0..).zip(&leaves) {
                let mut path = proof(&leaves, index as usize);
                assert_eq!(root_of_inclusion(*leaf, index, n + 1, &path), Some(edge.root()));
                path.push(*leaf);
                assert_eq!(root_of_inclusion(*leaf, index, n + 1, &path), None);
            }
        }
    }

    #[test]
    fn tiles_fill_from_below() {
        let mut tiles = TreeTiles::default();
        let full: Vec<FullTile> = (0..65_536).flat_map(|n| tiles.push(leaf(n))).collect();
        let top = full.last().expect("256 of level 0 and one above");
        assert_eq!((full.len(), top.level, top.index, top.hashes.len()), (257, 1, 0, 8192));
        let leaves: Vec<Hash> = (0..256).map(leaf).collect();
        assert_eq!(top.hashes[..32], root(&leaves));
    }
}
