//! Every statement over a family's table, built once from its declaration.
//!
//! A table is `f_NAME(id, row, i0.., c0.., s0..)`: the entry that made the row, its facts, a key an index, a cell a content
//! column, and beside a cell that does not come from `id` the entry that it comes from.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use palyra_journal_core::families::FAMILIES;
use palyra_journal_core::family::{ChangedColumns, ContentSource, FamilyTable, RowsPerKey, ScanOrder};
use rusqlite::Connection;

static STATEMENTS: LazyLock<FamilyStatements> = LazyLock::new(|| FamilyStatements::of(FAMILIES));

/// The statements of several families.
pub(crate) struct FamilyStatements(BTreeMap<&'static str, FamilySql>);

impl FamilyStatements {
    /// Builds the statements of these families.
    pub(crate) fn of(tables: &[&'static FamilyTable]) -> Self {
        Self(tables.iter().map(|table| (table.name, FamilySql::new(table))).collect())
    }

    /// Returns the statements of the registry, which are built once.
    pub(super) fn of_registry() -> &'static Self {
        &STATEMENTS
    }

    /// Creates the tables of families.
    pub(crate) fn create(
        &self,
        connection: &Connection,
        tables: &[&'static FamilyTable],
    ) -> rusqlite::Result<()> {
        tables.iter().try_for_each(|table| connection.execute_batch(&self.family(table).create))
    }

    /// Returns the statements of a family.
    pub(super) fn family(&self, table: &FamilyTable) -> &FamilySql {
        self.0.get(table.name).expect("a store is asked for the families that it was made for")
    }
}

/// A page of an index: without and with a place to go on from.
pub(super) struct ScanSql {
    pub(super) first: String,
    pub(super) next: String,
}

/// The statements of one index.
pub(super) struct IndexSql {
    pub(super) by_key: String,
    ascending: ScanSql,
    descending: ScanSql,
}

impl IndexSql {
    pub(super) fn scan(&self, order: ScanOrder) -> &ScanSql {
        match order {
            ScanOrder::Ascending => &self.ascending,
            ScanOrder::Descending => &self.descending,
        }
    }
}

/// The statements of one family.
pub(super) struct FamilySql {
    table: &'static FamilyTable,
    pub(super) create: String,
    pub(super) by_id: String,
    pub(super) insert: String,
    /// One for each set of columns that an update may write, made when it is first needed.
    updates: Vec<OnceLock<String>>,
    pub(super) indexes: Vec<IndexSql>,
    pub(super) sourced: Vec<String>,
}

/// Returns the names of the tables of all families.
pub(crate) fn family_tables() -> impl Iterator<Item = String> {
    FAMILIES.iter().map(|table| table_name(table))
}

/// Returns the name of a family's table.
pub(super) fn table_name(table: &FamilyTable) -> String {
    format!("f_{}", table.name)
}

/// Creates the tables of families of the registry.
pub(crate) fn create_families(
    connection: &Connection,
    tables: &[&'static FamilyTable],
) -> rusqlite::Result<()> {
    FamilyStatements::of_registry().create(connection, tables)
}

impl FamilySql {
    pub(super) fn new(table: &'static FamilyTable) -> Self {
        let name = table_name(table);
        let read = columns(Vec::new(), value_columns(table));
        let written = columns(key_columns(table), value_columns(table));
        let places: Vec<String> = (1..=written.len()).map(|place| format!("?{place}")).collect();
        let [read, written, places] = [&read, &written, &places].map(|list| list.join(", "));
        Self {
            table,
            create: create(table),
            by_id: format!("SELECT {read} FROM {name} WHERE id = ?1"),
            insert: format!("INSERT INTO {name}({written}) VALUES ({places})"),
            updates: (0..2_usize << table.indexes.len()).map(|_| OnceLock::new()).collect(),
            indexes: (0..table.indexes.len()).map(|index| index_sql(&name, index, &read)).collect(),
            sourced: (0..table.content.len()).map(|column| sourced(table, column)).collect(),
        }
    }

    /// Returns the statement that writes the facts of a row and the columns that changed.
    pub(super) fn update(&self, changed: ChangedColumns) -> &str {
        let keys = 0..self.table.indexes.len();
        let place = keys.filter(|index| changed.has_key(*index)).fold(0, |place, index| place | (2 << index));
        let place = place | usize::from(changed.has_content());
        self.updates[place].get_or_init(|| self.new_update(changed))
    }

    fn new_update(&self, changed: ChangedColumns) -> String {
        let keys = key_columns(self.table).into_iter().enumerate();
        let keys = keys.filter(|(index, _)| changed.has_key(*index)).map(|(_, column)| column);
        let values = if changed.has_content() { value_columns(self.table) } else { Vec::new() };
        let written = std::iter::once("row".to_owned()).chain(keys).chain(values).zip(2..);
        let set: Vec<String> = written.map(|(column, place)| format!("{column} = ?{place}")).collect();
        format!("UPDATE {} SET {} WHERE id = ?1", table_name(self.table), set.join(", "))
    }
}

fn columns(keys: Vec<String>, values: Vec<String>) -> Vec<String> {
    ["id", "row"].into_iter().map(str::to_owned).chain(keys).chain(values).collect()
}

fn key_columns(table: &FamilyTable) -> Vec<String> {
    (0..table.indexes.len()).map(|index| format!("i{index}")).collect()
}

/// The cells, each followed by its source where that is not the row's own entry.
fn value_columns(table: &FamilyTable) -> Vec<String> {
    let mut columns = Vec::new();
    for (column, content) in table.content.iter().enumerate() {
        columns.push(format!("c{column}"));
        if content.source == ContentSource::Own {
            columns.push(format!("s{column}"));
        }
    }
    columns
}

fn create(table: &FamilyTable) -> String {
    let name = table_name(table);
    let keys = key_columns(table).into_iter().map(|key| format!(", {key} BLOB"));
    let values = value_columns(table).into_iter().map(|column| {
        let sort = if column.starts_with('c') { "BLOB" } else { "INTEGER NOT NULL" };
        format!(", {column} {sort}")
    });
    let columns: String = keys.chain(values).collect();
    let mut sql =
        format!("CREATE TABLE {name}(id INTEGER PRIMARY KEY, row BLOB NOT NULL{columns}) STRICT;\n");
    for (index, declared) in table.indexes.iter().enumerate() {
        let unique = match declared.rows_per_key {
            RowsPerKey::One => "UNIQUE ",
            RowsPerKey::Many => "",
        };
        let named = format!("{name}_{}", declared.name);
        sql += &format!("CREATE {unique}INDEX {named} ON {name}(i{index}) WHERE i{index} IS NOT NULL;\n");
    }
    for (column, declared) in table.content.iter().enumerate() {
        if declared.source == ContentSource::Own {
            let named = format!("{name}_{}_source", declared.name);
            sql += &format!("CREATE INDEX {named} ON {name}(s{column}) WHERE c{column} IS NOT NULL;\n");
        }
    }
    sql
}

fn index_sql(name: &str, index: usize, read: &str) -> IndexSql {
    let scan = |order: &str, beyond: &str| {
        let page = |after: &str| {
            format!(
                "SELECT {read}, i{index} FROM {name} WHERE i{index} >= ?2 AND i{index} < ?3{after}
                ORDER BY i{index} {order}, id {order} LIMIT ?1"
            )
        };
        ScanSql { first: page(""), next: page(&format!(" AND (i{index}, id) {beyond} (?4, ?5)")) }
    };
    IndexSql {
        by_key: format!("SELECT {read} FROM {name} WHERE i{index} = ?1"),
        ascending: scan("ASC", ">"),
        descending: scan("DESC", "<"),
    }
}

fn sourced(table: &FamilyTable, column: usize) -> String {
    let source = match table.content[column].source {
        ContentSource::Birth => "id".to_owned(),
        ContentSource::Own => format!("s{column}"),
    };
    format!(
        "SELECT id, {source} FROM {} WHERE {source} BETWEEN ?1 AND ?2 AND c{column} IS NOT NULL
        ORDER BY {source}, id",
        table_name(table)
    )
}

#[cfg(test)]
mod tests;
