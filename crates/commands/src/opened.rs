//! Files as they are opened before they are run.
//!
//! Owns the open: a path without links, resolved by the kernel, and a regular file at its end. Invariant: what lies in
//! the workspace is never opened outside of it, whatever a job does to it meanwhile, and nothing is waited for. There is
//! no fallback. Source: openat2(2).

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use palyra_ports::WorkspaceRoot;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2, readlinkat};
use rustix::io::Errno;

/// How often an open is repeated when the tree changed under the kernel's resolution.
const OPEN_ATTEMPTS_MAX: usize = 16;

/// Opens a regular file at its real path; beneath the workspace where the path says so.
pub(crate) fn open_file(workspace: &WorkspaceRoot, real: &Path) -> io::Result<File> {
    let without_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match real.strip_prefix(workspace.path()) {
        Ok(inner) => {
            let resolve = without_links | ResolveFlags::BENEATH;
            repeated(|| openat2(workspace, inner, flags, Mode::empty(), resolve))?
        }
        Err(_elsewhere) => repeated(|| openat2(CWD, real, flags, Mode::empty(), without_links))?,
    };
    // The kind is asked of the descriptor: a name may change its meaning in between.
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(File::from(file))
}

/// Why a program is not started in a folder.
#[derive(Debug)]
pub(crate) enum FolderProblem {
    /// Nothing is there.
    Missing,
    /// Something else is there.
    NoFolder,
    /// It is a link, or lies behind one.
    Link {
        /// The link, from the workspace root.
        link: PathBuf,
        /// What it says.
        target: PathBuf,
    },
    /// The system does not open it.
    Unusable(io::Error),
}

/// Checks that a folder lies at a path beneath the workspace, and that no link leads to it.
pub(crate) fn check_folder(workspace: &WorkspaceRoot, inner: &Path) -> Result<(), FolderProblem> {
    let beneath = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = repeated(|| openat2(workspace, beneath, flags, Mode::empty(), resolve));
    let Err(error) = opened else { return Ok(()) };
    // With `O_DIRECTORY` the kernel calls a link at the end no folder.
    if let Some((link, target)) = first_link(workspace, inner) {
        return Err(FolderProblem::Link { link, target });
    }
    Err(match error.kind() {
        io::ErrorKind::NotFound => FolderProblem::Missing,
        io::ErrorKind::NotADirectory => FolderProblem::NoFolder,
        _ => FolderProblem::Unusable(error),
    })
}

/// Returns the first link on the way to a folder, and what it says.
fn first_link(workspace: &WorkspaceRoot, inner: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut way = PathBuf::new();
    inner.iter().find_map(|name| {
        way.push(name);
        // What was no link up to here is followed without one.
        let target = readlinkat(workspace, &way, Vec::new()).ok()?;
        Some((way.clone(), PathBuf::from(OsStr::from_bytes(target.to_bytes()))))
    })
}

/// Reads a file to its end, piece by piece; one of more than `bytes_max` is refused, never read in part.
pub(crate) fn read_whole(mut file: &File, bytes_max: u64, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let too_large = || Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large to be run"));
    if file.metadata()?.len() > bytes_max {
        return too_large();
    }
    let (mut read, mut piece) = (0, vec![0; 64 * 1024]);
    loop {
        let length = match file.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // Whoever writes to it meanwhile makes it no longer.
        read += length as u64;
        if read > bytes_max {
            return too_large();
        }
        take(&piece[..length]);
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::mknodat;

    use super::*;

    fn text(workspace: &Path, path: &Path, bytes_max: u64) -> io::Result<String> {
        let mut bytes = Vec::new();
        let workspace = WorkspaceRoot::open(workspace).map_err(io::Error::other)?;
        read_whole(&open_file(&workspace, path)?, bytes_max, |piece| bytes.extend_from_slice(piece))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn a_file_that_became_a_link_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("the folder");
        let (work, secret) = (root.join("work"), root.join("secret"));
        std::fs::create_dir_all(work.join("a")).expect("a folder");
        std::fs::write(&secret, "secret").expect("a file");
        std::fs::write(work.join("a/tool"), "tool").expect("a file");
        // As it was looked at: free of links.
        let real = work.join("a/tool").canonicalize().expect("a file");
        assert_eq!(text(&work, &real, 100).expect("it is read"), "tool");
        std::fs::remove_file(&real).expect("it goes");
        symlink(&secret, &real).expect("a link");
        assert!(text(&work, &real, 100).is_err());
        // The folder above likewise.
        std::fs::remove_dir_all(work.join("a")).expect("it goes");
        std::fs::rename(&secret, root.join("tool")).expect("it moves");
        symlink(&root, work.join("a")).expect("a link");
        assert_eq!(std::fs::read_to_string(&real).expect("it leads there"), "secret");
        assert!(text(&work, &real, 100).is_err());
    }

    #[test]
    fn what_is_no_regular_file_is_refused_without_waiting() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = folder.path().canonicalize().expect("the folder");
        let pipe = work.join("pipe");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
        for path in [pipe.as_path(), &work, Path::new("/dev/zero")] {
            assert!(text(&work, path, 100).is_err(), "{}", path.display());
        }
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = folder.path().canonicalize().expect("the folder");
        std::fs::write(work.join("tool"), "12345").expect("a file");
        assert_eq!(text(&work, &work.join("tool"), 5).expect("it fits"), "12345");
        let refused = text(&work, &work.join("tool"), 4).expect_err("it is too large");
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
    }
}
