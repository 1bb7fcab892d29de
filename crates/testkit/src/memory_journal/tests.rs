//! The memory journal passes the suite, and fails as it is told.

use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};

use super::*;
use crate::journal_suite::JournalFactory;
use crate::journal_suite::samples::{self, SampleRun};

struct Memory;

impl JournalFactory for Memory {
    type Journal = MemoryJournal;

    fn make(&self) -> MemoryJournal {
        MemoryJournal::new()
    }

    fn erase(&self, journal: &MemoryJournal, seq: Seq) {
        journal.erase(seq);
    }
}

crate::journal_conformance_tests!(Memory);

fn first_append() -> palyra_ports::JournalAppendRequest {
    let session = samples::session(samples::principal(0), 0);
    samples::append(vec![SampleRun::new(session, 0).started("hello")])
}

#[tokio::test]
async fn a_refused_append_leaves_nothing_and_a_lost_answer_everything() {
    let journal = MemoryJournal::new();
    journal.fail_next(AppendError::DiskFull);
    journal.lose_next_answer();
    assert_eq!(journal.append(first_append()).await, Err(AppendError::DiskFull));
    assert_eq!(journal.status().entries, 2);
    assert_eq!(journal.append(first_append()).await, Err(AppendError::Unknown));
    assert_eq!((journal.status().entries, journal.status().commits), (3, 1));
}

#[tokio::test]
async fn a_restart_fences_the_handles_before_it() {
    let journal = MemoryJournal::new();
    let next = journal.restarted();
    assert_eq!(journal.append(first_append()).await, Err(AppendError::Fenced));
    assert!(next.append(first_append()).await.is_ok());
    assert_eq!(next.status().epoch, Epoch(2));
}

#[tokio::test]
async fn a_read_only_journal_says_so_and_takes_nothing_until_a_restart() {
    let journal = MemoryJournal::new();
    journal.make_read_only(ReadOnlyCause::TailDisagrees);
    let status = journal.status();
    assert_eq!(
        (status.health, status.cause),
        (JournalHealth::Quarantined, Some(ReadOnlyCause::TailDisagrees))
    );
    assert_eq!(journal.append(first_append()).await, Err(AppendError::Quarantined));
    assert!(journal.rebuild(std::sync::Arc::new(|_, _| ())).await.is_err());
    assert_eq!(journal.status().entries, 2);
    let next = journal.restarted();
    assert_eq!((next.status().health, next.status().cause), (JournalHealth::Writable, None));
    assert!(next.append(first_append()).await.is_ok());
}

#[tokio::test]
async fn held_appends_happen_when_released_even_if_nobody_waits() {
    let journal = MemoryJournal::new();
    journal.hold();
    drop(journal.append(first_append()));
    assert_eq!((journal.held(), journal.status().entries), (1, 2));
    journal.release();
    assert_eq!((journal.held(), journal.status().entries), (0, 3));
}
