//! Waits until something changes in a folder: the state directory, or the one of the log.
//!
//! A daemon that starts writes its lock file and makes its socket; one that ends, however it ends, closes
//! the lock file. Both are events of the folder. A span bounds every wait, since the last close is told
//! a moment before the lock is free, and since a system may have no watches left.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::net::unix::pipe;

/// A watch on one folder.
pub struct FolderWatch {
    folder: PathBuf,
    events: Option<pipe::Receiver>,
}

impl FolderWatch {
    /// Watches `folder`; where that is impossible, waits end by their span alone.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), events: Self::open(folder).ok() }
    }

    /// Returns whether changes are reported; otherwise waits end by their span alone.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.events.is_some()
    }

    /// Returns whether it is a watch on this folder.
    #[must_use]
    pub fn is_of(&self, folder: &Path) -> bool {
        self.folder == folder
    }

    fn open(folder: &Path) -> std::io::Result<pipe::Receiver> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        let what = WatchFlags::CREATE | WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO;
        inotify::add_watch(&fd, folder, what)?;
        // What tokio needs of it is what a pipe's end has: it can be polled and read.
        pipe::Receiver::from_owned_fd_unchecked(fd)
    }

    /// Returns after a change, or after `span`.
    pub async fn changed(&mut self, span: Duration) {
        let Some(events) = &self.events else { return tokio::time::sleep(span).await };
        if tokio::time::timeout(span, events.readable()).await.is_ok() {
            let mut sink = [0_u8; 4096];
            while events.try_read(&mut sink).is_ok_and(|count| count > 0) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_written_file_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let mut watch = FolderWatch::new(folder.path());
        std::fs::write(folder.path().join("lock"), "{}").unwrap();
        let long = Duration::from_secs(60);
        tokio::time::timeout(Duration::from_secs(10), watch.changed(long)).await.unwrap();
    }
}
