//! Files that were made to hurt: each gets an answer, quickly and in little memory.

use std::path::Path;

use palyra_verify::{FaultCode, VerifyOptions, VerifyReport, verify_bundle, verify_database};
use rusqlite::Connection;

use crate::writer::{Shape, shape};

fn with(sql: &str) -> VerifyReport {
    with_changes(|db| db.execute_batch(sql).expect("the change can be made"))
}

fn with_changes(change: impl FnOnce(&Connection)) -> VerifyReport {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    shape(Shape::Plain, 7).save(&path);
    let db = Connection::open(&path).expect("a database");
    db.execute_batch("PRAGMA synchronous = OFF").expect("a pragma");
    change(&db);
    drop(db);
    verify_database(&path, &mut VerifyOptions::default())
}

fn demand(report: &VerifyReport, code: FaultCode, what: &str) {
    let fault = report.fault.as_ref();
    assert_eq!(fault.map(|fault| fault.code), Some(code), "{what}: {fault:?}");
}

fn demand_malformed(sql: &str) {
    demand(&with(sql), FaultCode::Malformed, sql);
}

#[test]
fn tables_out_of_shape_are_refused() {
    for sql in [
        "DROP TABLE entry",
        "DROP TABLE frontier",
        "DELETE FROM frontier",
        "UPDATE frontier SET id = 1",
        "UPDATE frontier SET size = -1",
        "PRAGMA user_version = 1",
        "PRAGMA user_version = 3",
        "PRAGMA application_id = 5",
        "ALTER TABLE entry ADD COLUMN more INT",
        "ALTER TABLE payload RENAME COLUMN sealed TO opened",
        "ALTER TABLE static ADD COLUMN body2 TEXT AS (body)",
        "ALTER TABLE entry RENAME TO gone; CREATE VIEW entry AS SELECT * FROM gone",
        "ALTER TABLE chunk RENAME TO gone; CREATE TABLE chunk(seq, n, sealed)",
        "ALTER TABLE static RENAME TO gone; CREATE VIRTUAL TABLE static USING dbstat",
        "ALTER TABLE entry RENAME TO gone; CREATE TABLE entry AS SELECT * FROM gone",
        "ALTER TABLE checkpoint RENAME TO gone; CREATE TABLE checkpoint(size TEXT, note)",
    ] {
        demand_malformed(sql);
    }
}

/// The same tables without what keeps types right.
fn loosened(table: &str, columns: &str, change: &str) -> VerifyReport {
    with(&format!(
        "ALTER TABLE {table} RENAME TO gone; CREATE TABLE {table}({columns}); INSERT INTO {table} SELECT * FROM gone;
         DROP TABLE gone; {change}"
    ))
}

#[test]
fn values_of_other_types_are_refused() {
    let entry = "seq INTEGER PRIMARY KEY, envelope, run_id, tape_seq, kind, UNIQUE(run_id, tape_seq)";
    for change in [
        "envelope = NULL",
        "envelope = 'text'",
        "envelope = 1.5",
        "envelope = zeroblob(5000)",
        "envelope = x''",
        "envelope = zeroblob(15000000)",
        "envelope = zeroblob(20000000)",
        "kind = NULL",
        "kind = 'one'",
        "run_id = 'text'",
        "tape_seq = 1.5",
        "seq = -5",
    ] {
        let report = loosened("entry", entry, &format!("UPDATE entry SET {change} WHERE seq = 9"));
        demand(&report, FaultCode::Malformed, change);
    }
    for (table, columns, change) in [
        ("payload", "seq INTEGER PRIMARY KEY, key_id, sealed", "UPDATE payload SET sealed = NULL"),
        ("payload", "seq INTEGER PRIMARY KEY, key_id, sealed", "UPDATE payload SET key_id = -1"),
        ("payload", "seq INTEGER PRIMARY KEY, key_id, sealed", "UPDATE payload SET seq = -1 WHERE seq = 9"),
        ("chunk", "seq, n, sealed, PRIMARY KEY(seq, n)", "INSERT INTO chunk VALUES (NULL, NULL, NULL)"),
        ("chunk", "seq, n, sealed, PRIMARY KEY(seq, n)", "INSERT INTO chunk VALUES (9, -1, x'00')"),
        ("checkpoint", "size INTEGER PRIMARY KEY, note", "UPDATE checkpoint SET note = NULL"),
        ("checkpoint", "size INTEGER PRIMARY KEY, note", "UPDATE checkpoint SET note = zeroblob(1000000)"),
        ("checkpoint", "size INTEGER PRIMARY KEY, note", "INSERT INTO checkpoint VALUES (-7, 'x')"),
        (
            "frontier",
            "id INTEGER PRIMARY KEY, size, hashes",
            "UPDATE frontier SET size = 9223372036854775807",
        ),
        ("frontier", "id INTEGER PRIMARY KEY, size, hashes", "UPDATE frontier SET hashes = NULL"),
        (
            "tile",
            "level, \"index\", hashes, PRIMARY KEY(level, \"index\")",
            "INSERT INTO tile VALUES (9, 1, x'00')",
        ),
        (
            "tile",
            "level, \"index\", hashes, PRIMARY KEY(level, \"index\")",
            "INSERT INTO tile VALUES (-1, -1, x'00')",
        ),
        ("static", "hash PRIMARY KEY NOT NULL, body", "INSERT INTO static VALUES (5, 'x')"),
    ] {
        demand(&loosened(table, columns, change), FaultCode::Malformed, change);
    }
}

#[test]
fn triggers_views_and_functions_in_the_schema_never_run() {
    let report = with(
        "CREATE TRIGGER t BEFORE INSERT ON entry BEGIN SELECT load_extension('x'); END;
         CREATE VIEW v AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;
         CREATE INDEX i ON entry(length(envelope) + kind)",
    );
    assert_eq!(report.fault, None);
}

#[test]
fn a_thousand_tables_more_are_no_trouble() {
    let sql: String = (0..1000).map(|n| format!("CREATE TABLE t{n}(a, b);")).collect();
    assert_eq!(with(&format!("BEGIN; {sql} COMMIT")).fault, None);
}

#[test]
fn an_index_that_hides_entries_is_noticed() {
    let report = with_changes(|db| {
        // What an index would hold after entries were taken out of it: the index of an emptier table.
        db.execute_batch(
            "CREATE TABLE other(seq INTEGER PRIMARY KEY, run_id BLOB, tape_seq INTEGER, UNIQUE(run_id, tape_seq));
             INSERT INTO other SELECT seq, run_id, tape_seq FROM entry WHERE tape_seq IS NOT 2;
             PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_other_1')
                WHERE name = 'sqlite_autoindex_entry_1'",
        )
        .expect("the change can be made");
    });
    demand(&report, FaultCode::Malformed, "another index");
}

#[test]
fn what_is_no_database_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    let verify = |path: &Path| verify_database(path, &mut VerifyOptions::default());
    demand(&verify(&path), FaultCode::Malformed, "missing");
    demand(&verify(folder.path()), FaultCode::Malformed, "a folder");
    for bytes in [&b""[..], b"SQLite format 3\0", &[0; 4096]] {
        std::fs::write(&path, bytes).expect("a file");
        demand(&verify(&path), FaultCode::Malformed, "no database");
    }
    shape(Shape::Plain, 1).save(&path);
    std::fs::write(folder.path().join("journal.db-journal"), b"hot").expect("a file");
    demand(&verify(&path), FaultCode::Malformed, "a rollback journal");
}

#[test]
fn pages_that_lead_in_circles_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    shape(Shape::Long, 3).save(&path);
    let root: i64 = Connection::open(&path)
        .and_then(|db| {
            db.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'entry'", [], |row| row.get(0))
        })
        .expect("a root");
    let mut file = std::fs::read(&path).expect("a file");
    let at = (root as usize - 1) * 4096;
    assert_eq!(file[at], 5, "an interior page");
    let cells = usize::from(u16::from_be_bytes([file[at + 3], file[at + 4]]));
    let first = usize::from(u16::from_be_bytes([file[at + 12], file[at + 13]]));
    let child: [u8; 4] = file[at + first..at + first + 4].try_into().expect("four");
    // Every child is the first one, and then the root itself.
    for target in [child, (root as u32).to_be_bytes()] {
        for cell in 1..cells {
            let place = at + 12 + 2 * cell;
            let cell = at + usize::from(u16::from_be_bytes([file[place], file[place + 1]]));
            file[cell..cell + 4].copy_from_slice(&target);
        }
        std::fs::write(&path, &file).expect("a file");
        let report = verify_database(&path, &mut VerifyOptions::default());
        assert!(report.exit_code() >= 10, "{:?}", report.fault);
    }
}

#[test]
fn bundles_out_of_shape_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = shape(Shape::Epochs, 2);
    for (file, text) in [
        ("checkpoint", String::new()),
        ("checkpoint", "palyra.log/x\n1\nAA==\n\n".to_owned()),
        ("handovers", "nothing of the kind\n\nat all\n\n".to_owned()),
        ("entries.jsonl", "[".repeat(100_000)),
        ("entries.jsonl", "{\"seq\": -1}\n".to_owned()),
        (
            "entries.jsonl",
            "{\"seq\": 0, \"envelope\": \"!\", \"payload\": null, \"erased_by\": null}\n".to_owned(),
        ),
        ("entries.jsonl", String::new()),
        ("proofs.jsonl", "null\n".to_owned()),
    ] {
        log.save_bundle(&log.runs()[0], folder.path());
        std::fs::write(folder.path().join(file), &text).expect("a file");
        let report = verify_bundle(folder.path(), &VerifyOptions::default());
        demand(&report, FaultCode::Malformed, &format!("{file}: {:.40}", text));
    }
    std::fs::remove_file(folder.path().join("proofs.jsonl")).expect("there");
    demand(&verify_bundle(folder.path(), &VerifyOptions::default()), FaultCode::Malformed, "no proofs");
}

#[test]
fn virtual_tables_with_contents_of_their_own_are_not_in_the_program() {
    let db = Connection::open_in_memory().expect("a database");
    let create =
        |module: &str| db.execute_batch(&format!("CREATE VIRTUAL TABLE {module}_table USING {module}"));
    create("dbstat").expect("this one reads the file itself");
    for module in ["fts3", "fts4", "rtree"] {
        let error = create(module).expect_err(module).to_string();
        assert!(error.contains(&format!("no such module: {module}")), "{error}");
    }
}

#[test]
fn a_journal_whose_table_is_an_index_of_words_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal.db");
    for table in ["entry", "payload"] {
        shape(Shape::Plain, 1).save(&path);
        let db = Connection::open(&path).expect("a database");
        db.execute_batch(&format!(
            "DROP TABLE {table}; CREATE VIRTUAL TABLE {table} USING fts5(seq, envelope, run_id, tape_seq, kind, salt, sealed, key_id)"
        ))
        .expect("FTS5 is part of the program, for the index of memory");
        drop(db);
        demand(&verify_database(&path, &mut VerifyOptions::default()), FaultCode::Malformed, table);
        std::fs::remove_file(&path).expect("there");
    }
}
