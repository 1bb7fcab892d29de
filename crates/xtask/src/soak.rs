//! The soak: a daemon under a mixed load for long, and what grows meanwhile.
//!
//! Owns how its programs are built and started, and where what it saw is written down. What is asked of the daemon
//! and what may grow is in the crate `bench`. Begin at [`verb`].

mod verb;

pub(crate) use verb::{SoakOptions, verb};
