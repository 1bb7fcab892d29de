//! RFC 6962 word for word, over a slice of leaves; slow and obvious.

use super::super::{NodeHash, TileStore, TreeWriter, node_hash};
use crate::leaf::{LeafHash, leaf_hash};

/// Returns leaves that differ from each other.
pub(super) fn leaves(count: usize) -> Vec<LeafHash> {
    (0..count as u64).map(|i| leaf_hash(&i.to_be_bytes())).collect()
}

/// MTH of RFC 6962, 2.1.
pub(super) fn root(leaves: &[LeafHash]) -> NodeHash {
    match leaves {
        [] => NodeHash::EMPTY_TREE,
        [leaf] => NodeHash::from(*leaf),
        more => {
            let (left, right) = more.split_at(split(more.len()));
            node_hash(root(left), root(right))
        }
    }
}

/// PATH of RFC 6962, 2.1.1.
pub(super) fn path(at: usize, leaves: &[LeafHash]) -> Vec<NodeHash> {
    if leaves.len() <= 1 {
        return Vec::new();
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    let (mut path, sibling) =
        if at < left.len() { (path(at, left), right) } else { (path(at - left.len(), right), left) };
    path.push(root(sibling));
    path
}

/// PROOF of RFC 6962, 2.1.2.
pub(super) fn proof(old: usize, leaves: &[LeafHash]) -> Vec<NodeHash> {
    subproof(old, leaves, Whole::Yes)
}

#[derive(Clone, Copy, PartialEq)]
enum Whole {
    Yes,
    No,
}

fn subproof(old: usize, leaves: &[LeafHash], whole: Whole) -> Vec<NodeHash> {
    if old == leaves.len() {
        return if whole == Whole::Yes { Vec::new() } else { vec![root(leaves)] };
    }
    let (left, right) = leaves.split_at(split(leaves.len()));
    let (mut proof, sibling) = if old <= left.len() {
        (subproof(old, left, whole), right)
    } else {
        (subproof(old - left.len(), right, Whole::No), left)
    };
    proof.push(root(sibling));
    proof
}

fn split(count: usize) -> usize {
    count.next_power_of_two() / 2
}

/// What a journal stores of a tree.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Stored {
    pub(super) leaves: Vec<LeafHash>,
    pub(super) tiles: Vec<((u8, u64), Vec<u8>)>,
}

impl Stored {
    /// Pushes leaves as one transaction would, and stores the tiles that they fill.
    pub(super) fn push(&mut self, tree: &mut TreeWriter, leaves: &[LeafHash]) {
        for leaf in leaves {
            self.leaves.push(*leaf);
            for tile in tree.push(*leaf) {
                self.tiles.push(((tile.level, tile.index), tile.bytes.to_vec()));
            }
        }
    }
}

/// What the model's store never says.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("broken")]
pub(super) struct Broken;

impl TileStore for Stored {
    type Error = Broken;

    fn tile(&mut self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Broken> {
        Ok(self.tiles.iter().find(|(at, _)| *at == (level, index)).map(|(_, bytes)| bytes.clone()))
    }

    fn leaves(&mut self, first: u64, count: usize) -> Result<Vec<LeafHash>, Broken> {
        Ok(self.leaves.iter().skip(first as usize).take(count).copied().collect())
    }
}
