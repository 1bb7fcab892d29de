//! The daemon's own texts, each under its SHA-256.

use rusqlite::Connection;

use super::cursor::{Trouble, blob, integer};
use crate::digest::sha256;
use crate::fault::{Code, Faults};

/// Checks all of them and returns how many there are.
pub(super) fn check(connection: &Connection, faults: &mut Faults) -> u64 {
    let mut count = 0;
    if let Err(Trouble(what)) = walk(connection, &mut count, faults) {
        faults.add(None, Code::Malformed, || format!("the static texts: {what}"));
    }
    count
}

fn walk(connection: &Connection, count: &mut u64, faults: &mut Faults) -> Result<(), Trouble> {
    let mut statement = connection
        .prepare("SELECT hash, CAST(body AS BLOB), rowid FROM static NOT INDEXED ORDER BY rowid")?;
    let mut rows = statement.query([])?;
    let mut before: Option<i64> = None;
    while let Some(row) = rows.next()? {
        let (hash, body, rowid) = (blob(row, 0)?, blob(row, 1)?, integer(row, 2)?);
        if before.is_some_and(|before| before >= rowid) {
            return Err(Trouble("rows are not in order".to_owned()));
        }
        if sha256(&[&body])[..] != hash {
            faults.add(None, Code::Mismatch, || "a static text is not the one it is named after".to_owned());
        }
        *count += 1;
        before = Some(rowid);
    }
    Ok(())
}
