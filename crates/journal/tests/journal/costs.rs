//! What a run costs: commits, entries, rows, bytes. Printed, and held to what was promised.

use std::ops::Range;

use palyra_journal::JournalStore;
use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::{JournalStatus, MaintainJournal};
use palyra_testkit::journal_suite::approval_entries::asked;
use palyra_testkit::journal_suite::samples::{self, SampleRun};

use crate::handovers::heads;
use crate::opened::Folder;
use crate::written::write_runs;

/// Runs measured until one is without a signed head, at most.
const RUNS_TRIED_MAX: u64 = 500;

/// Growth of the database by one text run, at most.
const TEXT_RUN_BYTES_MAX: u64 = 4 * 1024;

fn since(before: &JournalStatus, after: &JournalStatus) -> [u64; 4] {
    [
        after.commits - before.commits,
        after.entries - before.entries,
        after.rows - before.rows,
        after.bytes - before.bytes,
    ]
}

fn pages(folder: &Folder) -> u64 {
    let connection = folder.connect();
    let count: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    count.cast_unsigned()
}

/// What one text run costs while no signed head rides along or is stored beside it, and no tile fills: the first of
/// `runs` of which that is true. At most once a second there is a head.
async fn cost_of_a_run(folder: &Folder, journal: &JournalStore, runs: Range<u64>) -> [u64; 4] {
    for n in runs {
        let beside = || (heads(folder), tiles(folder));
        let before = beside();
        // What the writer answers after this look is counted after what was seen in it.
        write_runs(journal, 2 * n..2 * n + 1).await;
        let counted = journal.status();
        write_runs(journal, 2 * n + 1..2 * n + 2).await;
        let cost = since(&counted, &journal.status());
        if beside() == before {
            return cost;
        }
    }
    panic!("a head comes with every run");
}

fn tiles(folder: &Folder) -> i64 {
    folder.connect().query_row("SELECT count(*) FROM tile", [], |row| row.get(0)).unwrap()
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the measures are the point")]
async fn a_text_run_is_three_commits_of_six_entries_and_small() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    journal
        .append(samples::append(vec![samples::session_opened(
            session,
            None,
            SampleRun::new(session, 0).time,
        )]))
        .await
        .unwrap();
    let [commits, entries, rows, bytes] = cost_of_a_run(&folder, &journal, 0..RUNS_TRIED_MAX).await;
    println!("text run: {commits} commits, {entries} entries, {rows} rows, {bytes} bytes of entries");
    assert_eq!([commits, entries], [3, 6]);
    // Six entries, five payloads; in each commit one row of the run and the frontier; one of the session in the first
    // and the last.
    assert_eq!(rows, 6 + 5 + 3 + 2 + 3);
    assert!(bytes < 2_200, "{bytes}");

    let runs = 200;
    let before = pages(&folder);
    write_runs(&journal, 10_000..10_000 + runs).await;
    let per_run = (pages(&folder) - before) * 4_096 / runs;
    println!("text run: the database grows by {per_run} bytes");
    assert!(per_run <= TEXT_RUN_BYTES_MAX, "{per_run}");
}

#[tokio::test]
async fn rows_written_per_append_do_not_grow_with_the_log() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    let mut costs = Vec::new();
    for round in 0..4_u64 {
        let mut run = SampleRun::new(session, 10_000 + round);
        journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
        for _ in 0..20 {
            let texts = (0..250).map(|_| run.text(1, "word ")).collect();
            journal.append(samples::append(texts)).await.unwrap();
        }
        let runs = RUNS_TRIED_MAX * round..RUNS_TRIED_MAX * (round + 1);
        costs.push(cost_of_a_run(&folder, &journal, runs).await);
    }
    assert!(costs.windows(2).all(|pair| pair[0] == pair[1]), "{costs:?}");
}

#[tokio::test]
async fn a_call_that_asks_is_four_rows_beside_its_entries() {
    let folder = Folder::new();
    let journal = folder.open();
    let session = samples::session(samples::principal(0), 0);
    let mut run = SampleRun::new(session, 0);
    let begun = vec![run.started("x"), run.requested(1), run.message(1, 1)];
    journal.append(samples::append(begun)).await.unwrap();
    for n in 0..3 {
        let effect = u32::try_from(n).unwrap() + 1;
        let mut entries = run.proposed(effect);
        entries.push(asked(&mut run, n, effect, None));
        let before = journal.status();
        journal.append(samples::append(entries)).await.unwrap();
        let [commits, entries, rows, _] = since(&before, &journal.status());
        assert_eq!([commits, entries], [1, 3]);
        // Three entries with payloads; the effect, the approval, the run and the frontier; each kind once. At most once
        // a second a checkpoint comes and the one before it goes.
        let without_checkpoint = 2 * 3 + 4 + if n == 0 { 3 } else { 0 };
        assert!((without_checkpoint..=without_checkpoint + 2).contains(&rows), "{n}: {rows}");
    }
}
