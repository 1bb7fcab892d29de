//! The verb `sim`: builds the simulator and hands it its arguments; with `--write`, tells the evidence.
//!
//! Begin at [`verb`].

mod verb;

mod evidence;

pub(crate) use verb::{SimOptions, verb};
