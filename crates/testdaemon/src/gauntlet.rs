//! Twenty effects of one run, with the daemon killed at every call that changes files: each happens exactly once.
//!
//! Seven calls go to a server that does what it is asked and drops its first reply, six count in a file that only
//! they write, seven change files of the workspace; twelve of them wait for a person's yes. What happened is told by
//! the server's own log, the counter's own lines and the files, never by the daemon. Begin at [`suite`].

mod effects;
mod model;
mod ledgers;
mod legs;
mod context;
mod scenario;
mod controls;
mod suite;

pub use suite::suite;
