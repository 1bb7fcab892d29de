//! Versions of families: which tables are those of this program, and the mark of an unfinished rebuild.
//!
//! Owns the table `family`. Invariant: a family's row is removed in the transaction that makes its table anew, and written
//! in the one that completes it; so a crash between the two leaves a family without version, which a start rebuilds.

use std::collections::BTreeMap;

use palyra_journal_core::families::FAMILIES;
use palyra_journal_core::family::FamilyTable;
use rusqlite::Connection;

use super::family_sql::{create_families, table_name};

/// Drops the tables of families that this program does not fold: a later program that does makes them anew.
pub(crate) fn drop_unknown_families(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT name FROM family")?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    for name in names.iter().filter(|name| !FAMILIES.iter().any(|table| table.name == name.as_str())) {
        let transaction = connection.unchecked_transaction()?;
        transaction.execute("DELETE FROM family WHERE name = ?1", [name])?;
        transaction.execute_batch(&format!("DROP TABLE IF EXISTS \"f_{}\"", name.replace('"', "\"\"")))?;
        transaction.commit()?;
    }
    Ok(())
}

/// Returns the families whose table is not the one that this program makes and fills.
pub(crate) fn stale_families(connection: &Connection) -> rusqlite::Result<Vec<&'static FamilyTable>> {
    let versions = "SELECT name, version FROM family";
    let mut statement = connection.prepare(versions)?;
    let versions = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let versions = versions.collect::<rusqlite::Result<BTreeMap<String, u32>>>()?;
    let fresh = Connection::open_in_memory()?;
    let mut stale = Vec::new();
    for table in FAMILIES {
        create_families(&fresh, &[table])?;
        let same = versions.get(table.name) == Some(&table.version)
            && definitions(connection, table)? == definitions(&fresh, table)?;
        if !same {
            stale.push(*table);
        }
    }
    Ok(stale)
}

/// Returns the statements that made a family's table and everything on it.
fn definitions(connection: &Connection, table: &FamilyTable) -> rusqlite::Result<Vec<[String; 3]>> {
    let sql =
        "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE tbl_name = ?1 ORDER BY type, name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([table_name(table)], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    rows.collect()
}

/// Makes the tables of families anew and marks them as unfinished; the caller holds the transaction.
pub(crate) fn begin_rebuild(
    connection: &Connection,
    tables: &[&'static FamilyTable],
) -> rusqlite::Result<()> {
    for table in tables {
        connection.execute("DELETE FROM family WHERE name = ?1", [table.name])?;
        connection.execute_batch(&format!("DROP TABLE IF EXISTS {}", table_name(table)))?;
    }
    create_families(connection, tables)
}

/// Records that the tables of families are complete; the caller holds the transaction.
pub(crate) fn finish_rebuild(
    connection: &Connection,
    tables: &[&'static FamilyTable],
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO family(name, version) VALUES (?1, ?2)")?;
    tables.iter().try_for_each(|table| insert.execute((table.name, table.version)).map(drop))
}
