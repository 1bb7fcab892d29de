//! Counters of what bodies of functions save lines with.
//!
//! Owns the words of their findings.

use super::hits::{CountedHit, product};
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;

pub(super) fn named_closures(house: &RepositoryView, _: &Rules) -> Vec<CountedHit> {
    let mut hits = Vec::new();
    for file in product(house) {
        for shape in &file.shapes.extra_closures {
            hits.push(CountedHit::of_crate(
                file,
                shape,
                format!("`{}` names more than one closure", shape.name),
            ));
        }
    }
    hits
}

pub(super) fn tuple_lets(house: &RepositoryView, _: &Rules) -> Vec<CountedHit> {
    let mut hits = Vec::new();
    for file in product(house) {
        for shape in &file.shapes.tuple_lets {
            let what = format!("`{}` writes a tuple to bind several names at once", shape.name);
            hits.push(CountedHit::of_crate(file, shape, what));
        }
    }
    hits
}
