//! Making a process, and waiting for it.
//!
//! Owns both calls and knows nothing of what the process is for. Invariant: the maker has one thread.

use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus};

use crate::failure::Failure;

/// Makes a child that runs `body` and exits with what it returns.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> Result<Pid, Failure> {
    // SAFETY: this process has one thread, so the child may do anything that the parent may.
    match unsafe { libc::fork() } {
        -1 => Err(Failure { stage: "fork", cause: io::Error::last_os_error() }),
        0 => {
            let code = body();
            // SAFETY: ends the child without running what the parent registered for its own exit.
            unsafe { libc::_exit(code) }
        }
        pid => Pid::from_raw(pid).ok_or(Failure { stage: "fork", cause: io::Error::other("no child") }),
    }
}

/// Waits until a child has ended.
pub(crate) fn wait_for(pid: Pid) -> io::Result<WaitStatus> {
    loop {
        match rustix::process::waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Ok(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
