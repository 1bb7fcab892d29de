//! The gRPC server: framing, identities and streams around the operations of `palyra-api`, and nothing else.
//!
//! Decides nothing about runs and keeps no state of its own. Who calls is read from the connection
//! (`auth.rs`), never from a message; every status is made in `status.rs`.
//!
//! Begin at [`serve`]; the road of a run enters at `run_stream.rs`.

mod server;

mod connection;

mod auth;

mod services;

mod run_stream;

mod limits;

mod status;

#[doc(hidden)]
pub mod untrusted;

pub use limits::ServeLimits;
pub use server::{Listeners, ServeError, serve};
