//! Counts the memory of a whole process table where no control group does.
//!
//! Owns the pause between two looks: the weakest rung of the limits is the only place that looks again and again, and
//! only while a program runs. What a process holds without mapping it is not seen, so the filter of this rung refuses
//! the calls that make such memory.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::io::Errno;

/// How often it looks; a program on two processors gets some 500 MiB further meanwhile.
const PAUSE: Duration = Duration::from_millis(100);

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

/// Returns how many bytes the processes of this table keep in memory together; shared pages count once for each.
pub(crate) fn bytes_of_all() -> io::Result<u64> {
    let mut pages = 0_u64;
    for process in fs::read_dir("/proc")?.flatten() {
        // Of pages: size, resident, shared, ... One that has just ended has no file.
        let Ok(counted) = fs::read_to_string(process.path().join("statm")) else { continue };
        let mut numbers = counted.split(' ').skip(1).map(|number| number.parse::<u64>().unwrap_or(0));
        let (resident, of_files) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        pages += resident.saturating_sub(of_files);
    }
    Ok(pages.saturating_mul(rustix::param::page_size() as u64))
}
