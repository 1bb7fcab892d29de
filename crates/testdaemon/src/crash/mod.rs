//! The daemon is killed at every call that changes files, in turn; nothing is lost and nothing doubled.
//!
//! Begin at [`suite`].

mod lab;
mod legs;
mod plan;
mod scenario;
mod suite;

pub use lab::Lab;
pub use legs::Leg;
pub use scenario::{Carried, Scenario};
pub use suite::{Options, suite};
