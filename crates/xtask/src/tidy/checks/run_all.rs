//! The rules in the order in which they are worth reading.
//!
//! Owns that list and nothing else.

use super::{
    arrows, attack_cases, clippy_config, commits, cycles, dependency_reasons, error_pages, gateway, layout,
    links, manifests, message_table, names, restricted_names, seed_names, shapes, sizes, words,
};
use crate::tidy::finding::TidyFinding;
use crate::tidy::house::RepositoryView;
use crate::tidy::rules::Rules;

/// Returns what every rule finds, before exceptions.
pub(in crate::tidy) fn all(house: &RepositoryView, rules: &Rules) -> Vec<TidyFinding> {
    [
        arrows::check(house, rules),
        manifests::check(house, rules),
        cycles::check(house),
        sizes::check(house, rules),
        layout::check(house, rules),
        names::check(house, rules),
        gateway::check(house, rules),
        restricted_names::check(house, rules),
        seed_names::check(house, rules),
        clippy_config::check(house),
        dependency_reasons::check(house),
        error_pages::check(house),
        links::check(house),
        commits::check(house),
        attack_cases::check(house),
        message_table::check(house),
        words::check(house),
        shapes::check(house, rules),
    ]
    .concat()
}

/// Returns path and text of every file that is made of others.
pub(in crate::tidy) fn generated(house: &RepositoryView, rules: &Rules) -> Vec<(String, String)> {
    [
        clippy_config::expected(house),
        message_table::expected(house),
        words::expected(house),
        shapes::expected(house, rules),
    ]
    .concat()
}
