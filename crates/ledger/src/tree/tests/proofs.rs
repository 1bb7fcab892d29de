//! Roots and proofs: known values, the naive model, and every bit flipped.

use proptest::prelude::*;

use super::super::*;
use super::model;
use crate::leaf::leaf_hash;

/// The root and proofs of any size from leaves in memory.
fn source(leaves: &[LeafHash]) -> impl FnMut(Subtree) -> Result<NodeHash, &'static str> {
    move |subtree| {
        let first = (subtree.index << subtree.level) as usize;
        leaves.get(first..first + (1 << subtree.level)).map(model::root).ok_or("outside")
    }
}

fn hex(hash: NodeHash) -> String {
    hash.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The leaves that Certificate Transparency's own implementations are tested with.
fn known_leaves() -> Vec<LeafHash> {
    let inputs: [&[u8]; 8] = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ];
    inputs.iter().map(|input| leaf_hash(input)).collect()
}

#[test]
fn the_roots_are_those_of_certificate_transparency() {
    let expected = [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let leaves = known_leaves();
    let mut frontier = Frontier::new();
    for (size, expected) in expected.iter().enumerate() {
        assert_eq!(hex(frontier.root()), *expected, "size {size}");
        assert_eq!(root_at(size as u64, source(&leaves)), Ok(frontier.root()));
        if let Some(leaf) = leaves.get(size) {
            frontier.push(*leaf);
        }
    }
}

#[test]
fn every_proof_of_small_trees_is_that_of_rfc_6962_and_holds() {
    let leaves = model::leaves(70);
    for size in 1..=leaves.len() {
        let now = &leaves[..size];
        let root = model::root(now);
        for index in 0..size {
            let proof = inclusion_proof(index as u64, size as u64, source(now)).expect("a proof");
            assert_eq!(proof, model::path(index, now));
            assert_eq!(verify_inclusion(now[index], index as u64, size as u64, &proof, root), Ok(()));
        }
        for old in 1..=size {
            let proof = consistency_proof(old as u64, size as u64, source(now)).expect("a proof");
            assert_eq!(proof, model::proof(old, now));
            let before = SizedRoot::new(old as u64, model::root(&now[..old]));
            assert_eq!(verify_consistency(before, SizedRoot::new(size as u64, root), &proof), Ok(()));
        }
    }
}

#[test]
fn what_cannot_be_proved_is_refused_by_name() {
    let leaves = model::leaves(5);
    let root = model::root(&leaves);
    let inside = |index, size| inclusion_proof(index, size, source(&leaves));
    assert_eq!(inside(5, 5), Err(ProofError::IndexOutside));
    assert_eq!(inside(0, 0), Err(ProofError::IndexOutside));
    assert_eq!(inside(0, 8), Err(ProofError::Source("outside")));
    let extends = |old, new| consistency_proof(old, new, source(&leaves));
    assert_eq!(extends(0, 5), Err(ProofError::SizesOutOfOrder));
    assert_eq!(extends(5, 4), Err(ProofError::SizesOutOfOrder));
    assert_eq!(extends(5, 5), Ok(Vec::new()));
    assert_eq!(root_at(6, source(&leaves)), Err("outside"));

    let empty = SizedRoot::new(0, NodeHash::EMPTY_TREE);
    assert_eq!(verify_consistency(empty, SizedRoot::new(5, root), &[]), Err(ProofRefused::SizesOutOfOrder));
    assert_eq!(verify_consistency(empty, empty, &[]), Err(ProofRefused::SizesOutOfOrder));
    assert_eq!(
        verify_consistency(SizedRoot::new(6, root), SizedRoot::new(5, root), &[]),
        Err(ProofRefused::SizesOutOfOrder)
    );
    assert_eq!(
        verify_consistency(SizedRoot::new(5, root), SizedRoot::new(5, root), &[root]),
        Err(ProofRefused::Length)
    );
    assert_eq!(
        verify_consistency(SizedRoot::new(5, root), SizedRoot::new(5, NodeHash([1; 32])), &[]),
        Err(ProofRefused::Root)
    );
    assert_eq!(verify_inclusion(leaves[0], 5, 5, &[], root), Err(ProofRefused::IndexOutside));
    assert_eq!(verify_inclusion(leaves[0], 0, 5, &[], root), Err(ProofRefused::Length));
    assert_eq!(verify_inclusion(leaves[0], 0, 1, &[], root), Err(ProofRefused::Root));
}

#[test]
fn the_largest_sizes_neither_overflow_nor_loop() {
    let proof = inclusion_proof(u64::MAX - 1, u64::MAX, |_| Ok::<_, ()>(NodeHash([7; 32]))).expect("a proof");
    let leaf = LeafHash([7; 32]);
    assert_eq!(
        verify_inclusion(leaf, u64::MAX - 1, u64::MAX, &proof, NodeHash([7; 32])),
        Err(ProofRefused::Root)
    );
    let root = root_at(u64::MAX, |_| Ok::<_, ()>(NodeHash([7; 32]))).expect("a root");
    assert_eq!(verify_inclusion(leaf, u64::MAX - 1, u64::MAX, &proof, root), Ok(()));
    let proof = consistency_proof(1 << 63, u64::MAX, |_| Ok::<_, ()>(NodeHash([7; 32]))).expect("a proof");
    let old = SizedRoot::new(1 << 63, NodeHash([7; 32]));
    assert_eq!(verify_consistency(old, SizedRoot::new(u64::MAX, root), &proof), Ok(()));
}

/// Every way to change one bit of a list of hashes, to drop one, and to add one.
fn damaged(proof: &[NodeHash], bit: usize) -> Vec<Vec<NodeHash>> {
    let mut all = vec![[proof, &[NodeHash::EMPTY_TREE]].concat(), [&[NodeHash::EMPTY_TREE], proof].concat()];
    for at in 0..proof.len() {
        let mut flipped = proof.to_vec();
        flipped[at].0[bit / 8 % 32] ^= 1 << (bit % 8);
        let mut shorter = proof.to_vec();
        shorter.remove(at);
        let mut twice = proof.to_vec();
        twice.insert(at, proof[at]);
        all.extend([flipped, shorter, twice]);
    }
    all
}

fn flip(hash: NodeHash, bit: usize) -> NodeHash {
    let mut flipped = hash;
    flipped.0[bit / 8 % 32] ^= 1 << (bit % 8);
    flipped
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_inclusion_proof_holds_for_its_leaf_place_and_root_alone(
        size in 1usize..1_500, at in any::<prop::sample::Index>(), bit in 0usize..256
    ) {
        let (leaves, index) = (model::leaves(size), at.index(size));
        let (leaf, root) = (leaves[index], model::root(&leaves));
        let (at, size) = (index as u64, size as u64);
        let proof = inclusion_proof(at, size, source(&leaves)).expect("a proof");
        prop_assert_eq!(verify_inclusion(leaf, at, size, &proof, root), Ok(()));
        for damaged in damaged(&proof, bit) {
            prop_assert!(verify_inclusion(leaf, at, size, &damaged, root).is_err());
        }
        let other = LeafHash(flip(leaf.into(), bit).0);
        prop_assert!(verify_inclusion(other, at, size, &proof, root).is_err());
        prop_assert!(verify_inclusion(leaf, at, size, &proof, flip(root, bit)).is_err());
        prop_assert!(verify_inclusion(leaf, at ^ 1 << (bit % 64), size, &proof, root).is_err());
    }

    #[test]
    fn a_consistency_proof_holds_for_its_two_trees_alone(
        new in 2usize..1_500, at in any::<prop::sample::Index>(), bit in 0usize..256
    ) {
        let (leaves, old) = (model::leaves(new), 1 + at.index(new - 1));
        let (before, after) = (model::root(&leaves[..old]), model::root(&leaves));
        let (old, new) = (old as u64, new as u64);
        let proof = consistency_proof(old, new, source(&leaves)).expect("a proof");
        prop_assert_eq!(verify_consistency(SizedRoot::new(old, before), SizedRoot::new(new, after), &proof), Ok(()));
        for damaged in damaged(&proof, bit) {
            prop_assert!(verify_consistency(SizedRoot::new(old, before), SizedRoot::new(new, after), &damaged).is_err());
        }
        prop_assert!(verify_consistency(SizedRoot::new(old, flip(before, bit)), SizedRoot::new(new, after), &proof).is_err());
        prop_assert!(verify_consistency(SizedRoot::new(old, before), SizedRoot::new(new, flip(after, bit)), &proof).is_err());
        prop_assert!(verify_consistency(SizedRoot::new(new, after), SizedRoot::new(old, before), &proof).is_err());
    }

    #[test]
    fn every_prefix_has_the_frontier_and_root_of_its_leaves(size in 0usize..700) {
        let leaves = model::leaves(size);
        let mut frontier = Frontier::new();
        leaves.iter().for_each(|leaf| frontier.push(*leaf));
        prop_assert_eq!(frontier.root(), model::root(&leaves));
        let bytes = frontier.to_bytes();
        prop_assert_eq!(bytes.len(), 32 * (size as u64).count_ones() as usize);
        prop_assert_eq!(Frontier::from_bytes(size as u64, &bytes), Ok(frontier));
        prop_assert_eq!(Frontier::from_bytes(size as u64, &[&bytes[..], &[0]].concat()), Err(FrontierError::Length));
        prop_assert_eq!(Frontier::from_bytes(2 * size as u64 + 1, &bytes), Err(FrontierError::Length));
    }
}
