//! One file per rule, each a pure function from the house to findings.
//!
//! Owns the list of rules. A rule that cannot fail is worthless: each file shows it failing on a bad sample.

mod run_all;
mod commits;
mod arrows;
mod manifests;
mod cycles;
mod sizes;
mod layout;
mod names;
mod gateway;
mod restricted_names;
mod seed_names;
mod clippy_config;
mod dependency_reasons;
mod error_pages;
mod links;
mod attack_cases;
mod message_table;
mod words;
mod shapes;

pub(super) use commits::named as named_commits;
pub(super) use run_all::{all, generated};
