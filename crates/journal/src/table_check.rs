//! Whether the derived tables fit the log, as far as a start looks.
//!
//! Owns the comparison of tables with those that this version makes and, for a short log, of rows with a fold anew.
//! Changes nothing. Begin at [`misfit`].

use std::path::Path;

use palyra_types::Epoch;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};

use crate::fault::ReadFault;
use crate::refold::fold_log;
use crate::rows::{family_tables, newest_epoch};
use crate::schema;
use crate::seal::add_unseal;

/// Tables that hold versions.
const OF_VERSIONS: &[&str] = &["projections", "family"];

/// Returns what does not fit, so that all tables have to be rebuilt. Looks at the tables only, whatever the log's size.
pub(crate) fn misfit(connection: &Connection) -> rusqlite::Result<Option<&'static str>> {
    if version(connection)? != Some(schema::PROJECTIONS_VERSION) {
        return Ok(Some("their version is another one, or is missing"));
    }
    if definitions(connection)? != expected_definitions()? {
        return Ok(Some("a table, a column or an index is missing or another one"));
    }
    Ok(None)
}

/// Returns whether the newest epoch of the derived tables is the one of the log's last entry.
pub(crate) fn knows_epoch(connection: &Connection, newest: Epoch) -> bool {
    matches!(newest_epoch(connection), Ok(found) if found == newest)
}

fn version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let exists = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'projections'";
    if connection.query_row(exists, [], |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let mut versions = connection.prepare("SELECT version FROM projections LIMIT 2")?;
    let versions: Vec<i64> = versions.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(if let [version] = versions[..] { Some(version) } else { None })
}

/// Returns the statements that made the derived tables and everything on them.
fn definitions(connection: &Connection) -> rusqlite::Result<Vec<[String; 3]>> {
    let sql = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let of: String = row.get(2)?;
        Ok((of, [row.get(0)?, row.get(1)?, row.get(3)?]))
    })?;
    let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let of_ours = rows.into_iter().filter(|(of, _)| OF_VERSIONS.contains(&of.as_str()));
    Ok(of_ours.map(|(_, definition)| definition).collect())
}

fn expected_definitions() -> rusqlite::Result<Vec<[String; 3]>> {
    let fresh = Connection::open_in_memory()?;
    schema::create_projections(&fresh)?;
    definitions(&fresh)
}

/// Returns whether every row of the derived tables is the one that a fold over the log makes. Folds into memory.
pub(crate) fn agrees(database: &Path) -> Result<bool, ReadFault> {
    differing_table(database, &mut |_| (), &|_, _| ()).map(|table| table.is_none())
}

/// Returns the first derived table that is not what the log folds to. The caller is handed the connection before the work,
/// to interrupt it, and is told of the progress.
pub(crate) fn differing_table(
    database: &Path,
    begin: &mut dyn FnMut(&Connection),
    progress: &dyn Fn(u64, u64),
) -> Result<Option<String>, ReadFault> {
    let fresh = Connection::open_in_memory()?;
    begin(&fresh);
    fresh.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    fresh.pragma_update(None, "temp_store", "MEMORY")?;
    add_unseal(&fresh, database)?;
    schema::create_projections(&fresh)?;
    let path = std::os::unix::ffi::OsStrExt::as_bytes(database.as_os_str());
    fresh.execute("ATTACH DATABASE ?1 AS kept", [path])?;
    // What is not a derived table is found in the journal; one snapshot for all of it.
    let snapshot = fresh.unchecked_transaction()?;
    fold_log(&snapshot, progress)?;
    for table in family_tables() {
        let same = format!(
            "SELECT (SELECT count(*) FROM main.{table}) = (SELECT count(*) FROM kept.{table})
                AND NOT EXISTS (SELECT * FROM main.{table} EXCEPT SELECT * FROM kept.{table})"
        );
        if !snapshot.query_row(&same, [], |row| row.get::<_, bool>(0))? {
            tracing::warn!(table, "a derived table is not what the log folds to");
            return Ok(Some(table));
        }
    }
    Ok(None)
}
