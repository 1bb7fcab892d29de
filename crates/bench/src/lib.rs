//! Measures what Palyra costs: counts that a test asserts, and figures beside an anchor.
//!
//! Owns the mock model, the floor that is measured beside the daemon, and the rows. Knows the daemon as its
//! users do: a program, a socket, the client. Invariant: a ratio's two sides are measured in turn, in one run of
//! the command, on one disk. Begin at [`rows::ROWS`].

pub mod lab;
pub mod rows;
pub mod soak;

pub mod measure;

pub mod model;
pub mod floor;
pub mod process;

pub mod counts;
pub mod harness;
