//! The counter of modules that are `foo/mod.rs`.
//!
//! Owns which of them count: the house writes `foo.rs` beside `foo/`, and below `tests/` cargo leaves no choice.

use super::hits::CountedHit;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;
use crate::tidy::shapes::CodeShape;
use crate::tidy::source::FilePlace;

pub(super) fn mod_files(house: &RepositoryView, _: &Rules) -> Vec<CountedHit> {
    let files = house.files.iter().filter(|file| file.place != FilePlace::TestTarget);
    let hits = files.filter(|file| file.path.ends_with("/mod.rs")).map(|file| {
        let shape = CodeShape { line: 1, name: file.path.clone() };
        CountedHit::of_crate(file, &shape, "the module is a `mod.rs`".to_owned())
    });
    hits.collect()
}
