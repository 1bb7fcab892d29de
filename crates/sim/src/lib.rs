//! The real runtime in a world where everything can go wrong, and all of it follows from one number.
//!
//! Owns the doubles of a story (journal, model, tools, clients), its driver, and the oracle that watches it. Knows
//! the runtime by its handles and ports only. Invariant: the same seed tells the same story, entry for entry.
//! Begin at [`scenario::tell`]; `docs/simulation.md` says how to read a failure.

mod dice;

pub mod fault;
mod fault_rates;
pub mod mutation;

mod oracle;

mod world;
mod clock;
mod journal;
mod model;
mod outside;
mod tools;
mod rules;
mod client;

mod daemon_process;
pub mod scenario;

pub mod weeks;

pub mod campaign;

pub use fault::{Fault, FaultMatrix, Phase};
pub use mutation::Mutation;
pub use scenario::{Outcome, tell};
pub use world::TraceMode;
