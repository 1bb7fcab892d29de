//! Whether somebody else could have written a file that decides what the daemon does.
//!
//! Owns what counts as somebody else: everybody but the daemon's user and root. Invariant: a file passes only when no
//! folder above it, no link on the way to it and not the file itself can be written or replaced by them.
//! Begin at [`check`].

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Links that are followed to a file, at most; the kernel follows as many.
const LINKS_MAX: usize = 40;
const STICKY: u32 = 0o1000;

/// Why a file or a folder is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UntrustedPlace {
    /// Others may write it.
    #[error(
        "others may write {} (mode {mode:04o}); look at what is there, then `chmod go-w {}`", path.display(), path.display()
    )]
    Writable {
        /// What they may write.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It is another user's.
    #[error("{} belongs to user {uid}; look at what is there, then `chown {own} {}`", path.display(), path.display())]
    Foreign {
        /// What is another user's.
        path: PathBuf,
        /// Whose.
        uid: u32,
        /// Who it should belong to.
        own: u32,
    },
    /// It cannot be looked at.
    #[error("{} cannot be looked at: {what}", path.display())]
    Unchecked {
        /// What.
        path: PathBuf,
        /// What the system says.
        what: String,
    },
}

/// Looks at a file or a folder, at every folder above it and at the links on the way. What is not there passes.
///
/// # Errors
/// [`UntrustedPlace`], which names the first thing that somebody else could have written, and the mend.
pub(crate) fn check(path: &Path) -> Result<(), UntrustedPlace> {
    let own = rustix::process::geteuid().as_raw();
    let unchecked = |path: &Path, error: &io::Error| UntrustedPlace::Unchecked {
        path: path.to_owned(),
        what: error.to_string(),
    };
    let mut place = std::path::absolute(path).map_err(|error| unchecked(path, &error))?;
    for _ in 0..LINKS_MAX {
        let Some(parent) = place.parent() else { return look(&place, own).map(drop) };
        let real = match parent.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unchecked(parent, &error)),
        };
        // As it is written, because links on the way can be replaced where they lie; and where they lead to.
        for folder in parent.ancestors().chain(real.ancestors()) {
            look(folder, own)?;
        }
        if look(&place, own)? != PathFinding::Link {
            return Ok(());
        }
        let target = std::fs::read_link(&place).map_err(|error| unchecked(&place, &error))?;
        place = real.join(target);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathFinding {
    Nothing,
    Link,
    Other,
}

/// Looks at one name; at a link, and not at what it leads to.
fn look(path: &Path, own: u32) -> Result<PathFinding, UntrustedPlace> {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(PathFinding::Nothing),
        Err(error) => {
            let what = error.to_string();
            return Err(UntrustedPlace::Unchecked { path: path.to_owned(), what });
        }
    };
    if ![own, 0].contains(&found.uid()) {
        return Err(UntrustedPlace::Foreign { path: path.to_owned(), uid: found.uid(), own });
    }
    if found.is_symlink() {
        // Its mode says nothing; who could replace it is said by the folder that it lies in.
        return Ok(PathFinding::Link);
    }
    if is_shared(&found, own) {
        return Err(UntrustedPlace::Writable { path: path.to_owned(), mode: found.mode() & 0o7777 });
    }
    Ok(PathFinding::Other)
}

/// Returns whether others can change what is there. In a sticky folder they can only add, and what is there has an owner
/// of its own.
fn is_shared(found: &Metadata, own: u32) -> bool {
    if found.is_dir() && found.mode() & STICKY != 0 {
        return false;
    }
    let others = found.mode() & 0o002 != 0;
    let group = found.mode() & 0o020 != 0;
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    others || (group && !is_alone(own, found.gid(), &read("/etc/passwd"), &read("/etc/group")))
}

/// Returns whether a group is one that a user has alone, as many systems make one for everybody. What these two files do
/// not tell is not known, and then it is not.
fn is_alone(own: u32, group: u32, passwd: &str, groups: &str) -> bool {
    let mut name = None;
    for line in passwd.lines() {
        let parts: Vec<&str> = line.split(':').collect();
        let [user, _, uid, gid, ..] = parts.as_slice() else { continue };
        let (uid, gid) = (uid.parse::<u32>().ok(), gid.parse::<u32>().ok());
        if uid == Some(own) {
            name = name.or(Some((*user).to_owned()));
        } else if gid == Some(group) {
            return false;
        }
    }
    let Some(name) = name else { return false };
    let mut is_listed = false;
    for line in groups.lines() {
        let parts: Vec<&str> = line.split(':').collect();
        let [_, _, gid, members] = parts.as_slice() else { continue };
        if gid.parse() == Ok(group) {
            is_listed = true;
            if !members.split(',').all(|member| member.is_empty() || member == name) {
                return false;
            }
        }
    }
    is_listed
}

#[cfg(test)]
mod tests;
