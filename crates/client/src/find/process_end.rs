//! Waits until a process that is not a child of ours has ended.
//!
//! A daemon that no longer serves still closes its journal and holds its lock; only its end lets another one start.

use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Returns whether the process ends before the deadline; one that nobody knows of has ended.
pub(crate) async fn until_ended(pid: Option<u32>, deadline: Instant) -> bool {
    let Some(pid) = pid.and_then(|pid| Pid::from_raw(pid.cast_signed())) else { return true };
    let waited = tokio::task::spawn_blocking(move || {
        let process = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) => process,
            // A kernel that cannot tell is not waited for.
            Err(_) => return true,
        };
        loop {
            let span = deadline.saturating_duration_since(Instant::now());
            let span = Timespec::try_from(span).ok();
            match poll(&mut [PollFd::new(&process, PollFlags::IN)], span.as_ref()) {
                Err(Errno::INTR) => {}
                ended => return ended.is_ok_and(|count| count > 0),
            }
        }
    });
    waited.await.unwrap_or(false)
}
