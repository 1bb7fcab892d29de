//! Decorators of a provider: how many requests it gets at once, and when it is left alone.
//!
//! Each wraps any [`ModelProvider`](palyra_ports::ModelProvider) and is one itself. None of them repeats a
//! request: every attempt is an event on its run's tape, and only the run machine decides that there will
//! be another one. Begin at [`guarded`].

pub mod limits;

pub(crate) mod circuit_breaker;

mod fails_fast;
mod first_token_times;
mod leased;
mod provider_signs;
mod watched;

pub use limits::{GuardLimits, guarded};
