//! A process that stays in the host's table of users while its keeper leaves it.
//!
//! Owns what only such a process may do: give the keeper's new table two users, and make mounts that show the files of
//! one owner as a program's own. It works for one keeper, takes words from it alone, and is gone before the program
//! starts. Source: user_namespaces(7), mount_setattr(2), the section on idmapped mounts.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, fstat};
use rustix::mount::{OpenTreeFlags, open_tree};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, socketpair};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, getpid, kill_process};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

use crate::failure::StepFailure;
use crate::fork::{fork, wait_for};
use crate::message::{self, MESSAGE_BYTES_MAX, SystemBytes};
use crate::program_ids::ProgramIds;

const STAGE: &str = "user of the program";

/// The helper as its keeper sees it.
pub(crate) struct UserMapper {
    socket: OwnedFd,
    process: Pid,
}

/// What a keeper asks for.
#[derive(Debug, Serialize, Deserialize)]
enum MapRequest {
    /// Users for the keeper's own table.
    Users,
    /// A mount of the folder whose descriptor comes along; its owner's files are the program's.
    Workspace,
    /// A mount of what lies at a path; files of root are the program's.
    Readable(SystemBytes),
}

/// What came of it; a mount comes along.
#[derive(Debug, Serialize, Deserialize)]
enum MapReply {
    Done,
    Failed { errno: i32 },
}

impl UserMapper {
    /// Begins one for this process and a user. To be called before the process leaves the host's tables.
    pub(crate) fn begin(ids: ProgramIds) -> Result<Self, StepFailure> {
        let (socket, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(StepFailure::at(STAGE))?;
        let keeper = getpid();
        let process = fork(|| match serve(ids, keeper, &theirs) {
            Ok(()) => 0,
            Err(_gone) => 1,
        })?;
        Ok(Self { socket, process })
    }

    /// Gives the table of users that this process has just made its users.
    pub(crate) fn map_users(&self) -> io::Result<()> {
        self.ask(&MapRequest::Users, &[]).map(drop)
    }

    /// Returns a mount of a workspace in which the program is the owner of the owner's files.
    pub(crate) fn map_workspace(&self, workspace: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        self.ask(&MapRequest::Workspace, &[workspace])?.ok_or(io::ErrorKind::InvalidData.into())
    }

    /// Returns a mount of what lies at a path, in which the program is the owner of root's files.
    pub(crate) fn map_readable(&self, path: &Path) -> io::Result<OwnedFd> {
        self.ask(&MapRequest::Readable(path.into()), &[])?.ok_or(io::ErrorKind::InvalidData.into())
    }

    /// Lets it end, and waits for that.
    pub(crate) fn end(self) -> Result<(), StepFailure> {
        drop(self.socket);
        wait_for(self.process).map(drop).map_err(StepFailure::at(STAGE))
    }

    fn ask(&self, wish: &MapRequest, along: &[BorrowedFd<'_>]) -> io::Result<Option<OwnedFd>> {
        message::send_with(self.socket.as_fd(), wish, along)?;
        let (bytes, made) = message::receive_with(&self.socket, MESSAGE_BYTES_MAX, RecvFlags::empty())?;
        match serde_json::from_slice(&bytes)? {
            MapReply::Done => Ok(made.into_iter().next()),
            MapReply::Failed { errno } => Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

/// The helper's whole life: answers until its keeper lets go of it.
fn serve(ids: ProgramIds, keeper: Pid, socket: &OwnedFd) -> io::Result<()> {
    let socket = keep_only(socket)?;
    // Made ahead of the program, as nearly every workspace of root's daemon is root's.
    let roots = MountUsers { owner: 0, group: 0, namespace: mount_users(ids, 0, 0)? };
    loop {
        let (bytes, along) = message::receive_with(socket, MESSAGE_BYTES_MAX, RecvFlags::empty())?;
        if bytes.is_empty() {
            return Ok(());
        }
        let made = match serde_json::from_slice(&bytes)? {
            MapRequest::Users => {
                write_maps(keeper, &ids.map_of_keeper(), &ids.map_of_keeper()).map(|()| None)
            }
            MapRequest::Workspace => along
                .first()
                .ok_or(io::ErrorKind::InvalidData.into())
                .and_then(|folder| map_workspace(ids, folder, &roots))
                .map(Some),
            MapRequest::Readable(path) => map_tree(CWD, &path.path(), &roots.namespace).map(Some),
        };
        let (answer, made) = match made {
            Ok(made) => (MapReply::Done, made),
            Err(error) => (MapReply::Failed { errno: error.raw_os_error().unwrap_or(libc::EIO) }, None),
        };
        let made: Vec<BorrowedFd<'_>> = made.iter().map(AsFd::as_fd).collect();
        message::send_with(socket, &answer, &made)?;
    }
}

/// Lets go of the daemon's socket, of the program's output and of all else that its keeper has.
fn keep_only(socket: &OwnedFd) -> io::Result<BorrowedFd<'static>> {
    rustix::stdio::dup2_stdin(socket)?;
    let nothing = rustix::fs::open("/dev/null", rustix::fs::OFlags::WRONLY, Mode::empty())?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    drop(nothing);
    // SAFETY: what is closed belongs to frames that this process never goes back to: it ends without running them.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, 0_u32) };
    if closed < 0 { Err(io::Error::last_os_error()) } else { Ok(rustix::stdio::stdin()) }
}

/// A table of users for mounts, and whose files it makes the program's.
struct MountUsers {
    owner: u32,
    group: u32,
    namespace: OwnedFd,
}

fn map_workspace(ids: ProgramIds, folder: &OwnedFd, roots: &MountUsers) -> io::Result<OwnedFd> {
    let found = fstat(folder)?;
    if (found.st_uid, found.st_gid) == (roots.owner, roots.group) {
        return map_tree(folder.as_fd(), Path::new(""), &roots.namespace);
    }
    let namespace = mount_users(ids, found.st_uid, found.st_gid)?;
    map_tree(folder.as_fd(), Path::new(""), &namespace)
}

/// Makes a table of users in which one owner and one group of a disk are a program's; a process lives in it meanwhile.
fn mount_users(ids: ProgramIds, owner: u32, group: u32) -> io::Result<OwnedFd> {
    let (made, is_made) = pipe_with(PipeFlags::CLOEXEC)?;
    let (waits, _end) = pipe_with(PipeFlags::CLOEXEC)?;
    let inhabitant = fork(|| {
        // SAFETY: this process has one thread and shares no descriptor table.
        let moved = unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER) };
        let word: &[u8] = if moved.is_ok() { b"+" } else { b"-" };
        let _ = rustix::io::write(&is_made, word);
        let _ = rustix::io::retry_on_intr(|| rustix::io::read(&waits, &mut [0; 1][..]));
        0
    })
    .map_err(|failure| failure.cause)?;
    drop(is_made);
    let mut word = [0; 1];
    let heard = rustix::io::retry_on_intr(|| rustix::io::read(&made, &mut word[..]));
    let namespace = match heard {
        Ok(1) if word == *b"+" => write_maps(inhabitant, &ids.map_of_mount(owner), &ids.map_of_mount(group))
            .and_then(|()| File::open(format!("/proc/{}/ns/user", inhabitant.as_raw_nonzero())))
            .map(OwnedFd::from),
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EPERM)),
        Err(error) => Err(error.into()),
    };
    let _ = kill_process(inhabitant, Signal::KILL);
    wait_for(inhabitant)?;
    namespace
}

fn write_maps(process: Pid, users: &str, groups: &str) -> io::Result<()> {
    let folder = format!("/proc/{}", process.as_raw_nonzero());
    fs::write(format!("{folder}/uid_map"), users)?;
    fs::write(format!("{folder}/gid_map"), groups)
}

/// Copies a part of the host's tree, and shows its files with the users of a table.
fn map_tree(at: BorrowedFd<'_>, path: &Path, users: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(at, path, flags)?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_IDMAP,
        attr_clr: 0,
        // What is mounted on the host later does not come along.
        propagation: libc::MS_PRIVATE,
        userns_fd: u64::try_from(users.as_raw_fd()).map_err(io::Error::other)?,
    };
    // SAFETY: path and attributes live across the call, and the size is that of the attributes.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if changed < 0 { Err(io::Error::last_os_error()) } else { Ok(tree) }
}
