//! What this host has to hold programs with: found out once, by trying.
//!
//! Owns the probe. A setting of the kernel is not trusted: what counts is whether a child could do it.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use palyra_ports::{LimitRung, SandboxOffer};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::control_groups::ControlGroups;
use crate::hidden_commands::{self, PROBE};
use crate::syscall_filter::{self, FilterSurroundings, TableSharing, UnmappedMemory};

const STRICTEST: FilterSurroundings =
    FilterSurroundings { unmapped: UnmappedMemory::Refused, others: TableSharing::InSight };

/// How long the process that tries is waited for: a mount can hang where what lies below it does.
const PROBE_PAUSE_MAX: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
/// Bytes of what it says that are read.
const WHY_BYTES_MAX: u64 = 4096;

/// Looks what there is; starts one short process.
pub(crate) fn probe(keeper: &Path, folder: &Path, groups: Option<&ControlGroups>) -> SandboxOffer {
    let why = |tried: io::Result<()>| tried.err().map(|error| error.to_string()).unwrap_or_default();
    let namespaces_missing = why(missing(keeper, &[], &PROBE_PAUSE_MAX));
    let own_users_missing = match (rustix::process::geteuid().is_root(), namespaces_missing.is_empty()) {
        (true, true) => why(missing(keeper, &mappable(folder), &PROBE_PAUSE_MAX)),
        (true, false) => "it needs user namespaces".to_owned(),
        (false, _) => String::new(),
    };
    SandboxOffer {
        own_users: rustix::process::geteuid().is_root() && own_users_missing.is_empty(),
        own_users_missing,
        landlock_abi: landlock_abi(),
        syscall_filter: syscall_filter_is_there() && syscall_filter::program(STRICTEST).is_ok(),
        user_namespaces: namespaces_missing.is_empty(),
        limits: groups.map_or(LimitRung::ProcessLimits, ControlGroups::rung),
        namespaces_missing,
    }
}

fn landlock_abi() -> u32 {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the call takes no structure and returns a number.
    let abi = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
    };
    u32::try_from(abi).unwrap_or(0)
}

fn syscall_filter_is_there() -> bool {
    const GET_ACTION_AVAIL: libc::c_uint = 2;
    let action = libc::SECCOMP_RET_ERRNO;
    // SAFETY: reads one number, which lives across the call.
    unsafe { libc::syscall(libc::SYS_seccomp, GET_ACTION_AVAIL, 0, &raw const action) == 0 }
}

/// Returns folders by which it is seen whether the kernel shows files as another user's; each file system says for
/// itself whether it does.
fn mappable(folder: &Path) -> Vec<PathBuf> {
    let there = folder.ancestors().find(|folder| folder.is_dir()).map(Path::to_owned);
    there.into_iter().chain(["/dev/shm", "/"].map(PathBuf::from)).collect()
}

/// Tries to make the namespaces of tier C, in a process of its own, or what it tries with folders.
fn missing(keeper: &Path, folders: &[PathBuf], pause_max: &Timespec) -> io::Result<()> {
    let mut keeper = hidden_commands::again(keeper, PROBE);
    keeper.args(folders);
    keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = keeper.spawn()?;
    let ended = pidfd_open(Pid::from_child(&process), PidfdFlags::empty())
        .and_then(|pidfd| retry_on_intr(|| poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(pause_max))));
    if !matches!(ended, Ok(1..)) {
        process.kill()?;
        process.wait()?;
        ended?;
        return Err(io::Error::other("the probe took too long"));
    }
    if process.wait()?.success() {
        return Ok(());
    }
    let mut why = Vec::new();
    if let Some(errors) = process.stderr.take() {
        // Its end does not depend on whoever holds the other side.
        rustix::io::ioctl_fionbio(&errors, true)?;
        let _ = errors.take(WHY_BYTES_MAX).read_to_end(&mut why);
    }
    let why = String::from_utf8_lossy(&why);
    Err(io::Error::other(why.lines().next().unwrap_or("the probe failed").to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_probe_that_hangs_is_ended_and_one_that_fails_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a script");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("its mode");
            path
        };
        let failure =
            |script: &Path, pause: &Timespec| missing(script, &[], pause).err().map(|why| why.to_string());
        let hangs = script("hangs", "#!/bin/sh\nexec sleep 1000\n");
        let soon = Timespec { tv_sec: 0, tv_nsec: 1 };
        assert_eq!(failure(&hangs, &soon).as_deref(), Some("the probe took too long"));
        let fails = script("fails", "#!/bin/sh\necho 'mount: no' >&2; (sleep 10 &); exit 1\n");
        assert_eq!(failure(&fails, &PROBE_PAUSE_MAX).as_deref(), Some("mount: no"));
        let works = script("works", "#!/bin/sh\nexit 0\n");
        assert_eq!(failure(&works, &PROBE_PAUSE_MAX), None);
    }
}
