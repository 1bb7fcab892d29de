//! The disk fills up at many places, and empties again.
//!
//! Begin at [`suite`].

mod ballast;
mod healing;
mod scenario;
mod suite;

pub use healing::{SpareDomain, healing_suite};
pub use suite::{DiskOptions, suite};
