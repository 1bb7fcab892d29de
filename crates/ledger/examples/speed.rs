//! How long the tree, a proof and a signature take on this machine.
//!
//! Owns a quick look, not a benchmark: one run, one thread, wall time. Run it with
//! `cargo run --release -p palyra-ledger --example speed`.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program of its own, which measures")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

use palyra_ledger::tree::{TileStore, Tiled, inclusion_proof, verify_inclusion};
use palyra_ledger::{Checkpoint, CheckpointNote, EpochKey, LeafHash, TreeWriter, leaf_hash, log_id};

/// Leaves of the measured log: its unfinished tiles are as wide as they get.
const LEAVES: u64 = (1 << 20) - 1;
/// Leaves of one transaction.
const GROUP: u64 = 256;
const ENVELOPE_BYTES: usize = 256;
const SIGNATURES: u32 = 2_000;

struct Memory {
    leaves: Vec<LeafHash>,
    tiles: BTreeMap<(u8, u64), Vec<u8>>,
}

impl TileStore for &Memory {
    type Error = Infallible;

    fn tile(&mut self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Infallible> {
        Ok(self.tiles.get(&(level, index)).cloned())
    }

    fn leaves(&mut self, first: u64, count: usize) -> Result<Vec<LeafHash>, Infallible> {
        Ok(self.leaves.iter().skip(first as usize).take(count).copied().collect())
    }
}

fn main() {
    let mut envelope = [0; ENVELOPE_BYTES];
    let began = Instant::now();
    let leaves: Vec<LeafHash> = (0..LEAVES)
        .map(|seq| {
            envelope[..8].copy_from_slice(&seq.to_be_bytes());
            leaf_hash(&envelope)
        })
        .collect();
    rate("leaves hashed, of 256 bytes", LEAVES, began);

    let (mut tree, mut tiles) = (TreeWriter::new(), BTreeMap::new());
    let began = Instant::now();
    for leaf in &leaves {
        for tile in tree.push(*leaf) {
            tiles.insert((tile.level, tile.index), tile.bytes.to_vec());
        }
        if tree.size() % GROUP == 0 {
            black_box(tree.frontier().to_bytes());
            tree.settle();
        }
    }
    rate("pushes, settled each 256", LEAVES, began);
    let began = Instant::now();
    for _ in 0..LEAVES / GROUP {
        black_box(tree.frontier().to_bytes());
        tree.settle();
    }
    each("frontier row and settle", LEAVES / GROUP, began);

    let memory = Memory { leaves, tiles };
    let began = Instant::now();
    let restored = TreeWriter::restore(*tree.frontier(), &memory).expect("its own tiles");
    each("restore at the widest edge", 1, began);
    assert_eq!(restored.root(), tree.root());
    proofs(&memory, &tree);
    signatures(&tree);
}

fn proofs(memory: &Memory, tree: &TreeWriter) {
    let mut tiles = Tiled::new(memory, LEAVES);
    let mut prove = |seq: u64| inclusion_proof(seq, LEAVES, |subtree| tiles.hash(subtree)).expect("a proof");
    let began = Instant::now();
    black_box(prove(LEAVES / 2));
    each("first proof of a size", 1, began);
    let began = Instant::now();
    (0..1_000).for_each(|seq| drop(black_box(prove(seq * 700))));
    each("each further proof", 1_000, began);
    let proof = prove(7);
    let began = Instant::now();
    for _ in 0..10_000 {
        let verified = verify_inclusion(memory.leaves[7], 7, LEAVES, &proof, tree.root());
        assert_eq!(black_box(verified), Ok(()));
    }
    each("a proof verified", 10_000, began);
}

fn signatures(tree: &TreeWriter) {
    let key = EpochKey::from_entropy([1; 32]);
    let log_id = log_id(&key.public(), &[2; 32]);
    let checkpoint = Checkpoint { log_id, size: tree.size(), root: tree.root() };
    let began = Instant::now();
    for _ in 0..SIGNATURES {
        black_box(checkpoint.sign(&[&key]).encode());
    }
    each("a checkpoint signed and written", SIGNATURES.into(), began);
    let note = checkpoint.sign(&[&key]).encode();
    let began = Instant::now();
    for _ in 0..SIGNATURES {
        let read = CheckpointNote::parse(note.as_bytes()).expect("its own note");
        assert_eq!(black_box(read.verify(&key.public())), Ok(()));
    }
    each("a checkpoint read and verified", SIGNATURES.into(), began);
}

fn rate(what: &str, count: u64, began: Instant) {
    println!("{what:<32} {:>12.0} /s", count as f64 / began.elapsed().as_secs_f64());
}

fn each(what: &str, count: u64, began: Instant) {
    println!("{what:<32} {:>12.1} us", began.elapsed().as_secs_f64() * 1e6 / count as f64);
}
