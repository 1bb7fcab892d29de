//! The disk fills up at many places, and empties again.
//!
//! Begin at [`suite`].

mod ballast;
mod scenario;
mod suite;

pub use suite::{DiskOptions, suite};
