//! A full disk: new work is refused, endings are taken, and service returns with the space.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_ports::{AppendClass, AppendError, AppendTape, JournalAppendRequest, ReadTape};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::TapeSeq;

use crate::opened::Folder;
use crate::written::{verify, write_runs};

const MIB: u64 = 1024 * 1024;

fn ending(request: JournalAppendRequest) -> JournalAppendRequest {
    JournalAppendRequest { class: AppendClass::Ending, ..request }
}

fn session() -> palyra_types::session::SessionRef {
    samples::session(samples::principal(0), 0)
}

#[tokio::test]
async fn below_the_reserve_only_endings_are_taken() {
    let folder = Folder::new();
    let free = Arc::new(AtomicU64::new(100 * MIB));
    let probe = Arc::clone(&free);
    let options = OpenOptions {
        free_space: Some(Arc::new(move || Ok(probe.load(Ordering::SeqCst)))),
        ..folder.options()
    };
    let journal = JournalStore::open(&options).unwrap();
    let mut run = SampleRun::new(session(), 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();

    // Nothing is free, but the pre-written WAL still is: new work goes on until the reserve is reached. A
    // reader keeps the WAL from being emptied, as a database that cannot grow would.
    free.store(0, Ordering::SeqCst);
    let reader = folder.connect();
    reader.execute_batch("BEGIN; SELECT count(*) FROM entry;").unwrap();
    assert_eq!(journal.status().health, JournalHealth::Writable);
    let filler = "x".repeat(900_000);
    let mut taken: u64 = 0;
    let refused = loop {
        assert!(taken < 20, "the reserve holds nothing back");
        match journal.append(samples::append(vec![run.clone().text(1, &filler)])).await {
            Ok(_) => drop(run.text(1, "")),
            Err(error) => break error,
        }
        taken += 1;
    };
    assert_eq!(refused, AppendError::DiskFull);
    assert!((4..=8).contains(&taken), "{taken} large texts fit before the reserve");
    assert_eq!(journal.status().health, JournalHealth::EndingsOnly);
    journal.append(ending(samples::append(vec![run.text(1, "last words"), run.finished()]))).await.unwrap();
    let mut next = SampleRun::new(session(), 1);
    let start = samples::append(vec![next.started("x")]);
    assert_eq!(journal.append(start.clone()).await, Err(AppendError::DiskFull));

    free.store(100 * MIB, Ordering::SeqCst);
    journal.append(start).await.unwrap();
    assert_eq!(journal.status().health, JournalHealth::Writable);
    assert_eq!(verify(&journal).await.fault, None);
}

#[tokio::test]
async fn running_tools_raise_the_reserve() {
    let folder = Folder::new();
    let free = Arc::new(AtomicU64::new(100 * MIB));
    let probe = Arc::clone(&free);
    let options = OpenOptions {
        free_space: Some(Arc::new(move || Ok(probe.load(Ordering::SeqCst)))),
        ..folder.options()
    };
    let journal = JournalStore::open(&options).unwrap();
    let mut run = SampleRun::new(session(), 0);
    journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
    // 16 KiB each: 640 tools need 10 MiB, more than the whole pre-written WAL.
    for from in [0, 200, 400] {
        let started = (from..from + 220).map(|effect| run.tool_started(effect)).collect();
        journal.append(samples::append(started)).await.unwrap();
    }
    free.store(0, Ordering::SeqCst);
    assert_eq!(journal.status().health, JournalHealth::EndingsOnly);
    for from in [0, 200, 400] {
        let ended = (from..from + 220).map(|effect| run.tool_finished(effect, "")).collect();
        journal.append(ending(samples::append(ended))).await.unwrap();
    }
    assert_eq!(journal.status().health, JournalHealth::Writable);
}

#[tokio::test]
async fn a_full_database_rolls_back_and_loses_nothing() {
    let folder = Folder::new();
    let options = OpenOptions { database_pages_max: Some(155), ..folder.options() };
    let journal = JournalStore::open(&options).unwrap();
    let kept = write_runs(&journal, 0..5).await;
    let entries = journal.status().entries;
    let mut run = SampleRun::new(session(), 77);
    let large = samples::append(vec![run.started(&"x".repeat(400_000))]);
    assert_eq!(journal.append(large.clone()).await, Err(AppendError::DiskFull));
    assert_eq!(journal.append(ending(large.clone())).await, Err(AppendError::DiskFull));
    // In a group that does not fit, new work is refused and endings are tried one by one.
    let small: Vec<_> = (10..30)
        .map(|n| journal.append(ending(samples::append(vec![SampleRun::new(session(), n).started("x")]))))
        .collect();
    let refused = journal.append(ending(large));
    assert_eq!(refused.await, Err(AppendError::DiskFull));
    let fitted = futures::future::join_all(small).await;
    assert!(fitted.iter().all(Result::is_ok), "{fitted:?}");
    let fitted = fitted.len() as u64;
    assert_eq!(journal.status().entries, entries + fitted);
    for run in kept {
        assert_eq!(journal.tape(run.run, TapeSeq(0), 10).await.unwrap().entries.len(), 6);
    }
    journal.close().await;
    drop(journal);
    let journal = folder.open();
    assert_eq!(verify(&journal).await.fault, None);
    assert_eq!(journal.status().entries, entries + fitted + 1);
}

/// Returns the path of an example of this package, which is built beside the tests.
pub(crate) fn example(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.join("examples").join(name)
}

#[test]
fn a_real_file_system_fills_up_and_empties_again() {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.state_dir()).unwrap();
    let script = "mount -t tmpfs -o size=24m none \"$1\" && exec \"$2\" \"$1\"";
    let unshare = ["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"];
    let output = Command::new("unshare")
        .args(unshare)
        .arg(folder.state_dir())
        .arg(example("fill_disk"))
        .output()
        .expect("`unshare` (util-linux) makes the small file system for this test");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    assert!(said.contains("full service after"), "{said}\n{complained}");
}
