//! The workspace's tree, read and changed by descriptors.
//!
//! Owns every open below the root: the kernel resolves each path beneath it and without links, so that a job that
//! changes the tree meanwhile cannot lead anywhere else. Knows nothing of what is protected. Source: openat2(2).

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use palyra_ports::WorkspaceRoot;
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Statx, StatxFlags, mkdirat, openat2,
    readlinkat, renameat_with, statat, statx, symlinkat, unlinkat,
};
use rustix::io::Errno;

/// How often an open is repeated when the tree changed under the kernel's resolution.
const OPEN_ATTEMPTS_MAX: usize = 16;

/// An open folder below which everything is found.
#[derive(Debug)]
pub(crate) struct WorkspaceTree {
    root: OwnedFd,
    workspace: WorkspaceRoot,
}

/// One name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileType,
}

/// What a file, link or folder is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SavedEntry {
    File { mode: u32, bytes: Vec<u8> },
    Link { target: OsString },
    Folder { mode: u32, entries: Vec<(OsString, SavedEntry)> },
}

/// How much is read of files and folders, all together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadBudget {
    pub(crate) bytes: usize,
    pub(crate) entries: usize,
}

impl WorkspaceTree {
    /// Opens a workspace's folder for reading, by its descriptor: whatever its path leads to by now.
    pub(crate) fn open(workspace: WorkspaceRoot) -> io::Result<Self> {
        let root = repeated(|| openat2(&workspace, ".", FOLDER, Mode::empty(), BENEATH))?;
        Ok(Self { root, workspace })
    }

    /// Opens a folder of the daemon's own.
    pub(crate) fn open_own(folder: &Path) -> io::Result<Self> {
        Self::open(WorkspaceRoot::open(&folder.canonicalize()?).map_err(io::Error::other)?)
    }

    /// Returns the path by which the root was opened.
    pub(crate) fn path(&self) -> &Path {
        self.workspace.path()
    }

    /// Opens a folder beneath the root.
    pub(crate) fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        repeated(|| openat2(&self.root, path, FOLDER, Mode::empty(), BENEATH))
    }

    /// Returns what a name is, links not followed.
    pub(crate) fn stat(&self, path: &Path) -> io::Result<Statx> {
        let (folder, name) = self.parent(path)?;
        Ok(statx(&folder, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS | StatxFlags::BTIME)?)
    }

    /// Opens the folder in which a name lies.
    pub(crate) fn parent<'p>(&self, path: &'p Path) -> io::Result<(OwnedFd, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// Reads a whole regular file of at most `bytes_max`.
    pub(crate) fn read(&self, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
        read_file(&self.root, path, bytes_max)
    }

    /// Reads what lies at a name, as far as the budget goes; `None` when it goes no further.
    pub(crate) fn save(&self, path: &Path, budget: &mut ReadBudget) -> Option<SavedEntry> {
        let (folder, name) = self.parent(path).ok()?;
        save_at(&folder, name, budget, 0)
    }

    /// Returns how many names the file has that has most of them, at or below a path; where not all could be looked at,
    /// more than any file has.
    pub(crate) fn most_links(&self, path: &Path) -> u32 {
        const ENTRIES_MAX: usize = 20_000;
        let mut entries_left = ENTRIES_MAX;
        let mut queue = VecDeque::from([path.to_owned()]);
        let mut most = 1;
        while let Some(path) = queue.pop_front() {
            let Ok(stat) = self.stat(&path) else { return u32::MAX };
            if !FileType::from_raw_mode(stat.stx_mode.into()).is_dir() {
                most = most.max(stat.stx_nlink);
                continue;
            }
            let listed = self.folder(&path).and_then(|folder| list(&folder, entries_left));
            let Ok((entries, true)) = listed else { return u32::MAX };
            entries_left -= entries.len();
            queue.extend(entries.into_iter().map(|entry| path.join(entry.name)));
        }
        most
    }

    /// Puts back what was saved under a name that is free.
    pub(crate) fn restore(&self, path: &Path, saved: &SavedEntry) -> io::Result<()> {
        let (folder, name) = self.parent(path)?;
        let draft = format!(".palyra-restored-{}-{}", std::process::id(), folder.as_raw_fd());
        write_at(&folder, OsStr::new(&draft), saved)?;
        let placed = renameat_with(&folder, draft.as_str(), &folder, name, RenameFlags::NOREPLACE);
        if placed.is_err() {
            remove_at(&folder, OsStr::new(&draft));
        }
        Ok(placed?)
    }

    /// Moves what lies at a name to another folder, where that name is free.
    pub(crate) fn move_out(&self, path: &Path, to: &OwnedFd, name: &str) -> io::Result<()> {
        const COPY: ReadBudget = ReadBudget { bytes: 64 << 20, entries: 20_000 };
        let (folder, from) = self.parent(path)?;
        match renameat_with(&folder, from, to, name, RenameFlags::NOREPLACE) {
            Err(Errno::XDEV) => {}
            moved => return Ok(moved?),
        }
        // On another file system: first it loses its name, so that nothing runs it while it is copied.
        let neutral = format!(".palyra-aside-{}-{name}", std::process::id());
        renameat_with(&folder, from, &folder, neutral.as_str(), RenameFlags::NOREPLACE)?;
        let mut budget = COPY;
        let copy = save_at(&folder, OsStr::new(&neutral), &mut budget, 0);
        let copy = copy.ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"))?;
        write_at(to, OsStr::new(name), &copy)?;
        remove_at(&folder, OsStr::new(&neutral));
        Ok(())
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Lists an open folder; at most `entries_max` names, and whether these are all.
pub(crate) fn list(folder: &OwnedFd, entries_max: usize) -> io::Result<(Vec<TreeEntry>, bool)> {
    let mut found = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if found.len() == entries_max {
            return Ok((found, false));
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell the kind in the listing.
            FileType::Unknown => statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
            known => known,
        };
        found.push(TreeEntry { name: name.to_owned(), kind });
    }
    Ok((found, true))
}

fn read_file(at: &OwnedFd, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(repeated(|| openat2(at, path, flags, Mode::empty(), BENEATH))?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > bytes_max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok(bytes)
}

fn save_at(folder: &OwnedFd, name: &OsStr, budget: &mut ReadBudget, depth: usize) -> Option<SavedEntry> {
    const DEPTH_MAX: usize = 32;
    budget.entries = budget.entries.checked_sub(1)?;
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let mode = stat.st_mode & 0o777;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {
            let bytes = read_file(folder, Path::new(name), budget.bytes).ok()?;
            budget.bytes -= bytes.len();
            Some(SavedEntry::File { mode, bytes })
        }
        FileType::Symlink => {
            let target = readlinkat(folder, name, Vec::new()).ok()?;
            Some(SavedEntry::Link { target: OsStr::from_bytes(target.to_bytes()).to_owned() })
        }
        FileType::Directory if depth < DEPTH_MAX => {
            let inner = repeated(|| openat2(folder, name, FOLDER, Mode::empty(), BENEATH)).ok()?;
            let (mut named, whole) = list(&inner, budget.entries).ok()?;
            named.sort_by(|a, b| a.name.cmp(&b.name));
            let mut entries = Vec::new();
            for entry in named {
                let saved = save_at(&inner, &entry.name, budget, depth + 1)?;
                entries.push((entry.name, saved));
            }
            whole.then_some(SavedEntry::Folder { mode, entries })
        }
        _ => None,
    }
}

fn write_at(folder: &OwnedFd, name: &OsStr, saved: &SavedEntry) -> io::Result<()> {
    match saved {
        SavedEntry::File { mode, bytes } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
            let mut file = File::from(file);
            file.write_all(bytes)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(*mode))?;
            file.sync_all()
        }
        SavedEntry::Link { target } => Ok(symlinkat(target.as_os_str(), folder, name)?),
        SavedEntry::Folder { mode, entries } => {
            mkdirat(folder, name, Mode::RWXU)?;
            let inner = repeated(|| openat2(folder, name, FOLDER, Mode::empty(), BENEATH))?;
            for (name, saved) in entries {
                write_at(&inner, name, saved)?;
            }
            Ok(rustix::fs::fchmod(&inner, Mode::from_raw_mode(*mode))?)
        }
    }
}

/// Removes what lies at a name; what cannot be removed stays under that name, behind which nothing runs.
fn remove_at(folder: &OwnedFd, name: &OsStr) {
    if unlinkat(folder, name, AtFlags::empty()).is_err() {
        let folder = PathBuf::from(format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd()));
        let _ = std::fs::remove_dir_all(folder.join(name));
    }
}

fn repeated<T>(mut open: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    let mut attempts = 1;
    loop {
        match open() {
            Err(Errno::AGAIN | Errno::INTR) if attempts < OPEN_ATTEMPTS_MAX => attempts += 1,
            outcome => return outcome.map_err(io::Error::from),
        }
    }
}
