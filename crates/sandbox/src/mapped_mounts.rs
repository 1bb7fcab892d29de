//! The mounts in which a program of root's daemon finds its files, made while its keeper still has a helper for that.
//!
//! Owns which files are shown as the program's: the workspace's, and what only root may read of that which was named
//! readable. Where the workspace lies on a file system without such mounts there are none, the daemon is told, and the
//! program runs as before. Invariant: a program has an unprivileged user only where its workspace is mapped.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, fchown, stat};
use rustix::thread::{Gid, Uid};

use crate::failure::StepFailure;
use crate::message::{self, KeeperEvent, KeeperOrder};
use crate::program_ids::ProgramIds;
use crate::user_mapper::UserMapper;

const STAGE: &str = "user of the program";

/// Copies of the host's tree, each with a map of users.
#[derive(Default)]
pub(crate) struct MappedMounts {
    /// The workspace; `None` where the program runs as the daemon's user.
    pub(crate) workspace: Option<OwnedFd>,
    readable: Vec<(PathBuf, OwnedFd)>,
}

impl MappedMounts {
    /// Makes those of an order, and takes its user away where that cannot be. The helper is gone afterwards.
    pub(crate) fn make(
        order: &mut KeeperOrder,
        helper: Option<UserMapper>,
        workspace: BorrowedFd<'_>,
        control: BorrowedFd<'_>,
    ) -> Result<Self, StepFailure> {
        let wanted = order.user.take();
        let Some(helper) = helper else { return Ok(Self::default()) };
        let mut made = Self::default();
        if let Some(ids) = wanted {
            match helper.map_workspace(workspace) {
                Ok(tree) => {
                    made = Self { workspace: Some(tree), readable: closed(order, &helper) };
                    give_output(ids).map_err(StepFailure::at(STAGE))?;
                    order.user = Some(ids);
                }
                Err(error) if is_lacking(&error) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    message::send(control, &KeeperEvent::RunsAsRoot { errno })
                        .map_err(StepFailure::at("socket"))?;
                }
                Err(error) => return Err(StepFailure::at(STAGE)(error)),
            }
        }
        helper.end()?;
        Ok(made)
    }

    /// Takes the mount for a readable path, where there is one.
    pub(crate) fn take_readable(&mut self, path: &Path) -> Option<OwnedFd> {
        let at = self.readable.iter().position(|(known, _)| known == path)?;
        Some(self.readable.swap_remove(at).1)
    }
}

/// Says whether a file system, or the kernel for this mount, has no such mounts.
fn is_lacking(error: &std::io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EPERM | libc::ENOSYS | libc::EOPNOTSUPP))
}

/// Maps what was named readable and only root may read. What lies closed in a folder that is open stays closed, and so
/// does what cannot be mapped.
fn closed(order: &KeeperOrder, helper: &UserMapper) -> Vec<(PathBuf, OwnedFd)> {
    let paths = order.readable.iter().map(crate::message::SystemBytes::path);
    let closed = paths.filter(|path| !is_open_to_others(path));
    closed
        .filter_map(|path| Some((helper.map_readable(&path).ok()?, path)))
        .map(|(tree, path)| (path, tree))
        .collect()
}

/// Says whether others than its owner may read what lies at a path.
fn is_open_to_others(path: &Path) -> bool {
    let Ok(found) = stat(path) else { return true };
    let wanted = match FileType::from_raw_mode(found.st_mode) {
        FileType::Directory => Mode::ROTH | Mode::XOTH,
        _ => Mode::ROTH,
    };
    Mode::from_raw_mode(found.st_mode).contains(wanted)
}

/// Lets the program open its output and errors by their names, too: `/dev/stderr` is opened anew.
fn give_output(ids: ProgramIds) -> std::io::Result<()> {
    let (user, group) = (Uid::from_raw(ids.number()), Gid::from_raw(ids.number()));
    fchown(rustix::stdio::stdout(), Some(user), Some(group))?;
    fchown(rustix::stdio::stderr().as_fd(), Some(user), Some(group))?;
    Ok(())
}
