//! `cargo xtask redaction-recall`: how much the redactor finds, how much it spoils, how fast it is.
//!
//! Owns how the measurement is built and started, and its part of docs/evidence.md. What is measured is the
//! redaction crate's own example. Begin at [`verb`].

mod verb;

pub(crate) use verb::{RedactionOptions, verb};
