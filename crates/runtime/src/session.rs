//! Conversations: resolved, opened, reset; one active run at a time, the rest wait in order.
//!
//! Begin at [`SessionsHandle::submit`].

pub mod request;

mod handle;

mod admission;

mod resolve;

mod directory;

mod admitted;

mod appends;

mod actor;

mod loaded;

mod history;

pub use handle::SessionsHandle;
pub use request::{
    Admission, ExistingSession, ResetWish, ResolvedSession, SessionSelector, SubmitRequest, Submitted,
};
