//! Counters of type names that do not say what kind of thing they name.
//!
//! Owns what one word is. Terms of the field and seed names are in `tidy.toml`.

use super::hits::{CountedHit, product};
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;

pub(super) fn one_word_types(house: &RepositoryView, rules: &Rules) -> Vec<CountedHit> {
    let names = &rules.names;
    let is_known = |name: &str| names.field_terms.contains(name) || names.seeds.contains(name);
    let mut hits = Vec::new();
    for file in product(house) {
        for shape in file.shapes.types.iter().filter(|t| is_one_word(&t.name) && !is_known(&t.name)) {
            hits.push(CountedHit::of_crate(
                file,
                shape,
                format!("`{}` does not say what kind of thing it is", shape.name),
            ));
        }
    }
    hits
}

/// Returns one hit for each whole percent, so that it is compared like a count.
pub(super) fn one_word_percent(house: &RepositoryView, rules: &Rules) -> Vec<CountedHit> {
    let all: usize = product(house).map(|file| file.shapes.types.len()).sum();
    let hits = one_word_types(house, rules).len();
    let percent = (hits * 100).checked_div(all).unwrap_or_default();
    let hit = |_| CountedHit {
        group: "workspace".to_owned(),
        path: "crates/xtask/tidy.toml".to_owned(),
        line: 1,
        item: "workspace".to_owned(),
        what: format!("{hits} of {all} types have a name of one word"),
    };
    (0..percent).map(hit).collect()
}

/// Returns whether a name has one capital that begins a word: `Held` and `SQLite`, not `RowCache`.
fn is_one_word(name: &str) -> bool {
    let letters: Vec<char> = name.chars().collect();
    !letters.windows(2).any(|pair| !pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase())
}
