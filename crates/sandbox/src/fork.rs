//! Making a process, and waiting for it.
//!
//! Owns both calls and knows nothing of what the process is for. Invariant: the maker has one thread, and no child
//! outlives it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open};

use crate::failure::StepFailure;

/// Exit code of a child whose maker was gone before it began.
const ALONE: i32 = 71;

/// The maker of this process.
pub(crate) struct MakerProcess(OwnedFd);

/// Makes a child that runs `body` and exits with what it returns. It ends with its maker at the latest.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> Result<Pid, StepFailure> {
    fork_of(|maker| {
        drop(maker);
        body()
    })
}

/// The same for a child that becomes another user: from then on the kernel does not end it with its maker any more, until
/// [`MakerProcess::end_with`] says so again.
pub(crate) fn fork_of(body: impl FnOnce(MakerProcess) -> i32) -> Result<Pid, StepFailure> {
    let maker = pidfd_open(getpid(), PidfdFlags::empty()).map_err(StepFailure::at("pidfd"))?;
    // SAFETY: this process has one thread, so the child may do anything that the parent may.
    match unsafe { libc::fork() } {
        -1 => Err(StepFailure { stage: "fork", cause: io::Error::last_os_error() }),
        0 => {
            let code = match end_with(&maker) {
                Ok(()) => body(MakerProcess(maker)),
                Err(_alone) => ALONE,
            };
            // SAFETY: ends the child without running what the parent registered for its own exit.
            unsafe { libc::_exit(code) }
        }
        pid => Pid::from_raw(pid).ok_or(StepFailure { stage: "fork", cause: io::Error::other("no child") }),
    }
}

impl MakerProcess {
    /// Has the kernel end this process with its maker; fails when that is gone already.
    pub(crate) fn end_with(&self) -> io::Result<()> {
        end_with(&self.0)
    }
}

/// Has the kernel end this process with its maker; fails when that is gone already, for then nothing would.
fn end_with(maker: &OwnedFd) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match retry_on_intr(|| poll(&mut [PollFd::new(maker, PollFlags::IN)], Some(&now)))? {
        0 => Ok(()),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_whose_maker_was_gone_before_it_began_is_told() {
        let mut maker = std::process::Command::new("/bin/cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("it runs");
        let held = || pidfd_open(Pid::from_child(&maker), PidfdFlags::empty()).expect("it is there");
        let (before, after) = (held(), held());
        end_with(&before).expect("its maker lives");
        drop(maker.stdin.take());
        maker.wait().expect("it ends");
        assert!(end_with(&after).is_err());
    }
}
