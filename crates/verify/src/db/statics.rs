//! The daemon's own texts, each under its SHA-256.

use rusqlite::Connection;

use super::cursor::{ReadTrouble, blob, integer};
use crate::digest::sha256;
use crate::fault::{FaultCode, FaultCount};

/// Checks all of them and returns how many there are.
pub(super) fn check(connection: &Connection, faults: &mut FaultCount) -> u64 {
    let mut count = 0;
    if let Err(ReadTrouble(what)) = walk(connection, &mut count, faults) {
        faults.add(None, FaultCode::Malformed, || format!("the static texts: {what}"));
    }
    count
}

fn walk(connection: &Connection, count: &mut u64, faults: &mut FaultCount) -> Result<(), ReadTrouble> {
    let mut statement = connection
        .prepare("SELECT hash, CAST(body AS BLOB), rowid FROM static NOT INDEXED ORDER BY rowid")?;
    let mut rows = statement.query([])?;
    let mut before: Option<i64> = None;
    while let Some(row) = rows.next()? {
        let (hash, body, rowid) = (blob(row, 0)?, blob(row, 1)?, integer(row, 2)?);
        if before.is_some_and(|before| before >= rowid) {
            return Err(ReadTrouble("rows are not in order".to_owned()));
        }
        if sha256(&[&body])[..] != hash {
            faults.add(None, FaultCode::Mismatch, || {
                "a static text is not the one it is named after".to_owned()
            });
        }
        *count += 1;
        before = Some(rowid);
    }
    Ok(())
}
