//! Opens a journal, begins to rebuild what is derived from its log, and stops in the middle; a test kills it.
//!
//! Run by a test: `rebuild_until_killed FOLDER`. Prints a line when every row is made anew and nothing is committed.
#![expect(clippy::unwrap_used, reason = "a test program: a failure is the message")]

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_testkit::{FakeClock, FixedEntropy};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let state_dir = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let entropy = FixedEntropy::new(u64::from(std::process::id()));
    let options = OpenOptions::new(state_dir, Arc::new(FakeClock::new()), Arc::new(entropy));
    let journal = JournalStore::open(&options).unwrap();
    let stop = Arc::new(|done: u64, total: u64| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{done} of {total}").unwrap();
        drop(out);
        loop {
            std::thread::park();
        }
    });
    journal.rebuild(stop).await.unwrap();
}
