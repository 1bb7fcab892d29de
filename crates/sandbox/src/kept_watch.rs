//! Notices that a kept file has lost its mount.
//!
//! Owns the comparison of what lies at the kept paths with what was mounted there. A rename of another file over
//! such a path, outside of these mounts, takes the mount off it, and a rename of the file itself takes the mount along:
//! from then on the program could change what is there now. Invariant: a program with kept files is ended when one is
//! lost. Source: proc_pid_mountinfo(5), statx(2), signalfd(2).

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, statx};

/// How often all paths are looked at, also where the kernel reports no change: a rename takes its mount along in silence.
const LOOK_MILLIS: i64 = 50;

/// The kept paths of one program, as they were mounted.
pub(crate) struct KeptMounts {
    mounted: Vec<(PathBuf, MountedFile)>,
    /// Ready when a mount of this namespace changes.
    changes: OwnedFd,
}

/// The same while the program runs.
pub(crate) struct KeptWatch {
    kept: KeptMounts,
    /// Ready when a child ends.
    children: OwnedFd,
}

/// What lies at a path: the mount and the file.
type MountedFile = (u64, u64, u32, u32);

impl KeptMounts {
    /// Looks at what is mounted now, before the program starts.
    pub(crate) fn look(paths: Vec<PathBuf>) -> io::Result<Self> {
        // Opened first: what changes from here on is reported.
        let changes = open("/proc/self/mountinfo", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let look = |path: PathBuf| Ok((mounted_at(&path)?, path));
        let mounted = paths.into_iter().map(look).collect::<io::Result<Vec<_>>>()?;
        let mounted = mounted.into_iter().map(|(mount, path)| (path, mount)).collect();
        Ok(Self { mounted, changes })
    }
}

impl KeptWatch {
    /// Begins to wait for the program, which was started: it must not inherit that ends of children are kept back.
    pub(crate) fn begin(kept: KeptMounts) -> io::Result<Self> {
        Ok(Self { kept, children: child_ends()? })
    }

    /// Returns whether something else lies at one of the paths.
    pub(crate) fn is_lost(&self) -> bool {
        self.kept.mounted.iter().any(|(path, mounted)| mounted_at(path).ok().as_ref() != Some(mounted))
    }

    /// Waits until a child may have ended or a mount may have changed, at most until the next look is due.
    pub(crate) fn pause(&self) -> io::Result<()> {
        let pause = Timespec { tv_sec: 0, tv_nsec: LOOK_MILLIS * 1_000_000 };
        let mut ready =
            [PollFd::new(&self.kept.changes, PollFlags::PRI), PollFd::new(&self.children, PollFlags::IN)];
        match poll(&mut ready, Some(&pause)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        // One report stands for all that ended before it is read.
        let mut report = [0; size_of::<libc::signalfd_siginfo>()];
        if !ready[1].revents().is_empty() {
            rustix::io::read(&self.children, &mut report[..])?;
        }
        Ok(())
    }
}

fn mounted_at(path: &PathBuf) -> io::Result<MountedFile> {
    let wanted = StatxFlags::MNT_ID | StatxFlags::INO;
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT, wanted)?;
    if found.stx_mask & StatxFlags::MNT_ID.bits() == 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok((found.stx_mnt_id, found.stx_ino, found.stx_dev_major, found.stx_dev_minor))
}

/// Has the ends of children reported by a descriptor, and by nothing else.
fn child_ends() -> io::Result<OwnedFd> {
    // SAFETY: all-zero bytes are a set, and it is emptied before it is filled; it lives across the calls. This process
    // has one thread, and the descriptor is new.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        let ends = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if ends < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(ends)) }
    }
}
