//! Counts the memory and the processes of a whole program where no control group does.
//!
//! Owns the pause between two looks: the weakest rung of the limits is the only place that looks again and again, and
//! only while a program runs. What a process holds without mapping it is not seen, so the filter of this rung refuses
//! the calls that make such memory.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;

use crate::children::children_of;
use crate::message::{KeeperEvent, Limits};

/// How often it looks; a program on two processors gets some 500 MiB further meanwhile.
pub(crate) const PAUSE: Duration = Duration::from_millis(100);

/// Keeps the ends of children for [`pause`].
pub(crate) fn begin() -> io::Result<()> {
    let set = child_ends();
    // SAFETY: the set lives across the call; nothing else in this process waits for signals.
    let kept = unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
    if kept < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Waits for the end of a child, at most until the next look is due.
pub(crate) fn pause() -> io::Result<()> {
    let set = child_ends();
    let time = libc::timespec { tv_sec: 0, tv_nsec: PAUSE.subsec_nanos().into() };
    // SAFETY: set and time live across the call; the signal's details are not asked for.
    if unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const time) } >= 0 {
        return Ok(());
    }
    match Errno::from_io_error(&io::Error::last_os_error()) {
        Some(Errno::AGAIN | Errno::INTR) => Ok(()),
        error => Err(error.unwrap_or(Errno::IO).into()),
    }
}

fn child_ends() -> libc::sigset_t {
    // SAFETY: all-zero bytes are a set, and it is emptied before it is filled.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        set
    }
}

/// What a program and all that it started use up.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UsedResources {
    bytes: u64,
    tasks: u64,
}

impl UsedResources {
    /// Returns what to tell when that is too much.
    pub(crate) fn over(&self, limits: &Limits) -> Option<KeeperEvent> {
        match self {
            // Very many have much memory, too.
            Self { tasks, .. } if *tasks > limits.processes_max => Some(KeeperEvent::OverProcesses),
            Self { bytes, .. } if *bytes > limits.memory_bytes_max => Some(KeeperEvent::OverMemory),
            _ => None,
        }
    }

    /// Adds a process; one that has just ended adds nothing. What it shares with others counts for each of them, but for
    /// files, which the kernel can drop.
    fn add(&mut self, process: &Path) {
        let status = fs::read_to_string(process.join("status")).unwrap_or_default();
        let number = |line: &str| {
            line.split_ascii_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok()).unwrap_or(0)
        };
        for line in status.lines() {
            match line.split(':').next() {
                Some("RssAnon" | "RssShmem") => self.bytes = self.bytes.saturating_add(number(line) << 10),
                Some("Threads") => self.tasks += number(line),
                _ => {}
            }
        }
    }
}

/// Returns what all others in this process's table of processes use.
pub(crate) fn used_in_this_table() -> io::Result<UsedResources> {
    let own = std::process::id();
    let mut used = UsedResources::default();
    for process in fs::read_dir("/proc")?.flatten() {
        let pid = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        if pid.is_some_and(|pid| pid != own) {
            used.add(&process.path());
        }
    }
    Ok(used)
}

/// Returns what this process's children use, and theirs.
pub(crate) fn used_below() -> io::Result<UsedResources> {
    let mut used = UsedResources::default();
    let mut left = children_of(rustix::process::getpid())?;
    let mut seen = BTreeSet::new();
    while let Some(pid) = left.pop() {
        // Numbers are used again, so that a tree that changes meanwhile may have a ring.
        if seen.insert(pid.as_raw_nonzero()) {
            used.add(&Path::new("/proc").join(pid.as_raw_nonzero().to_string()));
            left.extend(children_of(pid)?);
        }
    }
    Ok(used)
}
