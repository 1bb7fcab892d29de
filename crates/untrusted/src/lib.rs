//! Everything that reads bytes which nobody vouches for, as plain functions of bytes.
//!
//! Owns the targets that `fuzz/` wraps for libFuzzer and the tests replay on a stable toolchain, the seeds of their
//! corpora, and a seeded mutator. A target panics when a promise does not hold; refusing is always fine.
//! Begin at [`targets::ALL`].

pub mod targets;

pub mod seeds;

pub mod mutate;
