//! Files below a folder that was opened once.
//!
//! Invariant: nothing is reached by a path from elsewhere, no link is followed, and only regular files are opened: the
//! kernel resolves each name with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, fsync, mkdirat, openat2};
use rustix::io::Errno;

use crate::manifest::{DEPTH_MAX, FILES_MAX};

const RESOLVE: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
/// How often an open is repeated when the tree changed under the kernel's resolution.
const OPEN_ATTEMPTS_MAX: usize = 16;

/// Whether the last part of a folder's path may be a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinkPolicy {
    Followed,
    Refused,
}

/// A folder that was opened.
#[derive(Debug)]
pub(crate) struct RootFolder {
    fd: OwnedFd,
    path: PathBuf,
}

/// A file that a walk found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WalkedFile {
    /// Below the root, with `/` between its parts.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) mode: u32,
    /// Changes with each change of the file or of its name.
    pub(crate) changed: (u64, i64, i64),
}

/// What a walk found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkedTree {
    pub(crate) files: Vec<WalkedFile>,
    /// Links, sockets, pipes, devices, and names that are not text.
    pub(crate) others: Vec<String>,
}

impl RootFolder {
    pub(crate) fn open(path: &Path, links: LinkPolicy) -> io::Result<Self> {
        let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if links == LinkPolicy::Refused {
            flags |= OFlags::NOFOLLOW;
        }
        let fd = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        Ok(Self { fd, path: path.to_owned() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn fd(&self) -> impl AsFd + '_ {
        self.fd.as_fd()
    }

    /// Opens a regular file; a pipe or a device is not waited for.
    pub(crate) fn open_file(&self, name: &str) -> io::Result<File> {
        let file =
            open_at(&self.fd, name, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())?;
        let found = fstat(&file)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(File::from(file))
    }

    /// Makes a file that is not there, and the folders that lead to it.
    pub(crate) fn create_file(&self, name: &str, mode: u32) -> io::Result<File> {
        if let Some((folder, _)) = name.rsplit_once('/') {
            self.make_folders(folder)?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        Ok(File::from(open_at(&self.fd, name, flags, Mode::from_raw_mode(mode & 0o700))?))
    }

    pub(crate) fn make_folders(&self, name: &str) -> io::Result<()> {
        let mut made = String::new();
        for part in name.split('/') {
            if !made.is_empty() {
                made.push('/');
            }
            made.push_str(part);
            let (parent, last) = made.rsplit_once('/').unwrap_or((".", &made));
            let parent = self.open_folder(parent)?;
            match mkdirat(&parent, last, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    pub(crate) fn open_folder(&self, name: &str) -> io::Result<OwnedFd> {
        Ok(open_at(&self.fd, name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?)
    }

    /// Makes the names in each folder durable, the deepest first.
    pub(crate) fn sync_folders(&self, folders: &[String]) -> io::Result<()> {
        for folder in folders.iter().rev() {
            fsync(&self.open_folder(folder)?)?;
        }
        Ok(fsync(&self.fd)?)
    }

    /// Lists what is below a folder; nothing where it is not there. A link is named and not followed.
    ///
    /// # Errors
    /// What the system says; more than [`FILES_MAX`] files or [`DEPTH_MAX`] folders deep.
    pub(crate) fn walk(&self, below: &str) -> io::Result<WalkedTree> {
        let mut tree = WalkedTree::default();
        let mut folders = vec![(below.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let opened = match self.open_folder(&folder) {
                Ok(opened) => opened,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in Dir::read_from(&opened)? {
                let entry = entry?;
                let bytes = entry.file_name().to_bytes();
                if matches!(bytes, b"." | b"..") {
                    continue;
                }
                let joined =
                    |name: &str| if folder == "." { name.to_owned() } else { format!("{folder}/{name}") };
                let Ok(name) = std::str::from_utf8(bytes) else {
                    tree.others.push(joined(&String::from_utf8_lossy(bytes)));
                    continue;
                };
                let name = joined(name);
                let last = std::ffi::OsStr::from_bytes(bytes);
                let Ok(found) = rustix::fs::statat(&opened, last, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
                else {
                    continue;
                };
                match FileType::from_raw_mode(found.st_mode) {
                    FileType::Directory if depth + 1 < DEPTH_MAX => folders.push((name, depth + 1)),
                    FileType::Directory => return Err(io::Error::other("folders are too deep")),
                    FileType::RegularFile => tree.files.push(WalkedFile {
                        name,
                        bytes: found.st_size.unsigned_abs(),
                        mode: found.st_mode & 0o777,
                        changed: (found.st_ino, found.st_ctime, found.st_ctime_nsec.cast_signed()),
                    }),
                    _ => tree.others.push(name),
                }
                if tree.files.len() + tree.others.len() > FILES_MAX {
                    return Err(io::Error::other("there are too many files"));
                }
            }
        }
        tree.files.sort();
        tree.others.sort();
        Ok(tree)
    }
}

fn open_at(beneath: impl AsFd, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut attempts = 1;
    loop {
        match openat2(beneath.as_fd(), name, flags | OFlags::CLOEXEC, mode, RESOLVE) {
            Err(Errno::AGAIN | Errno::INTR) if attempts < OPEN_ATTEMPTS_MAX => attempts += 1,
            opened => return opened,
        }
    }
}
