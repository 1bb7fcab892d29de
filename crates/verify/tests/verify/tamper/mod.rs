//! Ways to break a journal, each with what a verifier has to say about it.
//!
//! Owns the classes and running them. Shared with the example `tamper`, which runs them by the thousand.

mod view;
mod expect;
mod rows;
mod content;
mod cuts;
mod proofs;
mod thief;
mod pages;
mod bundles;
mod calls;
mod classes;
mod run;

pub(crate) use calls::append as append_wrong;
pub(crate) use classes::{BUNDLES, CLASSES, Class};
pub(crate) use run::{Outcome, Real, Seen, bases, cleans, on_real, run_class};
