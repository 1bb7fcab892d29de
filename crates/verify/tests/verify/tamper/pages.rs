//! Damage to bytes of the file, whatever lies there.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::expect::{Case, Seq};
use super::view::View;
use crate::writer::Chance;

/// Tables of which no row may change or vanish, with as many columns as each has.
const WHOLE: [(&str, usize); 5] = [("entry", 5), ("payload", 3), ("chunk", 3), ("tile", 3), ("frontier", 3)];
/// Tables of which no row may change; what is gone is not always noticed.
const PARTS: [(&str, usize); 2] = [("static", 2), ("checkpoint", 2)];

pub(super) fn bytes(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let mut file = std::fs::read(path).expect("a file");
    let before = dump(path, view)?;
    let page = chance.place(file.len() / 4096) * 4096;
    // Half of the time where SQLite keeps its own numbers.
    let span = if chance.one_in(2) { 64 } else { 4096 };
    for _ in 0..1 + chance.below(8) {
        file[page + chance.place(span)] = chance.next() as u8;
    }
    std::fs::write(path, file).expect("a file");
    let faults = [10, 11, 12, 13, 14, 15, 16];
    let same = dump(path, view).is_some_and(|after| after.0 == before.0 && after.1.is_subset(&before.1));
    if same {
        Some(Case::any(&[0, 10, 11, 12, 13, 14, 15, 16], Seq::Any))
    } else {
        Some(Case::any(&faults, Seq::Any))
    }
}

type Row = (&'static str, Vec<String>);

/// Reads all rows by walking the tables; `None` where that cannot be done.
fn dump(path: &Path, view: &View) -> Option<(Vec<Row>, HashSet<Row>)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let from = Connection::open_with_flags(format!("file:{}?immutable=1", path.display()), flags).ok()?;
    let there =
        |table: &&(&str, usize)| view.format > 1 || !["tile", "frontier", "checkpoint"].contains(&table.0);
    let mut whole = Vec::new();
    for (table, columns) in WHOLE.iter().filter(there) {
        rows(&from, table, *columns, &mut |row| whole.push(row))?;
    }
    let mut parts = HashSet::new();
    for (table, columns) in PARTS.iter().filter(there) {
        rows(&from, table, *columns, &mut |row| {
            parts.insert(row);
        })?;
    }
    Some((whole, parts))
}

fn rows(from: &Connection, table: &'static str, columns: usize, each: &mut dyn FnMut(Row)) -> Option<()> {
    let mut find = from.prepare(&format!("SELECT * FROM \"{table}\" NOT INDEXED")).ok()?;
    if find.column_count() != columns {
        return None;
    }
    let mut rows = find.query([]).ok()?;
    let mut seen = 0;
    while let Some(row) = rows.next().ok()? {
        let values: Option<Vec<String>> =
            (0..columns).map(|at| Some(format!("{:?}", row.get::<_, Value>(at).ok()?))).collect();
        each((table, values?));
        seen += 1;
        if seen > 1_000_000 {
            return None;
        }
    }
    Some(())
}
