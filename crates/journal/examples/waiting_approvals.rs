//! Measures ten thousand approvals that wait: written, opened again, listed, due.
//!
//! `cargo run --release -p palyra-journal --example waiting_approvals [how many]`
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a tool of the workshop: printing is its work")]

use std::sync::Arc;
use std::time::Instant;

use palyra_journal::{JournalStore, OpenOptions};
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::read_approvals::ApprovalQuery;
use palyra_ports::{AppendTape, Guard, JournalAppendRequest};
use palyra_testkit::JournalReads;
use palyra_testkit::journal_suite::approval_entries::{approval, asked, resolved};
use palyra_testkit::journal_suite::samples::{self, SampleRun};
use palyra_testkit::{FakeClock, FixedEntropy};
use palyra_types::Timestamp;
use palyra_types::approval::ApprovalState;

const WAITING: u64 = 10_000;
const ROUNDS: u32 = 50;
const AT_ONCE: usize = 100;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let waiting = std::env::args().nth(1).map_or(WAITING, |count| count.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let options = |seed| {
        let entropy = Arc::new(FixedEntropy::new(seed));
        OpenOptions::new(folder.path().to_owned(), Arc::new(FakeClock::new()), entropy)
    };
    let journal = JournalStore::open(&options(1)).unwrap();
    let took = Instant::now();
    for first in (0..waiting).step_by(AT_ONCE) {
        let appends = (first..waiting).take(AT_ONCE).map(|n| {
            let mut run = run(n);
            let expires = Some(Timestamp(1_000_000 + i64::try_from(n).unwrap()));
            let entries = vec![run.started("write it"), run.requested(1), asked(&mut run, n, 1, expires)];
            journal.append(samples::append(entries))
        });
        for appended in futures::future::join_all(appends).await {
            appended.unwrap();
        }
    }
    println!("{waiting} runs that ask, written in {:?}: {:?}", took.elapsed(), journal.status());
    journal.close().await;
    drop(journal);

    let took = Instant::now();
    let journal = JournalStore::open(&options(2)).unwrap();
    println!("opened in {:?}", took.elapsed());
    let took = Instant::now();
    let open = journal.open_runs().await.unwrap();
    println!("open runs: {} in {:?}", open.len(), took.elapsed());
    list(&journal, waiting).await;
    decide(&journal, waiting).await;
}

fn run(n: u64) -> SampleRun {
    SampleRun::new(samples::session(samples::principal(u128::from(n % 3)), u128::from(n)), n)
}

/// Pages at the front, in the middle and at the end, of all and of one principal, and what is due.
async fn list(journal: &JournalStore, waiting: u64) {
    for part in [1, 2, 10] {
        for principal in [None, Some(samples::principal(0))] {
            let before = Some(palyra_types::Seq(3 * waiting / part));
            let query = ApprovalQuery { principal, before, limit: 50, ..ApprovalQuery::default() };
            let took = Instant::now();
            let mut found = 0;
            for _ in 0..ROUNDS {
                found = journal.approvals(query.clone()).await.unwrap().len();
            }
            println!("a page of {found} of {principal:?}: {:?}", took.elapsed() / ROUNDS);
        }
    }
    let took = Instant::now();
    for _ in 0..ROUNDS {
        assert!(journal.next_to_expire(1).await.unwrap().len() == 1);
    }
    println!("the next to expire: {:?}", took.elapsed() / ROUNDS);
}

/// Decides one after the other, with the guard that it waits.
async fn decide(journal: &JournalStore, waiting: u64) {
    let before = journal.status();
    let took = Instant::now();
    let count = waiting.min(1_000);
    for n in 0..count {
        let mut run = run(n);
        // The run stands where it asked.
        run.tape_seq = palyra_types::TapeSeq(3);
        let entries = vec![resolved(&mut run, n, 1, ApprovalState::Approved)];
        let guards = vec![Guard::ApprovalPending { approval: approval(n) }];
        let append = JournalAppendRequest { guards, ..samples::append(entries) };
        journal.append(append).await.unwrap();
    }
    let (rows, each) = (journal.status().rows - before.rows, took.elapsed() / u32::try_from(count).unwrap());
    println!("{count} decided one by one: {each:?} and {} rows each", rows / count);
    let left = journal.next_to_expire(1).await.unwrap();
    assert_eq!(left.first().map(|due| due.approval), (count < waiting).then(|| approval(count)));
}
