//! Sends a message to a program, a webhook or the desktop.
//!
//! Owns how each kind of target is reached and what its answer means. Knows neither the outbox nor what a message says.
//!
//! Invariant: a program gets its arguments and its environment from the operator alone, and nothing of a message but on its
//! input, and it is always ended with its whole process group. No explanation has a part of a message, of a secret or
//! of an address. Begin at [`MessageDeliverer`].

mod not_sent;
mod deliverer;
mod program;
mod desktop;
mod webhook;

pub use deliverer::{MessageDeliverer, SecretSource, TargetAddresses};
