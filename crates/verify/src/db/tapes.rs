//! The tapes of all runs, each dense from 1.
//!
//! Owns reading the index over `entry(run_id, tape_seq)`, which is in the order of tapes so that nothing is
//! kept, and the check that this index holds the same as the table.

use std::hash::{BuildHasher as _, RandomState};

use rusqlite::{Connection, Row};

use super::cursor::{ReadTrouble, blob, integer};
use crate::fault::{FaultCode, FaultCount};

/// A sum over rows in any order, with a key that nobody outside knows.
pub(super) struct RowSum {
    state: RandomState,
    sum: u64,
    rows: u64,
}

impl RowSum {
    pub(super) fn new() -> Self {
        Self { state: RandomState::new(), sum: 0, rows: 0 }
    }

    pub(super) fn add(&mut self, seq: i64, run: Option<&[u8]>, tape_seq: Option<i64>) {
        self.sum = self.sum.wrapping_add(self.state.hash_one((seq, run, tape_seq)));
        self.rows += 1;
    }
}

/// Checks all tapes; `table` is the sum over the rows of the table, where they were all read.
pub(super) fn check(connection: &Connection, index: &str, table: Option<RowSum>, faults: &mut FaultCount) {
    let mut sum = table.as_ref().map(|table| RowSum { state: table.state.clone(), sum: 0, rows: 0 });
    let outcome = walk(connection, index, sum.as_mut(), faults);
    let differs = sum.zip(table).is_some_and(|(sum, table)| (sum.sum, sum.rows) != (table.sum, table.rows));
    match outcome {
        Err(ReadTrouble(what)) => {
            faults.add(None, FaultCode::Malformed, || format!("the index of tapes: {what}"));
        }
        Ok(()) if differs => {
            faults.add(None, FaultCode::Malformed, || {
                "the index of tapes does not hold what the table holds".to_owned()
            });
        }
        Ok(()) => {}
    }
}

/// A row of the index.
struct TapePosition {
    run: Option<Vec<u8>>,
    tape_seq: Option<i64>,
    seq: i64,
}

fn walk(
    connection: &Connection,
    index: &str,
    mut sum: Option<&mut RowSum>,
    faults: &mut FaultCount,
) -> Result<(), ReadTrouble> {
    let sql =
        format!("SELECT run_id, tape_seq, seq FROM entry INDEXED BY \"{index}\" ORDER BY run_id, tape_seq");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut before: Option<TapePosition> = None;
    while let Some(row) = rows.next()? {
        let place = TapePosition {
            run: optional(row, 0, blob)?,
            tape_seq: optional(row, 1, integer)?,
            seq: integer(row, 2)?,
        };
        if let Some(sum) = &mut sum {
            sum.add(place.seq, place.run.as_deref(), place.tape_seq);
        }
        let key = |place: &TapePosition| (place.run.clone(), place.tape_seq, place.seq);
        if before.as_ref().is_some_and(|before| key(before) >= key(&place)) {
            return Err(ReadTrouble("its rows are not in order".to_owned()));
        }
        if place.run.is_some() {
            check_step(before.as_ref(), &place, faults);
        }
        before = Some(place);
    }
    Ok(())
}

fn check_step(before: Option<&TapePosition>, place: &TapePosition, faults: &mut FaultCount) {
    let same_run = before.filter(|before| before.run == place.run);
    let expected = same_run.map_or(Some(0), |before| before.tape_seq).and_then(|last| last.checked_add(1));
    let seq = u64::try_from(place.seq).unwrap_or_default();
    if place.tape_seq != expected {
        faults.add(seq, FaultCode::Malformed, || format!("entry {seq} does not go on its run's tape"));
    } else if same_run.is_some_and(|before| before.seq >= place.seq) {
        faults.add(seq, FaultCode::Malformed, || {
            format!("entry {seq} is before its predecessor on its run's tape")
        });
    }
}

fn optional<T>(
    row: &Row<'_>,
    column: usize,
    read: fn(&Row<'_>, usize) -> Result<T, ReadTrouble>,
) -> Result<Option<T>, ReadTrouble> {
    if row.get_ref(column)?.data_type() == rusqlite::types::Type::Null {
        return Ok(None);
    }
    read(row, column).map(Some)
}
