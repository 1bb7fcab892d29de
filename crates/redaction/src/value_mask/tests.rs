//! Values are masked in every form and wherever the bytes are cut; nothing else is changed.

use palyra_ports::MaskValues;
use palyra_types::Content;
use proptest::prelude::*;

use crate::SecretScanner;

const VALUE: &str = "walnut-harbour/lantern 0417";

fn masked(pieces: &[&[u8]]) -> Vec<u8> {
    let scanner = SecretScanner::new();
    scanner
        .register(&[Content::new(VALUE.to_owned()), Content::new("harbour-twin-4711".to_owned())])
        .unwrap();
    let mut mask = MaskValues::begin(&scanner);
    let mut out: Vec<u8> = pieces.iter().flat_map(|piece| mask.push(piece)).collect();
    out.extend(mask.finish());
    out
}

#[test]
fn a_value_is_masked_in_its_forms_and_everything_else_is_left_alone() {
    let forms = [
        VALUE.to_owned(),
        VALUE.chars().rev().collect(),
        VALUE.bytes().map(|byte| format!("{byte:02x}")).collect(),
        VALUE.replace('/', "%2F").replace(' ', "%20"),
        VALUE.replace('/', "\\/"),
    ];
    for form in forms {
        let out = masked(&[format!("a {form} b").as_bytes()]);
        assert_eq!(String::from_utf8(out).unwrap(), "a <secret:vault> b", "{form}");
    }
    // What only looks like a secret, and what is no text.
    for plain in [
        &b"token: ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6"[..],
        b"password=hunter2hunter2",
        b"\xff\xfe\0waln\x80",
    ] {
        assert_eq!(masked(&[plain]), plain);
    }
}

#[test]
fn bytes_are_held_back_only_while_they_may_be_part_of_a_value() {
    let scanner = SecretScanner::new();
    scanner.register(&[VALUE.into()]).unwrap();
    let mut mask = MaskValues::begin(&scanner);
    assert_eq!(mask.push(b"hello walnut-har"), b"hello ");
    assert_eq!(mask.push(b"vest"), b"walnut-har".iter().chain(b"v").copied().collect::<Vec<_>>());
    assert_eq!(mask.finish(), b"est");
    let given = [mask.push(VALUE.as_bytes()), mask.finish()].concat();
    assert_eq!(given, b"<secret:vault>", "what comes after an end begins anew");
}

proptest! {
    #[test]
    fn where_the_bytes_are_cut_changes_nothing(
        parts in proptest::collection::vec(prop_oneof![Just(VALUE), Just("harbour-twin-4711"), Just("walnut-"), Just("4711"), Just("\n"), Just("é")], 0..8),
        cuts in proptest::collection::vec(0_usize..200, 0..12),
    ) {
        let text: Vec<u8> = parts.concat().into_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        let whole = masked(&[&text]);
        prop_assert_eq!(masked(&pieces), whole.clone());
        let shown = String::from_utf8(whole).unwrap();
        prop_assert!(!shown.contains(VALUE) && !shown.contains("harbour-twin-4711"), "{}", shown);
    }
}
