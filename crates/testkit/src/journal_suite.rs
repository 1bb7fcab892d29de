//! One conformance suite for every journal.

pub mod samples;
