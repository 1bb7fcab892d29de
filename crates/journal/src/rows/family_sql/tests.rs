//! Every statement over a family is served by an index.

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
        let by_row_id = [&sql.by_id, &sql.facts_only, &sql.all];
        for statement in by_row_id {
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
