//! Opening, appending, reading, closing, opening again.

use std::sync::Arc;

use palyra_ports::maintain_journal::JournalHealth;
use palyra_ports::{AppendTape, MaintainJournal, ReadTape};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_types::run::RunLifecycleState;
use palyra_types::{Epoch, Seq, TapeSeq};

use crate::opened::Folder;

#[tokio::test]
async fn what_was_acknowledged_is_there_after_reopening() {
    let folder = Folder::new();
    let journal = folder.open();
    let log_id = journal.log_id();
    assert_eq!(journal.epoch(), Epoch(1));
    let session = samples::session(samples::principal(0), 0);
    let mut run = SampleRun::new(session, 0);
    let opened = samples::session_opened(session, Some("key"), run.time);
    journal.append(samples::append(vec![opened])).await.unwrap();
    for append in run.text_run() {
        journal.append(append).await.unwrap();
    }
    let status = journal.status();
    assert_eq!((status.entries, status.commits, status.health), (9, 4, JournalHealth::Writable));
    let tape = journal.tape(run.run, TapeSeq(0), 100).await.unwrap();
    journal.close().await;
    drop(journal);

    let journal = folder.open();
    assert_eq!((journal.log_id(), journal.epoch()), (log_id, Epoch(2)));
    assert_eq!(journal.tape(run.run, TapeSeq(0), 100).await.unwrap(), tape);
    assert_eq!(tape.entries.len(), 6);
    let record = journal.run(run.run).await.unwrap().unwrap();
    assert_eq!((record.state, record.first_seq), (RunLifecycleState::Done, Seq(3)));
    let report = journal.verify(Arc::new(|_, _| ())).await.unwrap();
    assert_eq!((report.entries, report.fault), (10, None));
    assert_eq!(journal.rebuild(Arc::new(|_, _| ())).await.unwrap(), 10);
    assert_eq!(journal.run(run.run).await.unwrap().unwrap(), record);
    assert_eq!(journal.status().wal_bytes, 8 * 1024 * 1024);
}
