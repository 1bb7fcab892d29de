//! Breaking journals by the thousand, and what the verifier says.

mod verb;
mod journals;
mod table;
mod evidence;

pub(crate) use verb::{TamperOptions, verb};
