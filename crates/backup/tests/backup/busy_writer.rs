//! Backups while a writer is at work: one state of the journal, and a writer that does not wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use palyra_backup::{BackupWatch, CopyPace, StopSignal, check_backup, create};
use palyra_journal::JournalStore;
use palyra_ports::maintain_journal::MaintainJournal;

use crate::house::{House, write_runs};

/// Appends until it is stopped; returns the next number of a run and the longest append.
async fn write_until(journal: JournalStore, from: u64, stop: Arc<AtomicBool>) -> (u64, Duration) {
    let (mut next, mut longest) = (from, Duration::ZERO);
    while !stop.load(Ordering::SeqCst) {
        let begun = Instant::now();
        write_runs(&journal, next, 1).await;
        longest = longest.max(begun.elapsed());
        next += 1;
    }
    (next, longest)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_under_a_writer_is_one_state_of_the_journal() {
    let house = House::new();
    let journal = house.open();
    write_runs(&journal, 0, 2_000).await;
    let before = journal.status().entries;
    let stop = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn(write_until(journal.clone(), 2_000, Arc::clone(&stop)));
    let steps_seen = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&steps_seen);
    let watch = BackupWatch {
        progress: Arc::new(move |_, _| {
            let _ = seen.fetch_add(1, Ordering::SeqCst);
        }),
        stop: StopSignal::default(),
    };
    let plan = house.plan("copy", CopyPace::BesideWriter);
    let made = tokio::task::spawn_blocking(move || create(&plan, &watch)).await.unwrap().unwrap();
    let after = journal.status().entries;
    stop.store(true, Ordering::SeqCst);
    let (_, longest) = writer.await.unwrap();
    let copied = made.manifest.entries;
    assert!((before..=after).contains(&copied), "{before} <= {copied} <= {after}");
    assert!(after > before, "the writer was at work meanwhile");
    assert!(made.steps > 4 && steps_seen.load(Ordering::SeqCst) > 4, "it was made in steps: {}", made.steps);
    println!("longest append {longest:?}, longest step {:?}, {} steps", made.longest_step, made.steps);
    let checked = check_backup(&house.path("copy"), &BackupWatch::default()).unwrap();
    assert_eq!((checked.findings.as_slice(), checked.entries), (&[][..], copied));
    assert!(checked.signed_entries > 0);
    journal.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_that_is_stopped_leaves_nothing() {
    let house = House::new();
    let journal = house.open();
    write_runs(&journal, 0, 1_000).await;
    let stop = StopSignal::default();
    let stopper = stop.clone();
    let watch = BackupWatch { progress: Arc::new(move |_, _| stopper.stop()), stop };
    let plan = house.plan("copy", CopyPace::BesideWriter);
    let error = tokio::task::spawn_blocking(move || create(&plan, &watch)).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "it was stopped");
    let left: Vec<_> =
        std::fs::read_dir(house.path("")).unwrap().map(|name| name.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    journal.close().await;
}
