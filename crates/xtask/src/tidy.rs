//! The house rules as a test: what may depend on what, how big things may grow, what must be written.
//!
//! Owns reading the repository into a [`House`] of plain facts and running every check over it.
//! Checks are pure functions of that value, so each is tested on a few lines of text.
//! Invariant: a finding names the place, the rule and the mend. Begin at [`verb`], then `checks`.

mod verb;
mod house;
mod git_commits;
mod shapes;
mod source;
mod read_source;
mod rules;
mod finding;
mod checks;

pub(crate) use verb::{FileAction, verb};
