//! Programs that a run starts, with the daemon killed while they are at it: none runs twice unnoticed, none is left.
//!
//! One run starts a program, a job, a program beside the job, and ends the job. Each program appends a line to a file
//! each time it runs, which is what counts, and says where it is and waits, so that the daemon is killed just there;
//! other stories kill it at its own writes of the journal. Begin at [`suite`].

mod programs;
mod model;
mod conductor;
mod started;
mod ledger;
mod scenario;
mod suite;

pub use suite::suite;
