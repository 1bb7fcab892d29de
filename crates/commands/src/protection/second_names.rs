//! Files of a read-only folder that have a second name outside of it, by which they could be changed.
//!
//! Owns the search for hard links. A mount is for names: it does not keep a file that has another one. A program cannot
//! make such a name, because a link across mounts is refused, so that one look before it starts is enough. Source: link(2).

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Statx, StatxFlags, statx};

use super::tree::{WorkspaceTree, list};
use super::walk::ENTRIES_MAX;

/// A file with two names, one of them in a read-only folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecondName {
    pub(super) inside: PathBuf,
    pub(super) outside: PathBuf,
}

/// A file with several names: device and number.
type FileKey = (u32, u32, u64);

#[derive(Debug)]
struct LinkedFile {
    path: PathBuf,
    /// Names that were not met yet.
    names_left: u32,
}

/// Returns one, where there is one; `folders` are read-only.
pub(super) fn find(tree: &WorkspaceTree, folders: &[PathBuf]) -> io::Result<Option<SecondName>> {
    let mut linked: BTreeMap<FileKey, LinkedFile> = BTreeMap::new();
    walk(tree, folders.to_vec(), &[], |path, found| {
        if found.stx_nlink > 1 {
            let file = LinkedFile { path, names_left: found.stx_nlink };
            let known = linked.entry(key_of(found)).or_insert(file);
            known.names_left = known.names_left.saturating_sub(1);
        }
        None::<()>
    })?;
    linked.retain(|_, file| file.names_left > 0);
    if linked.is_empty() {
        return Ok(None);
    }
    walk(tree, vec![PathBuf::new()], folders, |outside, found| {
        let file = linked.get(&key_of(found))?;
        Some(SecondName { inside: file.path.clone(), outside })
    })
}

fn key_of(found: &Statx) -> FileKey {
    (found.stx_dev_major, found.stx_dev_minor, found.stx_ino)
}

/// Shows every regular file at or below some paths, until `see` returns something; what lies in `but` is left out.
fn walk<T>(
    tree: &WorkspaceTree,
    from: Vec<PathBuf>,
    but: &[PathBuf],
    mut see: impl FnMut(PathBuf, &Statx) -> Option<T>,
) -> io::Result<Option<T>> {
    let mut queue = VecDeque::new();
    for path in from {
        if path.as_os_str().is_empty() || is_folder(&tree.stat(&path)?) {
            queue.push_back(path);
        } else if let Some(seen) = see(path.clone(), &tree.stat(&path)?) {
            return Ok(Some(seen));
        }
    }
    let mut entries_left = ENTRIES_MAX;
    while let Some(path) = queue.pop_front() {
        let Some((entries, folder)) = listed(tree, &path, entries_left)? else { continue };
        entries_left -= entries.len();
        for entry in entries {
            let inner = path.join(&entry.name);
            if but.contains(&inner) {
                continue;
            }
            match entry.kind {
                FileType::Directory => queue.push_back(inner),
                FileType::RegularFile => {
                    let found =
                        statx(&folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS);
                    // One that is gone by now has no name left here.
                    if let Some(seen) = found.ok().and_then(|found| see(inner, &found)) {
                        return Ok(Some(seen));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(None)
}

/// Lists a folder; `None` for one that is gone by now.
fn listed(
    tree: &WorkspaceTree,
    path: &Path,
    entries_left: usize,
) -> io::Result<Option<(Vec<super::tree::TreeEntry>, std::os::fd::OwnedFd)>> {
    let opened = tree.folder(path).and_then(|folder| Ok((list(&folder, entries_left)?, folder)));
    match opened {
        Ok(((entries, true), folder)) => Ok(Some((entries, folder))),
        Ok(((_, false), _)) => Err(io::Error::other(format!("it has more than {ENTRIES_MAX} files"))),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn is_folder(found: &Statx) -> bool {
    FileType::from_raw_mode(found.stx_mode.into()).is_dir()
}
