//! The words by which this executable is run again as a process of the sandbox.
//!
//! Owns them and what such a process finds: no environment of ours, and an allocator without threads.

use std::path::Path;
use std::process::Command;

/// The hidden sub-command that makes this executable a keeper.
pub const KEEP: &str = "sandbox-exec";
/// The hidden sub-command that tries to make namespaces and says whether it could.
pub const PROBE: &str = "sandbox-probe";

/// Keeps the allocator from starting a thread: namespaces are made for processes of one thread.
const WITHOUT_THREADS: &str = "background_thread:false";

/// Returns how to run the executable again for one of the words.
pub(crate) fn again(executable: &Path, word: &str) -> Command {
    let mut command = Command::new(executable);
    command
        .arg(word)
        .env_clear()
        .env("MALLOC_CONF", WITHOUT_THREADS)
        .env("_RJEM_MALLOC_CONF", WITHOUT_THREADS);
    command
}
