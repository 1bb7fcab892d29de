//! One main for both programs: the command line, with the daemon behind its verb `serve`.

#[cfg(feature = "jemalloc")]
mod allocator;
mod program;

pub use palyra_daemon::start_confined;
pub use program::{daemon_words, program, words};
