//! Appends runs for ever and says on standard output what was acknowledged; a test kills it.
//!
//! Run by a test: `append_until_killed FOLDER`. Prints one line per acknowledged append: run number, tape number.
#![expect(clippy::unwrap_used, reason = "a test program: a failure is the message")]

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let state_dir = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let entropy = FixedEntropy::new(u64::from(std::process::id()));
    let options = OpenOptions::new(state_dir, Arc::new(FakeClock::new()), Arc::new(entropy));
    let journal = JournalStore::open(&options).unwrap();
    let first = journal.status().entries;
    let writers = (0..4).map(|writer| append_for_ever(journal.clone(), 1_000_000 * writer + first));
    futures::future::join_all(writers).await;
}

async fn append_for_ever(journal: JournalStore, first: u64) {
    for n in first.. {
        let mut run = SampleRun::new(samples::session(samples::principal(0), 0), n);
        let mut requests = run.text_run();
        let large = "large ".repeat(3_000);
        requests.push(samples::append(vec![run.tool_finished(1, &large)]));
        for request in requests {
            let tape_seq = request.entries.last().and_then(|entry| entry.run).unwrap().1;
            journal.append(request).await.unwrap();
            let mut out = std::io::stdout().lock();
            writeln!(out, "{n} {tape_seq}").unwrap();
            out.flush().unwrap();
        }
    }
}
