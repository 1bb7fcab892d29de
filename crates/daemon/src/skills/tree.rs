//! Small trees of files, read, written and removed by descriptor.
//!
//! Invariant: below a root that was opened once, nothing is reached by a path, and no link is followed: the kernel
//! resolves each name with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use palyra_ports::skill_folders::{SKILL_BYTES_MAX, SKILL_DEPTH_MAX, SKILL_FILE_BYTES_MAX, SKILL_FILES_MAX};
use palyra_ports::{SkillFile, SkillFileMode, SkillFolderError};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, fsync, mkdirat, openat2, unlinkat,
};
use rustix::io::Errno;

/// How often an open is repeated when the tree changed under the kernel's resolution.
const OPEN_ATTEMPTS_MAX: usize = 16;
/// Folders within folders that a removal goes down.
const REMOVED_DEPTH_MAX: usize = 32;
/// Names of one folder that a removal takes away.
const REMOVED_NAMES_MAX: usize = 100_000;

const RESOLVE: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// What is read at the top of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TopContents {
    /// All of it.
    Whole,
    /// All but the folder in which git keeps its own.
    LeavesOutGit,
}

pub(super) fn system(errno: Errno) -> SkillFolderError {
    SkillFolderError::System { what: std::io::Error::from(errno).to_string() }
}

fn refused(what: String) -> SkillFolderError {
    SkillFolderError::Refused { what }
}

/// Opens a folder by a path that is the daemon's own, or a person's.
pub(super) fn open_root(path: &Path) -> Result<OwnedFd, SkillFolderError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    repeated(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_MAGICLINKS)).map_err(system)
}

/// Opens a folder beneath a descriptor.
pub(super) fn open_folder(beneath: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    open_beneath(beneath, path.as_os_str(), OFlags::RDONLY | OFlags::DIRECTORY)
}

fn open_beneath(beneath: impl AsFd, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let beneath = beneath.as_fd();
    repeated(|| openat2(beneath, name, flags | OFlags::CLOEXEC, Mode::empty(), RESOLVE))
}

/// The kernel answers `EAGAIN` when a rename raced its resolution; asking again is the remedy.
fn repeated(mut open: impl FnMut() -> Result<OwnedFd, Errno>) -> Result<OwnedFd, Errno> {
    let mut attempts = 1;
    loop {
        match open() {
            Err(Errno::AGAIN | Errno::INTR) if attempts < OPEN_ATTEMPTS_MAX => attempts += 1,
            outcome => return outcome,
        }
    }
}

/// Returns the names in an open folder, in order; one more than the limit is an error.
pub(super) fn read_names(folder: &OwnedFd, names_max: usize) -> Result<Vec<OsString>, SkillFolderError> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder).map_err(system)? {
        let entry = entry.map_err(system)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if names.len() == names_max {
            return Err(refused(format!("a folder has more than {names_max} entries")));
        }
        names.push(name.to_owned());
    }
    names.sort();
    Ok(names)
}

/// Reads all files of a tree, in order of path.
pub(super) fn read_tree(root: &OwnedFd, top: TopContents) -> Result<Vec<SkillFile>, SkillFolderError> {
    let mut reading = TreeReading::default();
    reading.folder(root, "", top)?;
    Ok(reading.files)
}

#[derive(Default)]
struct TreeReading {
    files: Vec<SkillFile>,
    bytes: usize,
    /// Files and folders.
    entries: usize,
    depth: usize,
}

impl TreeReading {
    fn folder(&mut self, folder: &OwnedFd, above: &str, top: TopContents) -> Result<(), SkillFolderError> {
        // Folders count as well as files, so that empty ones have an end, too.
        for name in read_names(folder, 2 * SKILL_FILES_MAX)? {
            if top == TopContents::LeavesOutGit && name == ".git" {
                continue;
            }
            let shown = format!("{above}{}", name.to_string_lossy());
            self.entries += 1;
            if self.entries > 2 * SKILL_FILES_MAX {
                return Err(refused(format!("it has more than {SKILL_FILES_MAX} files; leave some out")));
            }
            let Some(name_text) = name.to_str() else {
                return Err(refused(format!(
                    "`{}` has a name that is not UTF-8; rename it",
                    shown.escape_debug()
                )));
            };
            let path = format!("{above}{name_text}");
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
            let opened = match open_beneath(folder, &name, flags) {
                Ok(opened) => opened,
                Err(errno) => return Err(unopened(&path, errno)),
            };
            let status = fstat(&opened).map_err(system)?;
            match FileType::from_raw_mode(status.st_mode) {
                FileType::Directory => self.below(&opened, &path)?,
                FileType::RegularFile => self.file(File::from(opened), path, status.st_mode)?,
                _ => {
                    return Err(refused(format!(
                        "`{}` is not a regular file; remove it",
                        path.escape_debug()
                    )));
                }
            }
        }
        Ok(())
    }

    fn below(&mut self, folder: &OwnedFd, path: &str) -> Result<(), SkillFolderError> {
        if self.depth + 1 >= SKILL_DEPTH_MAX {
            let what =
                format!("`{}` is more than {SKILL_DEPTH_MAX} levels deep; move it up", path.escape_debug());
            return Err(refused(what));
        }
        self.depth += 1;
        self.folder(folder, &format!("{path}/"), TopContents::Whole)?;
        self.depth -= 1;
        Ok(())
    }

    fn file(&mut self, file: File, path: String, mode: u32) -> Result<(), SkillFolderError> {
        if self.files.len() == SKILL_FILES_MAX {
            return Err(refused(format!("it has more than {SKILL_FILES_MAX} files; leave some out")));
        }
        let mut bytes = Vec::new();
        let read = file.take(SKILL_FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| SkillFolderError::System { what: error.to_string() })?;
        if bytes.len() > SKILL_FILE_BYTES_MAX {
            let what = format!(
                "`{}` has more than {SKILL_FILE_BYTES_MAX} bytes; make it smaller",
                path.escape_debug()
            );
            return Err(refused(what));
        }
        self.bytes += bytes.len();
        if self.bytes > SKILL_BYTES_MAX {
            return Err(refused(format!("its files have more than {SKILL_BYTES_MAX} bytes; leave some out")));
        }
        let executable = Mode::from_raw_mode(mode).contains(Mode::XUSR);
        let mode = if executable { SkillFileMode::Executable } else { SkillFileMode::Plain };
        self.files.push(SkillFile { path, mode, bytes });
        Ok(())
    }
}

fn unopened(path: &str, errno: Errno) -> SkillFolderError {
    let shown = path.escape_debug();
    match errno {
        Errno::LOOP => refused(format!("`{shown}` is a symbolic link; put what it leads to there")),
        Errno::XDEV => refused(format!("`{shown}` leads out of the folder; take it out")),
        Errno::NXIO => refused(format!("`{shown}` is not a regular file; remove it")),
        Errno::ACCESS | Errno::PERM => refused(format!("`{shown}` may not be read; change its mode")),
        Errno::NOENT => refused(format!("`{shown}` was removed during the call; try again")),
        errno => system(errno),
    }
}

/// Writes files into a new folder, durably.
pub(super) fn write_tree(parent: &OwnedFd, name: &str, files: &[SkillFile]) -> Result<(), SkillFolderError> {
    mkdirat(parent, name, Mode::RWXU).map_err(system)?;
    let root = open_folder(parent, Path::new(name)).map_err(system)?;
    for file in files {
        let (folders, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let mut folder = open_folder(&root, Path::new(".")).map_err(system)?;
        for part in folders.split('/').filter(|part| !part.is_empty()) {
            match mkdirat(&folder, part, Mode::RWXU) {
                Ok(()) => fsync(&folder).map_err(system)?,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(system(errno)),
            }
            folder = open_folder(&folder, Path::new(part)).map_err(system)?;
        }
        write_file(&folder, name, file)
            .map_err(|error| SkillFolderError::System { what: error.to_string() })?;
        fsync(&folder).map_err(system)?;
    }
    fsync(&root).map_err(system)
}

fn write_file(folder: &OwnedFd, name: &str, file: &SkillFile) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = match file.mode {
        SkillFileMode::Plain => Mode::RUSR | Mode::WUSR,
        SkillFileMode::Executable => Mode::RWXU,
    };
    let mut written = File::from(openat2(folder, name, flags, mode, RESOLVE)?);
    written.write_all(&file.bytes)?;
    written.sync_all()
}

/// Removes whatever has a name in a folder; a link goes away, and what it leads to stays.
pub(super) fn remove_tree(parent: &OwnedFd, name: &str) -> Result<(), SkillFolderError> {
    remove(parent, OsStr::new(name), 0)
}

fn remove(parent: &OwnedFd, name: &OsStr, depth: usize) -> Result<(), SkillFolderError> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) if depth < REMOVED_DEPTH_MAX => {}
        Err(errno) => return Err(system(errno)),
    }
    let folder = open_folder(parent, Path::new(name)).map_err(system)?;
    for below in read_names(&folder, REMOVED_NAMES_MAX)? {
        remove(&folder, &below, depth + 1)?;
    }
    unlinkat(parent, name, AtFlags::REMOVEDIR).map_err(system)
}
