//! Folders that stand for `/tmp` where a program cannot have one of its own.
//!
//! Owns their names and their end. Invariant: each is made for one program and removed after it; what a daemon that was
//! killed left behind goes when the next one begins.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, DirEntry, FileType, Mode, OFlags, RenameFlags, ResolveFlags, chmodat, openat, openat2,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::locked_dir::LockedDir;
use crate::spawn_blocking::spawn_blocking;

/// How their names begin.
const BEGINNING: &str = "program-";

/// Folders that are looked at in one round of removing.
const FOLDERS_AT_ONCE: usize = 1024;

/// One program's folder.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    folder: Option<LockedDir>,
}

impl ScratchFolder {
    /// Makes one in `place`; `name` is used once.
    pub(crate) fn make(place: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(place)?;
        LockedDir::make(place, &format!("{BEGINNING}{name}")).map(|folder| Self { folder: Some(folder) })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.as_ref().map_or(Path::new(""), |folder| &folder.path)
    }

    /// Removes it; blocks.
    pub(crate) fn remove(mut self) {
        self.folder.take().as_ref().map(remove);
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.folder.take() {
            spawn_blocking(move || remove(&folder));
        }
    }
}

/// Removes what earlier daemons left in `place`.
pub(crate) fn clear(place: &Path) {
    LeftScratch::all_in(place).into_iter().for_each(LeftScratch::remove);
}

/// Scratch space whose program has ended. While it lives, no other process takes it over.
#[derive(Debug)]
pub struct LeftScratch(LockedDir);

impl LeftScratch {
    /// Returns what is left in `place`; none where that is a link.
    #[must_use]
    pub fn all_in(place: &Path) -> Vec<Self> {
        if !fs::symlink_metadata(place).is_ok_and(|found| found.is_dir()) {
            return Vec::new();
        }
        LockedDir::abandoned(place, BEGINNING).unwrap_or_default().into_iter().map(Self).collect()
    }

    /// Returns its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Removes it, as far as that can be done: no link is followed, and nothing is removed beyond a mount. Blocks.
    pub fn remove(self) {
        remove(&self.0);
    }
}

fn remove(folder: &LockedDir) {
    // What cannot be removed now is tried again at the next start.
    let _ = remove_all(&folder.path);
}

/// Removes a folder and all below it, however deep that is and whatever modes it has: what lies deeper is moved up until
/// nothing does, with three descriptors and no recursion.
fn remove_all(path: &Path) -> io::Result<()> {
    let top = open_folder(CWD, path)?;
    let mut moved = 0_u64;
    loop {
        let mut folders = Vec::new();
        for entry in Dir::read_from(&top)?.filter(is_named) {
            let entry = entry?;
            let name = entry.file_name().to_owned();
            if is_folder(&top, &entry)? {
                folders.push(name);
            } else {
                unlinkat(&top, &name, AtFlags::empty())?;
            }
            if folders.len() == FOLDERS_AT_ONCE {
                break;
            }
        }
        if folders.is_empty() {
            return fs::remove_dir(path);
        }
        for name in folders {
            remove_or_flatten(&top, &name, &mut moved)?;
        }
    }
}

/// Empties a folder of `top` by moving its folders beside it, and removes it; may leave it when it had very many.
fn remove_or_flatten(top: &OwnedFd, name: &CStr, moved: &mut u64) -> io::Result<()> {
    if is_mount(top, name)? {
        return Err(io::ErrorKind::CrossesDevices.into());
    }
    chmodat(top, name, Mode::RWXU, AtFlags::empty())?;
    let folder = open_folder(top, name)?;
    for entry in Dir::read_from(&folder)?.filter(is_named) {
        let entry = entry?;
        let inner = entry.file_name();
        if !is_folder(&folder, &entry)? {
            unlinkat(&folder, inner, AtFlags::empty())?;
        } else if unlinkat(&folder, inner, AtFlags::REMOVEDIR).is_err() {
            // A folder that may not be written to cannot be moved either.
            chmodat(&folder, inner, Mode::RWXU, AtFlags::empty())?;
            loop {
                *moved += 1;
                let free = format!("moved-{moved}");
                match renameat_with(&folder, inner, top, free, RenameFlags::NOREPLACE) {
                    Err(Errno::EXIST) => {}
                    done => break done?,
                }
            }
        }
    }
    match unlinkat(top, name, AtFlags::REMOVEDIR) {
        // A list that is read while names leave it may miss some: the next round finds them.
        Err(Errno::NOTEMPTY) => Ok(()),
        done => Ok(done?),
    }
}

/// Returns whether a folder is one that is mounted there: its files are elsewhere, too.
fn is_mount(of: &OwnedFd, name: &CStr) -> io::Result<bool> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat2(of, name, flags, Mode::empty(), ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS) {
        Ok(_) => Ok(false),
        Err(Errno::XDEV) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn open_folder(at: impl AsFd, path: impl rustix::path::Arg) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty())
}

fn is_named(entry: &rustix::io::Result<DirEntry>) -> bool {
    !entry.as_ref().is_ok_and(|entry| [c".", c".."].contains(&entry.file_name()))
}

fn is_folder(of: &OwnedFd, entry: &DirEntry) -> io::Result<bool> {
    let kind = match entry.file_type() {
        FileType::Unknown => {
            let told = statat(of, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(told.st_mode)
        }
        kind => kind,
    };
    Ok(kind == FileType::Directory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_left_is_removed_and_what_is_used_is_not() {
        let place = tempfile::tempdir().expect("a folder");
        let used = ScratchFolder::make(place.path(), "1-1").expect("a folder");
        let left = place.path().join("program-1-2");
        fs::create_dir_all(left.join("deep")).expect("one that was left");
        fs::write(place.path().join("file"), "").expect("something else");
        clear(place.path());
        assert!(used.path().is_dir() && !left.exists() && place.path().join("file").exists());
        let path = used.path().to_owned();
        used.remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_is_planted_there_leads_to_nothing_that_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (place, outside) = (folder.path().join("scratch"), folder.path().join("journal"));
        let left = place.join("program-1-2");
        fs::create_dir_all(left.join("deep")).expect("one that was left");
        fs::create_dir(&outside).expect("a folder");
        fs::write(outside.join("journal.db"), "kept").expect("a file");
        for link in [left.join("link"), left.join("deep/link"), place.join("program-3-4")] {
            std::os::unix::fs::symlink(&outside, link).expect("a link");
        }
        std::os::unix::fs::symlink(outside.join("journal.db"), left.join("file")).expect("a link");
        fs::hard_link(outside.join("journal.db"), left.join("second-name")).expect("a second name");
        clear(&place);
        assert!(!left.exists());
        assert_eq!(fs::read_to_string(outside.join("journal.db")).expect("it is there"), "kept");
        // A link in the place of the whole.
        fs::rename(&place, folder.path().join("before")).expect("it is moved");
        fs::rename(&outside, folder.path().join("program-5-6")).expect("a name as scratch space has");
        std::os::unix::fs::symlink(folder.path(), &place).expect("a link");
        clear(&place);
        assert!(folder.path().join("program-5-6/journal.db").exists());
    }

    /// The process has mounts of its own from here on; so it needs root, or may make namespaces.
    #[test]
    fn what_is_mounted_there_stays() {
        use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
        use rustix::thread::{UnshareFlags, unshare_unsafe};

        let folder = tempfile::tempdir().expect("a folder");
        let (place, outside) = (folder.path().join("scratch"), folder.path().join("journal"));
        let mounted = place.join("program-1-2/mounted");
        fs::create_dir_all(&mounted).expect("one that was left");
        fs::create_dir(&outside).expect("a folder");
        fs::write(outside.join("journal.db"), "kept").expect("a file");
        let cleared = std::thread::spawn(move || {
            // SAFETY: the thread shares no table of mounts afterwards, and ends soon.
            if unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.is_err() {
                return false;
            }
            mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)
                .expect("private mounts");
            mount_bind(&outside, &mounted).expect("a mount");
            clear(&place);
            assert!(mounted.join("journal.db").exists(), "it was removed through the mount");
            true
        });
        if cleared.join().expect("it was tried") {
            assert!(folder.path().join("journal/journal.db").exists());
        }
    }

    /// Makes folders in each other, from `at` on.
    fn deep(at: &Path, depth: usize) {
        let mut folder = open_folder(CWD, at).expect("the first");
        for _ in 0..depth {
            rustix::fs::mkdirat(&folder, "d", Mode::RWXU).expect("one deeper");
            folder = open_folder(&folder, "d").expect("one deeper");
        }
        openat(&folder, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).expect("a file");
    }

    #[test]
    fn what_is_deeper_than_any_stack_or_table_of_descriptors_goes() {
        let place = tempfile::tempdir().expect("a folder");
        let used = ScratchFolder::make(place.path(), "1-1").expect("a folder");
        deep(used.path(), 30_000);
        fs::create_dir(used.path().join("moved-1")).expect("a name that is taken");
        let few = rustix::process::Rlimit { current: Some(32), maximum: Some(32) };
        rustix::process::setrlimit(rustix::process::Resource::Nofile, few).expect("few descriptors");
        let path = used.path().to_owned();
        used.remove();
        assert!(!path.exists());
    }

    #[test]
    fn what_its_user_has_locked_goes() {
        let place = tempfile::tempdir().expect("a folder");
        fs::set_permissions(place.path(), PermissionsExt::from_mode(0o777)).expect("open to all");
        let place = place.path().to_owned();
        // For root nothing is locked: another thread is somebody else.
        let removed = std::thread::spawn(move || {
            if rustix::process::getuid().is_root() {
                rustix::thread::set_thread_uid(rustix::thread::Uid::from_raw(65_534)).expect("nobody");
            }
            let used = ScratchFolder::make(&place, "1-1").expect("a folder");
            for (name, mode) in [("read-only", 0o555), ("closed", 0)] {
                let folder = used.path().join(name);
                fs::create_dir_all(folder.join("inner")).expect("a folder");
                for file in ["file", "inner/file"] {
                    fs::write(folder.join(file), "").expect("a file");
                }
                for locked in ["inner", ""] {
                    fs::set_permissions(folder.join(locked), PermissionsExt::from_mode(mode))
                        .expect("locked");
                }
            }
            let path = used.path().to_owned();
            used.remove();
            path
        });
        assert!(!removed.join().expect("it was tried").exists());
    }
}
