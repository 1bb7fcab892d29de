//! Every statement over a family is served by an index.

use palyra_journal_core::family::{EncodedRow, IndexKey};

use super::*;

/// Returns how SQLite looks for the rows of a statement.
fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a statement");
    let mut rows = statement.raw_query();
    let mut lines = Vec::new();
    while let Some(row) = rows.next().expect("a plan") {
        lines.push(row.get::<_, String>(3).expect("a line"));
    }
    lines.join("; ")
}

#[test]
fn every_statement_is_served_by_an_index_without_sorting() {
    let connection = Connection::open_in_memory().expect("a database");
    create_families(&connection, FAMILIES).expect("tables");
    for table in FAMILIES {
        let sql = FamilyStatements::of_registry().family(table);
        let updates = [ChangedColumns::NONE, ChangedColumns::ALL].map(|changed| sql.update(changed));
        for statement in updates.into_iter().chain([sql.by_id.as_str()]) {
            let plan = plan(&connection, statement);
            assert!(plan.contains("USING INTEGER PRIMARY KEY"), "{statement}: {plan}");
        }
        let scans = sql.indexes.iter().flat_map(|index| {
            [&index.ascending, &index.descending].map(|scan| [&scan.first, &scan.next]).into_iter().flatten()
        });
        let by_key = sql.indexes.iter().map(|index| &index.by_key);
        for statement in scans.chain(by_key).chain(&sql.sourced) {
            let plan = plan(&connection, statement);
            assert!(plan.starts_with("SEARCH") && !plan.contains("TEMP B-TREE"), "{statement}: {plan}");
        }
    }
}

/// Returns how many trees a statement writes to: the table and the indexes that it changes.
fn trees_written(connection: &Connection, sql: &str) -> usize {
    let mut statement = connection.prepare(&format!("EXPLAIN {sql}")).expect("a statement");
    let mut rows = statement.raw_query();
    let mut count = 0;
    while let Some(row) = rows.next().expect("an instruction") {
        count += usize::from(row.get::<_, String>(1).expect("its name") == "OpenWrite");
    }
    count
}

#[test]
fn an_update_writes_only_to_the_indexes_of_keys_that_changed() {
    let connection = Connection::open_in_memory().expect("a database");
    create_families(&connection, FAMILIES).expect("tables");
    let row = |keys: Vec<Option<IndexKey>>| EncodedRow { facts: Vec::new(), keys, content: Vec::new() };
    for table in FAMILIES {
        let sql = FamilyStatements::of_registry().family(table);
        let none = sql.update(ChangedColumns::NONE);
        assert_eq!(trees_written(&connection, none), 1, "{none}");
        let older = row(vec![None; table.indexes.len()]);
        for index in 0..table.indexes.len() {
            let mut newer = older.clone();
            newer.keys[index] = Some(IndexKey::new());
            let one = sql.update(newer.changed_since(&older));
            assert_eq!(trees_written(&connection, one), 2, "{one}");
        }
    }
}
