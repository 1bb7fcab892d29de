//! `cargo xtask compare BASE`: the programs of a commit and those of now, measured in turn.
//!
//! Owns building both, the order of the measurements and the paired ratios. The rows belong to the crate `bench`.
//! Invariant: a ratio has both of its sides from one pair, one right after the other. Begin at [`verb::verb`].

mod ratios;
mod programs;
mod verb;

pub(crate) use verb::{CompareOptions, verb};
