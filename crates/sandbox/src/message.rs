//! What the daemon and a keeper tell each other: one JSON object in each datagram.
//!
//! Owns the words and their bound. Both ends are always the same executable, so there are no versions.

use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use palyra_ports::{
    COMMAND_BYTES_MAX, ConfinedCommand, NetworkAccess, ProcessLimits, ProcessTier, SEALED_MAX,
    WorkspaceAccess,
};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::program_ids::ProgramIds;

/// Bytes of a message, at most: arguments and environment of a program are most of it, and a third longer in Base64.
pub(crate) const MESSAGE_BYTES_MAX: usize = 160 * 1024;
const _: () = assert!(COMMAND_BYTES_MAX / 3 * 4 + 4096 < MESSAGE_BYTES_MAX);

/// Where a keeper takes its place before it knows what for; its first message.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeeperPlace {
    pub(crate) namespaces: Namespaces,
    /// As whom its program may run, where the host lets that be another user than the daemon's.
    pub(crate) user: Option<ProgramIds>,
    /// Files of control groups to which the keeper adds itself.
    pub(crate) group_files: Vec<SystemBytes>,
    /// The same of groups that hold nobody to anything, and that may be closed to who has a priority of its own.
    pub(crate) share_files: Vec<SystemBytes>,
    /// Whether who is in all of them stands back where processors are short.
    pub(crate) weighed: bool,
}

/// What a keeper is to start; its second message. The workspace comes along as its first descriptor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct KeeperOrder {
    pub(crate) tier: SandboxTier,
    pub(crate) namespaces: Namespaces,
    /// As whom the program runs; `None` for the daemon's user.
    pub(crate) user: Option<ProgramIds>,
    pub(crate) program: SystemBytes,
    pub(crate) arguments: Vec<SystemBytes>,
    pub(crate) environment: Vec<(SystemBytes, SystemBytes)>,
    pub(crate) directory: SystemBytes,
    /// Where the program finds the workspace; what lies there is the descriptor's.
    pub(crate) workspace: SystemBytes,
    pub(crate) access: InWorkspace,
    pub(crate) kept: Vec<SystemBytes>,
    pub(crate) readable: Vec<SystemBytes>,
    /// Where the files lie whose sealed bytes come along, in order.
    pub(crate) sealed: Vec<SystemBytes>,
    /// A folder that stands for `/tmp` where that cannot be had privately.
    pub(crate) scratch: Option<SystemBytes>,
    /// Whether a listener is made in the new network, and handed out.
    pub(crate) egress: EgressMode,
    pub(crate) limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SandboxTier {
    Confined,
    Isolated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum InWorkspace {
    Read,
    Change,
}

/// Whether the host lets us make namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Namespaces {
    Own,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EgressMode {
    None,
    Guarded,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) memory_bytes_max: u64,
    /// Whether a control group counts the memory of all; else each process is held to it.
    pub(crate) memory_is_counted: bool,
    pub(crate) processes_max: u64,
    pub(crate) file_bytes_max: u64,
    pub(crate) scratch_bytes_max: u64,
    pub(crate) open_files_max: u64,
    pub(crate) processor_secs_max: u64,
}

impl Limits {
    /// Returns the limits where nobody counts the memory of all.
    pub(crate) fn uncounted(limits: &ProcessLimits) -> Self {
        Self {
            memory_bytes_max: limits.memory_bytes_max,
            memory_is_counted: false,
            processes_max: limits.processes_max,
            file_bytes_max: limits.file_bytes_max,
            scratch_bytes_max: limits.scratch_bytes_max,
            open_files_max: limits.open_files_max,
            processor_secs_max: limits.processor_time_max.as_secs().max(1),
        }
    }
}

/// A keeper's word to the daemon.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum KeeperEvent {
    /// The listener comes along.
    Listening,
    /// The program is about to run as root, like the daemon: its workspace cannot be mapped to another user.
    RunsAsRoot { errno: i32 },
    /// The program runs.
    Started,
    /// It does not, and nothing is left of it.
    Failed { stage: String, errno: i32 },
    /// The program exited, and nothing is left of it.
    Exited { code: i32 },
    /// A signal ended the program, and nothing is left of it.
    Signalled { signal: i32 },
    /// It used too much memory and was ended, and nothing is left of it.
    OverMemory,
    /// It had too many processes and was ended, and nothing is left of it.
    OverProcesses,
    /// A kept file lost its mount, so that it was ended, and nothing is left of it.
    KeptLost,
    /// It was ended as the daemon wished, and nothing is left of it.
    Stopped,
}

/// The daemon's only word after the order.
pub(crate) const STOP: &[u8] = b"stop";

/// A file name or an argument: bytes as the system has them, in Base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SystemBytes(Vec<u8>);

impl Serialize for SystemBytes {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for SystemBytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        STANDARD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

impl SystemBytes {
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(self.os())
    }

    pub(crate) fn os(&self) -> OsString {
        OsString::from_vec(self.0.clone())
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.0
    }
}

impl<T: AsRef<std::ffi::OsStr> + ?Sized> From<&T> for SystemBytes {
    fn from(text: &T) -> Self {
        Self(text.as_ref().as_bytes().to_vec())
    }
}

impl KeeperOrder {
    pub(crate) fn new(command: &ConfinedCommand, namespaces: Namespaces) -> Self {
        let all = |paths: &[PathBuf]| paths.iter().map(SystemBytes::from).collect();
        Self {
            tier: match command.tier {
                ProcessTier::Confined => SandboxTier::Confined,
                ProcessTier::Isolated => SandboxTier::Isolated,
            },
            namespaces,
            user: None,
            program: (&command.program).into(),
            arguments: command.arguments.iter().map(SystemBytes::from).collect(),
            environment: command
                .environment
                .iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            directory: (&command.directory).into(),
            workspace: command.workspace.path().into(),
            access: match command.access {
                WorkspaceAccess::Read => InWorkspace::Read,
                WorkspaceAccess::Change => InWorkspace::Change,
            },
            kept: all(&command.kept),
            readable: all(&command.readable),
            sealed: command.sealed.iter().map(|file| SystemBytes::from(&file.path)).collect(),
            scratch: None,
            egress: match command.network {
                NetworkAccess::None => EgressMode::None,
                NetworkAccess::Guarded => EgressMode::Guarded,
            },
            limits: Limits::uncounted(&command.limits),
        }
    }
}

/// Sends one message.
pub(crate) fn send(socket: BorrowedFd<'_>, message: &impl Serialize) -> io::Result<()> {
    send_with(socket, message, &[])
}

/// Descriptors of one message, at most: the workspace, and what is sealed.
const DESCRIPTORS_MAX: usize = 1 + SEALED_MAX;

/// Sends one message and descriptors with it, at most [`DESCRIPTORS_MAX`].
pub(crate) fn send_with(
    socket: BorrowedFd<'_>,
    message: &impl Serialize,
    sent: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::ArgumentListTooLong,
            "arguments and environment are too long",
        ));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut along = SendAncillaryBuffer::new(&mut space);
    if !sent.is_empty() && !along.push(SendAncillaryMessage::ScmRights(sent)) {
        return Err(io::Error::new(io::ErrorKind::ArgumentListTooLong, "too many files to seal"));
    }
    rustix::net::sendmsg(socket, &[io::IoSlice::new(&bytes)], &mut along, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes the next message and the descriptors that came with it; an empty one when the other end is gone.
pub(crate) fn receive_with(
    socket: impl AsFd,
    bytes_max: usize,
    flags: RecvFlags,
) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; bytes_max];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut along = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = rustix::net::recvmsg(socket, &mut [io::IoSliceMut::new(&mut bytes)], &mut along, flags)?;
    bytes.truncate(received.bytes);
    let descriptors = along.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors.collect::<Vec<_>>()),
        _ => None,
    });
    Ok((bytes, descriptors.flatten().collect()))
}
