//! What ships: programs, manual pages, completions, units and papers, as a tarball and as a Debian package.
//!
//! Owns the list of what ships and where it lies. Invariant: the same programs and the same commit give the same bytes.
//! Begin at [`verb`].

mod verb;
mod programs;
mod dependencies;
mod licences;
mod bill;
mod tree;
mod packages;
mod contents;
mod trial;

pub(crate) use verb::{DistOptions, check_built, verb};
