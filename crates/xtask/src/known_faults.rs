//! `cargo xtask known-faults`: does the test of a mended fault fail without the mend?
//!
//! Owns reading the rows of docs/known-faults.md and taking the product part of a commit back in a checkout of its own
//! below `target`. Knows nothing of what a fault was. Begin at [`verb::verb`].

mod page;
mod product;
mod revert;
mod seed;
mod checkout;
mod trial;
mod verb;

pub(crate) use verb::{FaultOptions, verb};
