//! Damage in tables that are derived from the log: a start mends it, whatever it is, and the log stays what it was.

use std::fs;

use palyra_journal::JournalStore;
use palyra_ports::AppendTape;
use palyra_ports::maintain_journal::{JournalHealth, MaintainJournal};
use palyra_testkit::journal_suite::random_appends::RandomAppends;
use palyra_types::ErrorCode;
use rusqlite::Connection;

use crate::faults::settle;
use crate::opened::Folder;
use crate::rebuilds::dump;
use crate::written::{silent, verify, write_runs};

/// Tables of the format; everything else is derived.
const OF_LOG: &str = "'entry', 'payload', 'chunk', 'static', 'tile', 'frontier', 'checkpoint'";

/// A journal with rows in most derived tables, closed in order, in one file.
async fn varied() -> Folder {
    let folder = Folder::new();
    let journal = folder.open();
    let mut random = RandomAppends::new(7);
    for _ in 0..60 {
        drop(journal.append(random.next_append()).await);
    }
    journal.close().await;
    drop(journal);
    settle(&folder);
    folder
}

fn column_of_texts(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Every way to damage one derived table: without it, without its rows, without a column, with another value.
fn damages(connection: &Connection) -> Vec<String> {
    let sql = format!(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN ({OF_LOG})"
    );
    let mut all = Vec::new();
    for table in column_of_texts(connection, &sql) {
        all.push(format!("DROP TABLE {table}"));
        all.push(format!("DELETE FROM {table}"));
        all.push(format!("ALTER TABLE {table} ADD COLUMN forged INTEGER"));
        all.push(format!("DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})"));
        for column in column_of_texts(connection, &format!("SELECT name FROM pragma_table_info('{table}')")) {
            let null = format!(
                "CASE (SELECT type FROM pragma_table_info('{table}') WHERE name = '{column}')
                    WHEN 'INTEGER' THEN 7 WHEN 'TEXT' THEN 'x' ELSE x'07' END"
            );
            let other = format!(
                "CASE typeof({column}) WHEN 'integer' THEN {column} + 3 WHEN 'text' THEN {column} || 'x'
                    WHEN 'blob' THEN substr({column}, 2) || x'07' ELSE {null} END"
            );
            all.push(format!("UPDATE OR IGNORE {table} SET {column} = {other}"));
        }
    }
    all
}

#[tokio::test]
async fn whatever_is_done_to_a_derived_table_a_start_mends() {
    let folder = varied().await;
    let (good, keys) = (fs::read(folder.database()).unwrap(), folder.keys());
    let damages = damages(&folder.connect());
    assert!(damages.len() > 110, "{}", damages.len());
    let mut damaging = 0;
    for damage in &damages {
        fs::remove_dir_all(folder.state_dir()).unwrap();
        folder.put_keys(&keys);
        fs::write(folder.database(), &good).unwrap();
        let meddler = folder.connect();
        // Tables without rowid have no last row by rowid; there is nothing to damage so.
        let done = meddler.execute_batch(damage).is_ok();
        damaging += u32::from(done);
        drop(meddler);
        let journal =
            JournalStore::open(&folder.options()).unwrap_or_else(|error| panic!("{damage}: {error}"));
        assert_eq!(journal.status().health, JournalHealth::Writable, "{damage}");
        write_runs(&journal, 700..701).await;
        let connection = folder.connect();
        let started = dump(&connection);
        journal.rebuild(silent()).await.unwrap_or_else(|error| panic!("{damage}: {error}"));
        assert!(dump(&connection) == started, "{damage}: a rebuild makes other rows than the start");
        assert_eq!(verify(&journal).await.fault, None, "{damage}");
        journal.close().await;
    }
    assert!(damaging > 100, "{damaging}");
}

/// A table that goes while the journal is served is made again by a rebuild.
#[tokio::test]
async fn a_rebuild_mends_tables_of_a_journal_in_service() {
    for damage in [
        "DROP TABLE f_session",
        "DROP TABLE f_effect",
        "DELETE FROM f_epoch",
        "UPDATE f_epoch SET row = x'0809', i0 = x'010000000000000009'",
        "DROP TABLE projections",
    ] {
        let folder = Folder::new();
        let journal = folder.open();
        write_runs(&journal, 0..3).await;
        let before = dump(&folder.connect());
        folder.connect().execute_batch(damage).unwrap();
        journal.rebuild(silent()).await.unwrap_or_else(|error| panic!("{damage}: {error}"));
        assert!(dump(&folder.connect()) == before, "{damage}");
        write_runs(&journal, 3..4).await;
    }
}

/// The control: damage of the log itself is not mended away.
#[tokio::test]
async fn damage_of_the_log_is_still_refused_or_told() {
    let folder = varied().await;
    let last = "(SELECT max(seq) FROM payload)";
    let meddle =
        format!("DROP TRIGGER payload_update; UPDATE payload SET sealed = randomblob(60) WHERE seq = {last}");
    folder.connect().execute_batch(&meddle).unwrap();
    let refused = JournalStore::open(&folder.options()).map(drop).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::JournalCorrupt, "{refused}");
}
