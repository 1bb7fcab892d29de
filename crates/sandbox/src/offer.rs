//! What this host has to hold programs with: found out once, by trying.
//!
//! Owns the probe. A setting of the kernel is not trusted: what counts is whether a child could do it.

use std::io;
use std::path::Path;
use std::process::Stdio;

use palyra_ports::{LimitRung, SandboxOffer};

use crate::control_groups::ControlGroups;
use crate::hidden_commands::{self, PROBE};
use crate::syscall_filter::{self, Others, Surroundings, UnmappedMemory};

const STRICTEST: Surroundings = Surroundings { unmapped: UnmappedMemory::Refused, others: Others::InSight };

/// Looks what there is; starts one short process.
pub(crate) fn probe(keeper: &Path, groups: Option<&ControlGroups>) -> SandboxOffer {
    let namespaces_missing =
        namespaces_missing(keeper).err().map(|error| error.to_string()).unwrap_or_default();
    SandboxOffer {
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

/// Tries to make the namespaces of tier C, in a process of its own.
fn namespaces_missing(keeper: &Path) -> io::Result<()> {
    let mut keeper = hidden_commands::again(keeper, PROBE);
    keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = keeper.output()?;
    if output.status.success() {
        return Ok(());
    }
    let why = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(why.lines().next().unwrap_or("the probe failed").to_owned()))
}
