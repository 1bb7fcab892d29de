//! What a run costs: commits, entries, rows, bytes. Printed, and held to what was promised.

use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::{JournalStatus, MaintainJournal};
use palyra_testkit::journal_suite::asking::asked;
use palyra_testkit::journal_suite::samples::{self, SampleRun};

use crate::opened::Folder;
use crate::written::write_runs;

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
    write_runs(&journal, 0..1).await;
    let before = journal.status();
    write_runs(&journal, 1..2).await;
    let [commits, entries, rows, bytes] = since(&before, &journal.status());
    println!("text run: {commits} commits, {entries} entries, {rows} rows, {bytes} bytes of entries");
    assert_eq!([commits, entries], [3, 6]);
    // Six entries, five payloads; in each commit one row of the run, one of the session and the frontier. At
    // most once a second a checkpoint comes and the one before it goes.
    let without_checkpoint = 6 + 5 + 3 + 3 + 3;
    assert!((without_checkpoint..=without_checkpoint + 2).contains(&rows), "{rows}");
    assert!(bytes < 2_200, "{bytes}");

    let runs = 200;
    let before = pages(&folder);
    write_runs(&journal, 2..2 + runs).await;
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
    write_runs(&journal, 500..501).await;
    for round in 0..4_u64 {
        let mut run = SampleRun::new(session, 1_000 + round);
        journal.append(samples::append(vec![run.started("x"), run.requested(1)])).await.unwrap();
        for _ in 0..20 {
            let texts = (0..250).map(|_| run.text(1, "word ")).collect();
            journal.append(samples::append(texts)).await.unwrap();
        }
        let before = journal.status();
        write_runs(&journal, round..round + 1).await;
        costs.push(since(&before, &journal.status()));
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
