//! Tiles and their paths, against `tlog_tiles`: its client reads what we store and believes it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use palyra_ledger::tree::{TILE_WIDTH, tile_path};
use palyra_ledger::{LeafHash, TreeWriter};
use proptest::prelude::*;
use tlog_tiles::{
    Hash, HashReader, Tile, TileHashReader, TileReader, check_record, check_tree, prove_record, prove_tree,
    stored_hash_index, tree_hash,
};

use super::leaves;

/// What a static log would serve of ours, by path.
struct Served {
    files: BTreeMap<String, Vec<u8>>,
    asked: RefCell<usize>,
}

fn serve(leaves: &[LeafHash]) -> (Served, TreeWriter) {
    let (mut tree, mut files) = (TreeWriter::new(), BTreeMap::new());
    for leaf in leaves {
        for tile in tree.push(*leaf) {
            files.insert(tile_path(tile.level, tile.index, TILE_WIDTH), tile.bytes.to_vec());
        }
        tree.settle();
    }
    for level in 0..8 {
        let edge = tree.edge(level);
        let index = tree.size() >> (8 * u32::from(level)) >> 8;
        if !edge.is_empty() {
            files.insert(tile_path(level, index, edge.len() / 32), edge.to_vec());
        }
    }
    (Served { files, asked: RefCell::new(0) }, tree)
}

/// Its paths name the height of a tile, as those of Go's checksum database do; tlog-tiles fixes it at 8.
fn their_path(tile: &Tile) -> String {
    tile.path().replacen("tile/8/", "tile/", 1)
}

impl TileReader for Served {
    fn height(&self) -> u8 {
        8
    }

    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        *self.asked.borrow_mut() += tiles.len();
        let read = |tile| self.files.get(&their_path(tile)).cloned().ok_or(tlog_tiles::Error::InvalidTile);
        tiles.iter().map(read).collect()
    }

    fn save_tiles(&self, _: &[Tile], _: &[Vec<u8>]) {}
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn their_client_authenticates_our_tiles_and_proves_from_them(
        size in 1usize..70_000, at in any::<prop::sample::Index>(), before in any::<prop::sample::Index>()
    ) {
        let leaves = leaves(size);
        let (served, tree) = serve(&leaves);
        let expected: Vec<String> =
            Tile::new_tiles(8, 0, size as u64).iter().map(their_path).collect();
        prop_assert_eq!(served.files.len(), expected.len());
        prop_assert!(expected.iter().all(|path| served.files.contains_key(path)));

        let (index, root) = (at.index(size), Hash(tree.root().0));
        let (size, reader) = (size as u64, TileHashReader::new(size as u64, root, &served));
        let leaf = Hash(leaves[index].0);
        let read = reader.read_hashes(&[stored_hash_index(0, index as u64)]).expect("it believes our tiles");
        prop_assert_eq!(read, vec![leaf]);
        prop_assert_eq!(tree_hash(size, &reader).expect("it believes our tiles"), root);
        let proof = prove_record(size, index as u64, &reader).expect("it believes our tiles");
        prop_assert!(check_record(&proof, size, root, index as u64, leaf).is_ok());
        let old = 1 + before.index(size as usize) as u64;
        let old_root = tree_hash(old, &reader).expect("it believes our tiles");
        let proof = prove_tree(size, old, &reader).expect("it believes our tiles");
        prop_assert!(check_tree(&proof, size, root, old, old_root).is_ok());
        prop_assert!(*served.asked.borrow() > 0);
    }

    #[test]
    fn paths_are_spelled_alike(level in 0u8..8, index in 0u64..1 << 40, width in 1usize..=256) {
        let theirs = Tile::new(8, level, index, width as u32, false);
        prop_assert_eq!(tile_path(level, index, width), their_path(&theirs));
    }
}
