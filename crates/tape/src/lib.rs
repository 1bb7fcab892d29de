//! Reading and following tapes on behalf of callers: pages from the journal, then live entries.
//!
//! Invariant: nothing is shown that is not committed; each follower sees every entry after its number once,
//! in order. A follower that is slow reads from the journal again; it never delays a run. Knows neither how runs work nor
//! who publishes. Begin at [`TapeHandle::follow`].

mod error;
mod follower;
mod handle;
mod hub;

pub use error::TapeError;
pub use follower::{TapeFollowEvent, TapeFollower};
pub use handle::TapeHandle;
pub use hub::TapeHub;
