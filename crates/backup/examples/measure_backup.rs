//! How long a writer waits while its journal is backed up: `measure [MIB]`.
//!
//! Fills a journal, then measures appends of one run each: alone for five seconds, and while a backup is made. Prints the
//! median, the 99th percentile and the longest.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program of the workshop: a failure is the message"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palyra_backup::{BackupPlan, BackupWatch, ConfigPlaces, CopyPace, KeyFiles, create};
use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::AppendTape;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};

const MIB: u64 = 1024 * 1024;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mib: u64 = std::env::args().nth(1).map_or(128, |mib| mib.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let state_dir = folder.path().join("state");
    let options =
        OpenOptions::new(state_dir.clone(), Arc::new(FakeClock::new()), Arc::new(FixedEntropy::new(1)));
    let journal = JournalStore::open(&options).unwrap();
    let mut number = 0;
    while std::fs::metadata(state_dir.join("journal.db")).unwrap().len() < mib * MIB {
        append(&journal, number, 100_000).await;
        number += 1;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let alone = tokio::spawn(write_until(journal.clone(), number, Arc::clone(&stop)));
    tokio::time::sleep(Duration::from_secs(5)).await;
    stop.store(true, Ordering::SeqCst);
    let (next, spans) = alone.await.unwrap();
    report("alone", spans);

    let stop = Arc::new(AtomicBool::new(false));
    let beside = tokio::spawn(write_until(journal.clone(), next, Arc::clone(&stop)));
    let plan = BackupPlan {
        state_dir,
        config: ConfigPlaces::default(),
        target: folder.path().join("copy"),
        keys: KeyFiles::LeftOut,
        pace: CopyPace::BesideWriter,
        program_version: String::new(),
        now_unix_us: 0,
    };
    let begun = Instant::now();
    let made =
        tokio::task::spawn_blocking(move || create(&plan, &BackupWatch::default())).await.unwrap().unwrap();
    let took = begun.elapsed();
    stop.store(true, Ordering::SeqCst);
    report("beside a backup", beside.await.unwrap().1);
    let (bytes, steps, longest) = (made.manifest.total_bytes() / MIB, made.steps, made.longest_step);
    println!("{bytes} MiB in {took:?}, {steps} steps, the longest {longest:?}");
    journal.close().await;
}

async fn append(journal: &JournalStore, number: u64, bytes: usize) {
    let session = samples::session(samples::principal(0), 0);
    let mut run = SampleRun::new(session, number);
    let text = "y".repeat(bytes);
    let entries = vec![run.started("x"), run.requested(1), run.text(1, &text), run.finished()];
    journal.append(samples::append(entries)).await.unwrap();
}

/// Appends until it is stopped; returns the next number of a run and how long each append took.
async fn write_until(journal: JournalStore, from: u64, stop: Arc<AtomicBool>) -> (u64, Vec<Duration>) {
    let (mut next, mut spans) = (from, Vec::new());
    while !stop.load(Ordering::SeqCst) {
        let begun = Instant::now();
        append(&journal, next, 2_000).await;
        spans.push(begun.elapsed());
        next += 1;
    }
    (next, spans)
}

fn report(what: &str, mut spans: Vec<Duration>) {
    spans.sort();
    let at = |percent: usize| spans[(spans.len() - 1) * percent / 100];
    println!("{what}: {} appends, median {:?}, p99 {:?}, longest {:?}", spans.len(), at(50), at(99), at(100));
}
