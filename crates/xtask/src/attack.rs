//! The verb `attack`: builds the attack suite and hands it its arguments.
//!
//! Begin at [`verb`].

mod verb;

pub(crate) use verb::{AttackOptions, built, verb};
