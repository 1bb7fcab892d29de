//! Rows of families for tests and attacks, which know no statement over them: what the adapter does, on a connection of
//! theirs.

use palyra_journal_core::families::FamilySet;
use palyra_journal_core::family::{
    ChangedColumns, EncodedRow, Family, FamilyTable, FoldedEntry, RowId, RowStore, RowWrite, StoreFault,
    all_rows,
};
use rusqlite::Connection;

use crate::rows::{FamilyStatements, SqliteRows, sql_error};

/// Folds an entry into every family, as an append does.
///
/// # Errors
/// The failure of SQLite.
pub fn fold_entry(connection: &Connection, entry: &FoldedEntry<'_>) -> rusqlite::Result<()> {
    let mut families = FamilySet::default();
    let folded = families.fold(&mut SqliteRows::new(connection), entry);
    folded.and_then(|_| families.flush(&mut SqliteRows::new(connection))).map_err(sql_error)
}

/// Hands out the rows of a connection.
///
/// # Errors
/// Those of `use_rows`.
pub fn with_rows<T>(
    connection: &Connection,
    use_rows: impl FnOnce(&mut dyn RowStore) -> Result<T, StoreFault>,
) -> rusqlite::Result<T> {
    use_rows(&mut SqliteRows::new(connection)).map_err(sql_error)
}

/// Returns every row of a family whose first index holds all rows.
///
/// # Errors
/// The failure of SQLite.
pub fn rows_of<F: Family>(connection: &Connection) -> rusqlite::Result<Vec<(RowId, F::Row)>> {
    all_rows::<F>(&mut SqliteRows::new(connection), 0).map_err(sql_error)
}

/// Writes every row of a family that `change` returns true for, with the keys that follow.
///
/// # Errors
/// The failure of SQLite.
pub fn change_rows<F: Family>(
    connection: &Connection,
    mut change: impl FnMut(&mut F::Row) -> bool,
) -> rusqlite::Result<()> {
    for (id, mut row) in rows_of::<F>(connection)? {
        if change(&mut row) {
            let keys = (0..F::TABLE.indexes.len()).map(|index| F::index(&row, index)).collect();
            let encoded = EncodedRow { facts: F::facts(&row), keys, content: F::content(&row) };
            let written = SqliteRows::new(connection).write(
                F::TABLE,
                id,
                RowWrite::Update(&encoded, ChangedColumns::ALL),
            );
            written.map_err(sql_error)?;
        }
    }
    Ok(())
}

/// Gives a row the name of another entry.
///
/// # Errors
/// The failure of SQLite.
pub fn rename_row<F: Family>(connection: &Connection, from: RowId, to: RowId) -> rusqlite::Result<()> {
    let sql = format!("UPDATE f_{} SET id = ?2 WHERE id = ?1", F::TABLE.name);
    connection.execute(&sql, [from.0.cast_signed(), to.0.cast_signed()]).map(drop)
}

/// Makes the tables of families that are in no registry, and hands out their rows.
///
/// # Errors
/// The failure of SQLite.
pub fn with_tables(
    tables: &'static [&'static FamilyTable],
    use_rows: impl FnOnce(&mut dyn RowStore),
) -> rusqlite::Result<()> {
    let connection = Connection::open_in_memory()?;
    let statements = FamilyStatements::of(tables);
    statements.create(&connection, tables)?;
    use_rows(&mut SqliteRows::with(&connection, &statements));
    Ok(())
}
