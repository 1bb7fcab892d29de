//! Counters of what signatures say: tuples for parameters, handles for results.
//!
//! Owns the words of their findings.

use super::hits::{CountedHit, product};
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;
use crate::tidy::shapes::CodeShape;

pub(super) fn tuple_parameters(house: &RepositoryView, _: &Rules) -> Vec<CountedHit> {
    let shapes = product(house).flat_map(|f| f.shapes.tuple_parameters.iter().map(move |shape| (f, shape)));
    let hit = |(file, shape): (_, &CodeShape)| {
        CountedHit::of_crate(file, shape, format!("`{}` takes a tuple as a parameter", shape.name))
    };
    shapes.map(hit).collect()
}

pub(super) fn spread_parameters(house: &RepositoryView, rules: &Rules) -> Vec<CountedHit> {
    let most = rules.caps.parameters_max;
    let mut hits = Vec::new();
    for file in product(house) {
        for function in file.shapes.functions.iter().filter(|function| function.parameters > most) {
            let shape = CodeShape { line: function.line, name: function.name.clone() };
            let count = function.parameters;
            let what = format!("`{}` takes {count} values, cap {most}: elements of tuples count", shape.name);
            hits.push(CountedHit::of_crate(file, &shape, what));
        }
    }
    hits
}

/// A bunch of keys is not a handle: the rule `gateway-state` counts it.
pub(super) fn handle_accessors(house: &RepositoryView, rules: &Rules) -> Vec<CountedHit> {
    let mut hits = Vec::new();
    for file in product(house) {
        let is_of_bunch = |shape: &&CodeShape| {
            let owner = shape.name.split(['.', ':']).next();
            rules.gateway.iter().any(|bunch| Some(bunch.type_name.as_str()) == owner)
        };
        for shape in file.shapes.handle_accessors.iter().filter(|shape| !is_of_bunch(shape)) {
            hits.push(CountedHit::of_crate(
                file,
                shape,
                format!("`{}` gives out another handle", shape.name),
            ));
        }
    }
    hits
}
