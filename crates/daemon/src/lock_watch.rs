//! Whether the lock file is still where it was taken, and the socket where it was bound.
//!
//! A lock counts only for whoever opens the same file. Once that is removed or replaced another daemon may come,
//! so this one leaves; the journal's epoch keeps it from writing in between. A socket without its name is out of reach,
//! and is bound anew. Begin at [`until_gone`].

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::net::unix::pipe;

/// Where a lock or a socket lies, and which file it is.
#[derive(Debug, Clone)]
pub(crate) struct LockPlace {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl LockPlace {
    /// Remembers the file that is open as `own`.
    pub(crate) fn new(path: PathBuf, own: &Metadata) -> Self {
        Self { path, device: own.dev(), inode: own.ino() }
    }

    /// Returns whether the file is still in its place. While it is, no other daemon can serve there.
    pub(crate) fn is_locked(&self) -> bool {
        let there = std::fs::symlink_metadata(&self.path);
        there.is_ok_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }
}

/// Returns once the file is no longer in its place; never where nothing can be watched.
pub(crate) async fn until_gone(place: &LockPlace) {
    let events = match watch(&place.path) {
        Ok(events) => events,
        Err(error) => {
            let path = place.path.display();
            tracing::warn!(%error, "{path} cannot be watched; do not remove it");
            return std::future::pending().await;
        }
    };
    // The watch is set before the look, so that nothing falls between the two.
    while place.is_locked() {
        if events.readable().await.is_err() {
            return std::future::pending().await;
        }
        let mut sink = [0_u8; 4096];
        while events.try_read(&mut sink).is_ok_and(|count| count > 0) {}
    }
}

fn watch(path: &Path) -> std::io::Result<pipe::Receiver> {
    let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    // An open file that loses its name tells of a change of its attributes: the number of its names.
    let gone = WatchFlags::ATTRIB | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
    inotify::add_watch(&fd, path, gone)?;
    if let Some(dir) = path.parent() {
        inotify::add_watch(&fd, dir, WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR)?;
    }
    // What tokio needs of it is what a pipe's end has: it can be polled and read.
    pipe::Receiver::from_owned_fd_unchecked(fd)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn ends_when(change: impl FnOnce(&Path)) {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("state");
        std::fs::create_dir(&dir).expect("made");
        let path = dir.join("lock");
        let open = std::fs::File::create(&path).expect("made");
        let place = LockPlace::new(path.clone(), &open.metadata().expect("open"));
        let mut gone = Box::pin(until_gone(&place));
        assert!(futures::poll!(&mut gone).is_pending());
        std::fs::write(&path, "a new record").expect("written");
        assert!(futures::poll!(&mut gone).is_pending());
        change(&path);
        tokio::time::timeout(Duration::from_secs(10), gone).await.expect("noticed");
    }

    #[tokio::test]
    async fn a_lock_that_loses_its_place_is_noticed() {
        ends_when(|path| std::fs::remove_file(path).expect("removed")).await;
        ends_when(|path| std::fs::remove_dir_all(path.parent().expect("a parent")).expect("removed")).await;
        ends_when(|path| std::fs::rename(path, path.with_extension("old")).expect("moved")).await;
        ends_when(|path| {
            let other = path.with_extension("new");
            std::fs::write(&other, "").expect("written");
            std::fs::rename(other, path).expect("replaced");
        })
        .await;
        ends_when(|path| {
            let dir = path.parent().expect("a parent");
            std::fs::rename(dir, dir.with_extension("old")).expect("moved");
        })
        .await;
    }
}
