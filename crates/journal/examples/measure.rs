//! Measures the journal on this machine: appends at several widths, verifying, rebuilding, reading.
//!
//! `cargo run --release -p palyra-journal --example measure [sealed]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool of the workshop: printing is its work")]

use std::sync::Arc;
use std::time::Instant;

use palyra_journal::{JournalStore, OpenOptions, PayloadSealing};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, ReadTape};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};
use palyra_types::TapeSeq;

const RUNS_PER_WIDTH: u64 = 2_000;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let options = || {
        let entropy = FixedEntropy::new(1);
        let sealing = if std::env::args().any(|word| word == "sealed") {
            PayloadSealing::On
        } else {
            PayloadSealing::Off
        };
        let usual = OpenOptions::new(folder.path().to_owned(), Arc::new(FakeClock::new()), Arc::new(entropy));
        OpenOptions { sealing, ..usual }
    };
    let journal = JournalStore::open(&options()).unwrap();
    let mut next = 0;
    for width in [1, 4, 16, 64, 256] {
        let runs = if width == 1 { RUNS_PER_WIDTH / 4 } else { RUNS_PER_WIDTH };
        append_runs(&journal, width, next..next + runs).await;
        next += runs;
    }
    for _ in 0..10 {
        append_runs(&journal, 256, next..next + RUNS_PER_WIDTH).await;
        next += RUNS_PER_WIDTH;
    }
    let entries = journal.status().entries;
    let took = Instant::now();
    let report = journal.verify(Arc::new(|_, _| ())).await.unwrap();
    assert_eq!(report.fault, None);
    rate("verify", entries, took);
    let took = Instant::now();
    journal.rebuild(Arc::new(|_, _| ())).await.unwrap();
    rate("rebuild", entries, took);
    let took = Instant::now();
    for n in 0..2_000 {
        let run = SampleRun::new(samples::session(samples::principal(0), 0), n).run;
        journal.tape(run, TapeSeq(0), 1_000).await.unwrap();
    }
    rate("tapes read one after the other", 2_000, took);
    println!("{:?}", journal.status());
    journal.close().await;
    drop(journal);
    let took = Instant::now();
    drop(JournalStore::open(&options()).unwrap());
    println!("start on {entries} entries: {:?}", took.elapsed());
}

async fn append_runs(journal: &JournalStore, width: u64, runs: std::ops::Range<u64>) {
    let before = journal.status();
    let took = Instant::now();
    let total = runs.end - runs.start;
    let writers = (0..width).map(|writer| {
        let own =
            runs.clone().skip(usize::try_from(writer).unwrap()).step_by(usize::try_from(width).unwrap());
        async move {
            for n in own {
                let mut run = SampleRun::new(samples::session(samples::principal(0), 0), n);
                for request in run.text_run() {
                    journal.append(request).await.unwrap();
                }
            }
        }
    });
    futures::future::join_all(writers).await;
    let commits = journal.status().commits - before.commits;
    println!("{total} text runs, {width} at once: {commits} commits");
    rate("  entries", total * 6, took);
}

fn rate(what: &str, count: u64, since: Instant) {
    let seconds = since.elapsed().as_secs_f64();
    println!("{what}: {count} in {seconds:.3} s = {:.0}/s", count as f64 / seconds);
}
