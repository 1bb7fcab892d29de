//! Power cuts: a file system that stops in the middle of everything, and what is on it afterwards.
//!
//! An ext4 file system in a file is shut down by its own ioctl without flushing its log; what was written and not
//! synced is gone, as it is when the power fails. Needs root. Begin at [`suite`].

mod acks;
mod cut;
mod load;
mod suite;
mod volume;

pub use load::{AppendLoad, LoadKind, load};
pub use suite::{CutOptions, demand_root, suite};
