//! Measures what Palyra costs: counts that a test asserts, and figures beside an anchor.
//!
//! Begin at [`counts`].

pub mod counts;

pub mod harness;
