//! Embeddings: the same pieces and numbers as the recipe, and total on any text.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use palyra_memory::EmbeddingTable;
use palyra_memory::limits::DIMENSIONS;
use proptest::prelude::*;
use sha2::{Digest, Sha256};

const VECTORS: &str = include_str!("../embedding/vectors.txt");
const README: &str = include_str!("../embedding/README.md");
const TABLE: &[u8] = include_bytes!("../embedding/table.bin");

fn table() -> EmbeddingTable {
    EmbeddingTable::built_in().unwrap()
}

/// Reads `\u{20ac}` as the character.
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\u{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_once('}').unwrap();
        out.push(char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

#[test]
fn pieces_and_vectors_are_those_of_the_recipe() {
    let table = table();
    let mut compared = 0;
    for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(" | ").collect();
        let text = unescaped(columns[0]);
        let expected: Vec<&str> =
            columns[1].split_whitespace().map(|piece| piece.trim_start_matches("##")).collect();
        let pieces: Vec<&str> =
            table.pieces(&text).into_iter().map(|piece| table.text(piece).unwrap()).collect();
        assert_eq!(pieces, expected, "{text}");
        let components: Vec<f32> =
            columns[2].split_whitespace().map(|number| number.parse().unwrap()).collect();
        assert_eq!(components.len(), DIMENSIONS);
        for (code, component) in table.embed(&text).codes().iter().zip(components) {
            assert!((f32::from(*code) - component).abs() < 0.52, "{text}: {code} and {component}");
        }
        compared += 1;
    }
    assert!(compared >= 10);
}

#[test]
fn the_table_is_the_one_that_the_recipe_names() {
    let digest: String = Sha256::digest(TABLE).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(README.contains(&digest), "embedding/README.md does not name {digest}");
}

#[test]
fn near_meanings_are_nearer_than_others() {
    let table = table();
    for (text, near, far) in [
        ("dentist", "doctor", "database"),
        ("vacation", "holiday", "compiler"),
        ("postgresql", "database", "birthday"),
        ("her daughter", "little girl", "network port"),
    ] {
        let vector = table.embed(text);
        assert!(vector.similarity(&table.embed(near)) > vector.similarity(&table.embed(far)), "{text}");
    }
}

#[test]
fn a_text_without_known_words_resembles_nothing() {
    let table = table();
    assert!(table.embed("").is_zero());
    assert!(table.embed("... !!! \u{6771}").is_zero());
    assert_eq!(table.embed("").similarity(&table.embed("cello")).to_bits(), 0.0_f32.to_bits());
}

proptest! {
    #[test]
    fn every_text_has_a_vector(text in any::<String>()) {
        let table = table();
        let pieces = table.pieces(&text);
        // A character becomes at most four when it is decomposed.
        prop_assert!(pieces.len() <= text.chars().count() * 4);
        let vector = table.embed(&text);
        let similarity = vector.similarity(&vector);
        let expected = if vector.is_zero() { 0.0 } else { 1.0 };
        prop_assert!((similarity - expected).abs() < 1e-4);
    }

    #[test]
    fn the_order_of_words_is_no_part_of_the_meaning(words in prop::collection::vec("[a-z]{2,8}", 1..8)) {
        let table = table();
        let reversed: Vec<_> = words.iter().rev().cloned().collect();
        let similarity = table.embed(&words.join(" ")).similarity(&table.embed(&reversed.join(" ")));
        prop_assert!(similarity > 0.999);
    }
}
