//! Projections are what the log folds to, column by column, also after erasures; and they are what the memory
//! journal's own folds say.

use palyra_journal::JournalStore;
use palyra_ports::maintain_journal::MaintainJournal;
use palyra_ports::{AppendTape, EraseError, EraseJournal, ErasureOrder, ErasureSubject};
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_testkit::journal_suite::samples;
use palyra_testkit::{FixedEntropy, MemoryJournal};
use palyra_types::Seq;
use palyra_types::proof::{ErasureReason, SeqRange};
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::opened::Folder;
use crate::written::{silent, verify};

/// Every row of every projection, in order.
pub(crate) fn dump(connection: &Connection) -> Vec<String> {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table'
        AND name NOT IN ('entry', 'payload', 'chunk', 'static', 'tile', 'frontier', 'checkpoint')
        AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = connection.prepare(tables).unwrap();
    let tables: Vec<String> =
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    assert!(tables.len() >= 8, "{tables:?}");
    let mut rows = Vec::new();
    for table in tables {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut found: Vec<String> = statement
            .query_map([], |row| {
                let values: Result<Vec<Value>, _> = (0..columns).map(|at| row.get(at)).collect();
                Ok(format!("{table} {:?}", values?))
            })
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        found.sort();
        rows.append(&mut found);
    }
    rows
}

fn erase(connection: &Connection, seq: i64) {
    connection.execute("DELETE FROM payload WHERE seq = ?1", [seq]).unwrap();
    connection.execute("DELETE FROM chunk WHERE seq = ?1", [seq]).unwrap();
}

/// Erases entries here and there as the port does it, but for those of open runs.
async fn erase_some(journal: &JournalStore, memory: &MemoryJournal, entropy: &FixedEntropy, entries: u64) {
    let mut ranges = Vec::new();
    for _ in 0..entries / 4 {
        let first = entropy.next_u64() % entries;
        let range = SeqRange { first: Seq(first), last: Seq(first + entropy.next_u64() % 4) };
        let plan = journal.find(ErasureSubject::Range(range)).await.unwrap();
        if plan.open_runs.is_empty() {
            (range.first.0..=range.last.0.min(entries - 1)).for_each(|seq| memory.erase(Seq(seq)));
            ranges.push(range);
        }
    }
    let (authoriser, reason) = (samples::principal(0), ErasureReason::Retention);
    match journal.erase(ErasureOrder { ranges, authoriser, reason }).await {
        Ok(_) | Err(EraseError::Nothing) => {}
        Err(error) => panic!("{error}"),
    }
}

async fn compare(seed: u64, appends: usize) {
    let folder = Folder::new();
    let journal = folder.open();
    let memory = MemoryJournal::new();
    let mut random = RandomAppends::new(seed);
    for _ in 0..appends {
        let request = random.next_append();
        let committed = memory.append(request.clone()).await;
        assert_eq!(journal.append(request).await, committed);
    }
    let connection = folder.connect();
    let before = dump(&connection);
    assert_eq!(random.records(&journal).await, random.records(&memory).await);
    let entries = journal.rebuild(silent()).await.unwrap();
    assert_eq!(entries, journal.status().entries);
    assert_eq!(dump(&connection), before);
    assert_eq!(verify(&journal).await.fault, None);

    let entropy = FixedEntropy::new(seed);
    erase_some(&journal, &memory, &entropy, entries).await;
    let erased = dump(&connection);
    assert_eq!(random.records(&journal).await, random.records(&memory).await);
    journal.rebuild(silent()).await.unwrap();
    assert_eq!(dump(&connection), erased);
    assert_eq!(verify(&journal).await.fault, None);

    for _ in 0..entries / 3 {
        let seq = (2 + entropy.next_u64() % (entries - 2)).cast_signed();
        let had = "SELECT count(*) FROM payload WHERE seq = ?1";
        if connection.query_row(had, [seq], |row| row.get::<_, i64>(0)).unwrap() == 1 {
            erase(&connection, seq);
            memory.erase(Seq(seq.cast_unsigned()));
        }
    }
    journal.rebuild(silent()).await.unwrap();
    let after = dump(&connection);
    assert_eq!(random.records(&journal).await, random.records(&memory).await);
    journal.rebuild(silent()).await.unwrap();
    assert_eq!(dump(&connection), after);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_fold_live_and_a_fold_anew_are_equal(seed: u64, appends in 1..60_usize) {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(compare(seed, appends));
    }
}

#[tokio::test]
async fn long_histories_fold_to_the_same_rows() {
    compare(42, 600).await;
}
