//! Following one run to its end, across losses of the connection and restarts of the daemon.
//!
//! Begin at [`follower::RunFollower::next`].

mod opening;
mod sequence;
mod controls;
mod run_stream;
mod reopen;
mod follower;

pub use controls::new_idempotency_key;
pub use follower::{FollowEvent, RunFollower};
pub(crate) use opening::StreamOpening;
pub(crate) use run_stream::{RunStream, saying};
