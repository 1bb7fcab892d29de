//! A keeper that was started, and what has to be taken away after it.
//!
//! Owns how its process is made: this executable again, with a socket for its standard input.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use palyra_ports::SandboxError;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair, sockopt};
use tokio::process::{Child, Command};

use crate::control_groups::Group;
use crate::hidden_commands::{self, KEEP};
use crate::message::MESSAGE_BYTES_MAX;

/// A started keeper with what has to be taken away after it.
pub(crate) struct Kept {
    pub(crate) keeper: Child,
    pub(crate) control: OwnedFd,
    pub(crate) group: Option<Group>,
    pub(crate) scratch: Option<PathBuf>,
}

/// Starts a keeper, and returns it with our end of the socket. Blocks for as long as a process takes to begin.
pub(crate) fn begin(executable: &Path) -> Result<(Child, OwnedFd), SandboxError> {
    let (control, keepers) = sockets().map_err(broken("socket"))?;
    let mut keeper = Command::from(hidden_commands::again(executable, KEEP));
    keeper.stdin(Stdio::from(keepers)).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok((keeper.spawn().map_err(broken("keeper"))?, control))
}

fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, keepers) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_send_buffer_size(&ours, MESSAGE_BYTES_MAX * 2)?;
    Ok((ours, keepers))
}

/// Says at which step a mechanism failed.
pub(crate) fn broken(stage: &str) -> impl FnOnce(io::Error) -> SandboxError {
    let stage = stage.to_owned();
    move |cause| SandboxError::Broken { stage, cause }
}
