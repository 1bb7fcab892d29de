//! Whether the indexes of content and tiles hold what their tables hold.
//!
//! Owns that comparison: rows are found by an index, and one that leads past a row would hide it. Sums over the
//! rows in either order, so that nothing is kept.

use std::hash::{BuildHasher as _, RandomState};

use rusqlite::Connection;

use super::cursor::{ReadTrouble, integer};
use super::schema::Schema;
use crate::fault::{FaultCode, FaultCount};

/// Checks the indexes over `chunk` and, where there is one, `tile`.
pub(super) fn check(connection: &Connection, schema: &Schema, faults: &mut FaultCount) {
    let chunk = [("chunk", schema.by_part.as_str(), "seq", "n")];
    let tile = schema.by_tile.as_deref().map(|index| ("tile", index, "level", "\"index\""));
    for (table, index, first, second) in chunk.into_iter().chain(tile) {
        let columns = format!("SELECT {first}, {second}, rowid FROM {table}");
        let by_index = format!("{columns} INDEXED BY \"{index}\" ORDER BY {first}, {second}");
        let by_row = format!("{columns} NOT INDEXED ORDER BY rowid");
        match agree(connection, &by_index, &by_row) {
            Ok(true) => {}
            Ok(false) => faults.add(None, FaultCode::Malformed, || {
                format!("the index over `{table}` does not hold what the table holds")
            }),
            Err(ReadTrouble(what)) => {
                faults.add(None, FaultCode::Malformed, || format!("table `{table}`: {what}"));
            }
        }
    }
}

fn agree(connection: &Connection, by_index: &str, by_row: &str) -> Result<bool, ReadTrouble> {
    let state = RandomState::new();
    let by_index = sum(connection, by_index, &state, |row| (row[0], row[1]))?;
    Ok(by_index == sum(connection, by_row, &state, |row| (row[2], 0))?)
}

/// Returns a sum over all rows, and how many they are; `key` has to rise.
fn sum(
    connection: &Connection,
    sql: &str,
    state: &RandomState,
    key: fn(&[i64; 3]) -> (i64, i64),
) -> Result<(u64, u64), ReadTrouble> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let (mut sum, mut count, mut last) = (0_u64, 0, None);
    while let Some(row) = rows.next()? {
        let row = [integer(row, 0)?, integer(row, 1)?, integer(row, 2)?];
        if last.is_some_and(|last| last >= key(&row)) {
            return Err(ReadTrouble("rows are not in order".to_owned()));
        }
        last = Some(key(&row));
        sum = sum.wrapping_add(state.hash_one(row));
        count += 1;
    }
    Ok((sum, count))
}
