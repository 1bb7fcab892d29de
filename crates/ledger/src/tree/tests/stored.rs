//! Tiles, restoring and rolling back.

use proptest::prelude::*;

use super::super::*;
use super::model::{self, Broken, Stored};

/// Leaves enough for a tile of the second level, and some.
const MANY: usize = 256 * 256 + 256 * 3 + 77;

#[test]
fn tiles_hold_leaves_then_the_roots_of_full_tiles() {
    let leaves = model::leaves(MANY);
    let (mut tree, mut stored) = (TreeWriter::new(), Stored::default());
    for some in leaves.chunks(1_000) {
        stored.push(&mut tree, some);
        tree.settle();
    }
    let levels: Vec<(u8, u64)> = stored.tiles.iter().map(|(at, _)| *at).collect();
    assert_eq!(levels.len(), 256 + 1 + 3);
    assert_eq!(&levels[255..258], [(0, 255), (1, 0), (0, 256)]);
    for ((level, index), bytes) in &stored.tiles {
        assert_eq!(bytes.len(), TILE_BYTES);
        let span = TILE_WIDTH.pow(u32::from(*level));
        let first = *index as usize * TILE_WIDTH * span;
        let expected: Vec<u8> = leaves[first..first + TILE_WIDTH * span]
            .chunks(span)
            .flat_map(|below| model::root(below).0)
            .collect();
        assert!(*bytes == expected, "tile {index} of level {level}");
    }
    assert_eq!(tree.root(), model::root(&leaves));
    assert_eq!(
        [tree.edge(0).len(), tree.edge(1).len(), tree.edge(2).len(), tree.edge(8).len()],
        [77 * 32, 96, 32, 0]
    );
    proofs_of_all_levels_follow_from_tiles(&leaves, stored.clone(), tree.frontier());
    a_damaged_store_is_named(stored, *tree.frontier());
}

fn proofs_of_all_levels_follow_from_tiles(leaves: &[LeafHash], stored: Stored, frontier: &Frontier) {
    let size = leaves.len() as u64;
    let mut tiles = Tiled::new(stored, size);
    assert_eq!(root_at(size, |subtree| tiles.hash(subtree)), Ok(frontier.root()));
    for index in [0, 255, 256, 65_535, 65_536, 66_303, 66_304, size - 1] {
        let proof = inclusion_proof(index, size, |subtree| tiles.hash(subtree)).expect("a proof");
        assert_eq!(verify_inclusion(leaves[index as usize], index, size, &proof, frontier.root()), Ok(()));
    }
    for old in [1, 256, 300, 65_536, 66_000, size - 1] {
        let before = root_at(old, |subtree| tiles.hash(subtree)).expect("a root");
        let proof = consistency_proof(old, size, |subtree| tiles.hash(subtree)).expect("a proof");
        assert_eq!(
            verify_consistency(SizedRoot::new(old, before), SizedRoot::new(size, frontier.root()), &proof),
            Ok(())
        );
    }
    for (level, index) in [(0, size), (64, 0), (63, 0), (17, 0), (1, u64::MAX)] {
        assert_eq!(tiles.hash(Subtree { level, index }), Err(TiledError::Outside));
    }
}

fn a_damaged_store_is_named(mut stored: Stored, frontier: Frontier) {
    let restored = |stored: &mut Stored| TreeWriter::restore(frontier, stored).map(|tree| tree.root());
    assert_eq!(restored(&mut stored).expect("whole"), frontier.root());
    let at = stored.tiles.iter().position(|(at, _)| *at == (0, 257)).expect("stored");
    stored.tiles[at].1[8_000] ^= 1;
    assert!(matches!(restored(&mut stored), Err(RestoreError::Differs { level: 1 })));
    stored.tiles[at].1.push(0);
    let malformed = TiledError::Malformed { level: 0, index: 257 };
    assert!(matches!(restored(&mut stored), Err(RestoreError::Source(error)) if error == malformed));
    stored.tiles.remove(at);
    let missing = TiledError::Missing { level: 0, index: 257 };
    assert!(matches!(restored(&mut stored), Err(RestoreError::Source(error)) if error == missing));
    *stored.leaves.last_mut().expect("leaves") = LeafHash::ZERO;
    assert!(matches!(restored(&mut stored), Err(RestoreError::Differs { level: 0 })));
    stored.leaves.pop();
    assert!(matches!(restored(&mut stored), Err(RestoreError::Source(TiledError::Leaves))));
}

#[test]
fn the_errors_of_a_store_are_passed_on() {
    struct Failing;
    impl TileStore for Failing {
        type Error = Broken;
        fn tile(&mut self, _: u8, _: u64) -> Result<Option<Vec<u8>>, Broken> {
            Err(Broken)
        }
        fn leaves(&mut self, _: u64, _: usize) -> Result<Vec<LeafHash>, Broken> {
            Err(Broken)
        }
    }
    let mut tiles = Tiled::new(Failing, 300);
    for index in [3, 299] {
        assert_eq!(tiles.hash(Subtree { level: 0, index }), Err(TiledError::Store(Broken)));
    }
}

#[test]
fn paths_are_those_of_tlog_tiles() {
    assert_eq!(tile_path(0, 0, 256), "tile/0/000");
    assert_eq!(tile_path(1, 1_234_067, 256), "tile/1/x001/x234/067");
    assert_eq!(tile_path(0, 1_000, 1), "tile/0/x001/000.p/1");
    assert_eq!(entries_path(273, 255), "tile/entries/273.p/255");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rolled_back_transaction_leaves_nothing_behind(
        groups in prop::collection::vec((1usize..900, any::<bool>()), 1..12)
    ) {
        let (mut tree, mut stored) = (TreeWriter::new(), Stored::default());
        let (mut clean, mut clean_stored) = (TreeWriter::new(), Stored::default());
        for (number, (count, commits)) in groups.into_iter().enumerate() {
            let leaves: Vec<LeafHash> =
                model::leaves(number * 1_000 + count).split_off(number * 1_000);
            let mut attempt = stored.clone();
            attempt.push(&mut tree, &leaves);
            if commits {
                stored = attempt;
                tree.settle();
                clean_stored.push(&mut clean, &leaves);
                clean.settle();
            } else {
                tree.rollback();
            }
            prop_assert_eq!(tree.frontier(), clean.frontier());
            prop_assert_eq!(&stored, &clean_stored);
            prop_assert_eq!(tree.root(), model::root(&stored.leaves));
            let restored = TreeWriter::restore(*tree.frontier(), stored.clone()).expect("whole");
            for level in 0..8 {
                prop_assert_eq!(tree.edge(level), clean.edge(level));
                prop_assert_eq!(tree.edge(level), restored.edge(level));
            }
        }
    }

    #[test]
    fn a_restored_tree_goes_on_as_if_it_had_never_stopped(before in 0usize..1_400, after in 1usize..700) {
        let leaves = model::leaves(before + after);
        let (mut whole, mut whole_stored) = (TreeWriter::new(), Stored::default());
        whole_stored.push(&mut whole, &leaves);
        let (mut first, mut stored) = (TreeWriter::new(), Stored::default());
        stored.push(&mut first, &leaves[..before]);
        let mut second = TreeWriter::restore(*first.frontier(), &mut stored).expect("whole");
        stored.push(&mut second, &leaves[before..]);
        prop_assert_eq!(second.frontier(), whole.frontier());
        prop_assert_eq!(stored, whole_stored);
    }
}
