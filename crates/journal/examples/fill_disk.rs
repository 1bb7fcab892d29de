//! Fills the file system of the given folder while a journal works in it, then empties it again.
//!
//! Run by a test inside a small tmpfs: `fill_disk FOLDER`. Exits with 0 when the journal kept its promises:
//! new work refused, endings taken, full service within a second of space returning, nothing lost.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test program: a failure is the message")]

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_ports::{AppendClass, AppendError, AppendTape, JournalAppendRequest};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap());
    let state_dir = folder.join("state");
    let options = OpenOptions::new(state_dir, Arc::new(FakeClock::new()), Arc::new(FixedEntropy::new(1)));
    let journal = JournalStore::open(&options).unwrap();
    let session = samples::session(samples::principal(0), 0);
    let mut run = SampleRun::new(session, 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();

    let filler = folder.join("filler");
    fill(&filler);
    let text = "x".repeat(100_000);
    let mut taken = 0;
    loop {
        assert!(taken < 1_000);
        match journal.append(samples::append(vec![run.clone().text(1, &text)])).await {
            Ok(_) => drop(run.text(1, "")),
            Err(AppendError::DiskFull) => break,
            Err(error) => panic!("{error:?}"),
        }
        taken += 1;
    }
    println!("{taken} texts fitted into the pre-written log");
    assert!(taken >= 20);
    assert_eq!(journal.status().health, JournalHealth::EndingsOnly);
    for _ in 0..8 {
        let entries = vec![run.tool_finished(1, &"y".repeat(16_000))];
        let request = JournalAppendRequest { class: AppendClass::Ending, ..samples::append(entries) };
        journal.append(request).await.unwrap();
    }

    std::fs::remove_file(&filler).unwrap();
    let freed = Instant::now();
    journal.append(samples::append(vec![run.text(1, "again")])).await.unwrap();
    assert!(freed.elapsed() < Duration::from_secs(1));
    assert_eq!(journal.status().health, JournalHealth::Writable);
    println!("full service after {:?}", freed.elapsed());

    let entries = journal.status().entries;
    journal.close().await;
    drop(journal);
    fill(&filler);
    let journal = JournalStore::open(&options).unwrap();
    let report = journal.verify(Arc::new(|_, _| ())).await.unwrap();
    assert_eq!((report.entries, report.fault), (entries + 1, None));
    println!("a start on the full disk found {} entries in order", report.entries);
}

/// Takes all space there is.
fn fill(path: &std::path::Path) {
    let mut file = File::create(path).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
}
