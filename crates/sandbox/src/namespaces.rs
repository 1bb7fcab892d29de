//! Own tables of users, processes, mounts, networks and more.
//!
//! Owns what is unshared for a tier, and the mapping of the one user. Source: user_namespaces(7), namespaces(7).

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;

use palyra_ports::GUARD_PORT;
use rustix::thread::UnshareFlags;

use crate::message::SandboxTier;
use crate::user_mapper::UserMapper;

/// Makes the namespaces that are the same for every program; the next child is process 1 of the new table. The user
/// stays who it was, so that files keep their owners. With a helper the program's own user is there beside it.
pub(crate) fn make(helper: Option<&UserMapper>) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWNET | UnshareFlags::NEWIPC;
    // SAFETY: this process has one thread and shares no descriptor table.
    unsafe { rustix::thread::unshare_unsafe(flags)? };
    match helper {
        Some(helper) => helper.map_users()?,
        None => {
            std::fs::write("/proc/self/setgroups", "deny")?;
            std::fs::write("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw()))?;
            std::fs::write("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw()))?;
        }
    }
    raise_loopback()
}

/// Makes the rest of a tier's namespaces. Mounts are copied here, so that a program finds those of its own time.
pub(crate) fn make_mounts(tier: SandboxTier) -> io::Result<()> {
    let flags = match tier {
        SandboxTier::Confined => UnshareFlags::NEWNS,
        SandboxTier::Isolated => UnshareFlags::NEWNS | UnshareFlags::NEWUTS,
    };
    // SAFETY: this process has one thread and shares no descriptor table.
    unsafe { rustix::thread::unshare_unsafe(flags)? };
    if tier == SandboxTier::Isolated {
        rustix::system::sethostname(b"sandbox")?;
    }
    Ok(())
}

/// Opens the way out of the new network: a socket on its loopback, to be handed to whoever guards it.
pub(crate) fn listen() -> io::Result<OwnedFd> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, GUARD_PORT))?.into())
}

/// Lets programs talk to themselves: the network's only interface leads nowhere else.
fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::DGRAM, None)?;
    // SAFETY: all-zero bytes are a valid request, and its name is filled in before use.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l'.cast_signed();
    request.ifr_name[1] = b'o'.cast_signed();
    request.ifr_ifru.ifru_flags =
        i16::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(libc::IFF_UP as i16);
    let socket = rustix::fd::AsRawFd::as_raw_fd(&socket);
    // SAFETY: the request lives across the call, which reads it only.
    let raised = unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const request) };
    if raised < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
