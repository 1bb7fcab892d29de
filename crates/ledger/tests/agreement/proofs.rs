//! Roots and proofs, against `ct-merkle`.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ct_merkle::{ConsistencyProof, InclusionProof, RootHash};
use palyra_ledger::tree::{
    SizedRoot, Subtree, consistency_proof, inclusion_proof, root_at, verify_consistency, verify_inclusion,
};
use palyra_ledger::{Frontier, LeafHash, NodeHash};
use proptest::prelude::*;
use sha2::Sha256;

use super::{entries, leaves};

type Tree = MemoryBackedTree<Sha256, Vec<u8>>;

fn tree(count: usize) -> Tree {
    let mut tree = Tree::new();
    entries(count).into_iter().for_each(|entry| tree.push(entry));
    tree
}

fn frontier(leaves: &[LeafHash]) -> Frontier {
    let mut frontier = Frontier::new();
    leaves.iter().for_each(|leaf| frontier.push(*leaf));
    frontier
}

fn source(leaves: &[LeafHash]) -> impl FnMut(Subtree) -> Result<NodeHash, ()> {
    move |subtree| {
        let first = (subtree.index << subtree.level) as usize;
        leaves.get(first..first + (1 << subtree.level)).map(|below| frontier(below).root()).ok_or(())
    }
}

fn bytes(proof: &[NodeHash]) -> Vec<u8> {
    proof.iter().flat_map(|hash| hash.0).collect()
}

fn hashes(bytes: &[u8]) -> Vec<NodeHash> {
    bytes.as_chunks().0.iter().map(|hash| NodeHash(*hash)).collect()
}

fn their_root(root: NodeHash, size: usize) -> RootHash<Sha256> {
    RootHash::new(root.0.into(), size as u64)
}

#[test]
fn every_root_of_small_trees_is_the_same() {
    let (leaves, mut theirs, mut ours) = (leaves(300), Tree::new(), Frontier::new());
    for (entry, leaf) in entries(300).into_iter().zip(leaves) {
        assert_eq!(ours.root().0[..], theirs.root().as_bytes()[..]);
        theirs.push(entry);
        ours.push(leaf);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn inclusion_proofs_are_the_same_and_cross_verify(
        size in 1usize..2_000, at in any::<prop::sample::Index>()
    ) {
        let (index, leaves, tree) = (at.index(size), leaves(size), tree(size));
        let root = root_at(size as u64, source(&leaves)).expect("a root");
        prop_assert!(root.0[..] == tree.root().as_bytes()[..]);
        let ours = inclusion_proof(index as u64, size as u64, source(&leaves)).expect("a proof");
        let theirs = tree.prove_inclusion(index);
        prop_assert_eq!(&bytes(&ours)[..], theirs.as_bytes());
        let verified =
            verify_inclusion(leaves[index], index as u64, size as u64, &hashes(theirs.as_bytes()), root);
        prop_assert_eq!(verified, Ok(()));
        let ours = InclusionProof::try_from_bytes(bytes(&ours)).expect("whole hashes");
        let entry = &entries(size)[index];
        prop_assert!(their_root(root, size).verify_inclusion(entry, index as u64, &ours).is_ok());
    }

    #[test]
    fn consistency_proofs_are_the_same_and_cross_verify(
        size in 1usize..2_000, at in any::<prop::sample::Index>()
    ) {
        let (old, leaves, tree) = (1 + at.index(size), leaves(size), tree(size));
        let [before, after] = [old, size].map(|size| root_at(size as u64, source(&leaves)).expect("a root"));
        let ours = consistency_proof(old as u64, size as u64, source(&leaves)).expect("a proof");
        let theirs = tree.prove_consistency(size - old);
        prop_assert_eq!(&bytes(&ours)[..], theirs.as_bytes());
        let older = SizedRoot::new(old as u64, before);
        let newer = SizedRoot::new(size as u64, after);
        prop_assert_eq!(verify_consistency(older, newer, &hashes(theirs.as_bytes())), Ok(()));
        let ours = ConsistencyProof::try_from_bytes(bytes(&ours)).expect("whole hashes");
        let verified = their_root(after, size).verify_consistency(&their_root(before, old), &ours);
        prop_assert!(verified.is_ok());
    }
}
