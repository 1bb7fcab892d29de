//! Watches the journal's files, so that one that is taken away is noticed while nobody appends.
//!
//! Owns the watch on the state directory. What a missing file means is the journal's.

use std::path::{Path, PathBuf};

use palyra_journal::JournalStore;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use tokio::net::unix::pipe;

/// Lets the journal look at its files whenever a name in the state directory comes or goes.
pub(crate) async fn run(journal: JournalStore, state_dir: PathBuf) {
    let events = match watch(&state_dir) {
        Ok(events) => events,
        Err(error) => {
            tracing::warn!(%error, "the journal's files cannot be watched; they are looked at with each commit");
            return;
        }
    };
    loop {
        journal.look_at_files();
        if events.readable().await.is_err() {
            return;
        }
        let mut sink = [0_u8; 4096];
        while events.try_read(&mut sink).is_ok_and(|count| count > 0) {}
    }
}

fn watch(dir: &Path) -> std::io::Result<pipe::Receiver> {
    let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let names = WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
    inotify::add_watch(&fd, dir, names)?;
    // What tokio needs of it is what a pipe's end has: it can be polled and read.
    pipe::Receiver::from_owned_fd_unchecked(fd)
}
