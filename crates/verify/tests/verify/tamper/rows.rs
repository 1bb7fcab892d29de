//! Damage to single rows of the log.

use std::path::Path;

use rusqlite::params;

use super::expect::{Case, Seq, blob, open};
use super::view::View;
use crate::writer::Chance;

/// An entry that a change is noticed at: without a frontier, the last one is known to nobody.
fn known_entry(view: &View, chance: &mut Chance) -> u64 {
    chance.below(if view.format > 1 { view.len() } else { view.len() - 1 })
}

/// What follows when the entry at `seq` is not what it was; an Erased entry explains earlier ones.
fn mismatch(view: &View, seq: u64) -> Case {
    if view.kind(seq) == 3 { Case::any(&[10, 15], Seq::AtMost(seq)) } else { Case::plain(10, seq) }
}

pub(super) fn envelope_bit(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let seq = known_entry(view, chance);
    let mut envelope = view.envelopes[seq as usize].clone();
    chance.flip(&mut envelope);
    write_envelope(path, seq, &envelope);
    Some(mismatch(view, seq))
}

pub(super) fn facts_bit(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let seq = known_entry(view, chance);
    let mut envelope = view.envelopes[seq as usize].clone();
    chance.flip(envelope.get_mut(162..).filter(|facts| !facts.is_empty())?);
    write_envelope(path, seq, &envelope);
    Some(mismatch(view, seq))
}

fn write_envelope(path: &Path, seq: u64, envelope: &[u8]) {
    open(path)
        .execute("UPDATE entry SET envelope = ?2 WHERE seq = ?1", params![seq as i64, envelope])
        .expect("a row");
}

pub(super) fn column(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let seq = chance.below(view.len());
    let has_run = view.envelopes[seq as usize][72..88] != [0; 16];
    let to = open(path);
    let row = seq as i64;
    let changed = match chance.below(4) {
        0 => to.execute(
            "UPDATE entry SET kind = kind + ?2 WHERE seq = ?1",
            params![row, 1 + chance.below(9) as i64],
        ),
        1 => to.execute("UPDATE entry SET run_id = ?2 WHERE seq = ?1", params![row, chance.bytes(16)]),
        2 if has_run => to.execute("UPDATE entry SET run_id = NULL WHERE seq = ?1", [row]),
        3 if has_run => to.execute("UPDATE entry SET tape_seq = tape_seq + 1000 WHERE seq = ?1", [row]),
        _ => to.execute("UPDATE entry SET tape_seq = 77 WHERE seq = ?1", [row]),
    };
    changed.ok().map(|_| Case::plain(10, seq))
}

pub(super) fn deleted(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let seq = chance.below(view.len() - 1);
    open(path).execute("DELETE FROM entry WHERE seq = ?1", [seq as i64]).expect("a row");
    Some(mismatch(view, seq))
}

pub(super) fn swapped(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (one, other) = (chance.below(view.len()), chance.below(view.len()));
    if one == other {
        return None;
    }
    let to = open(path);
    for (from, into) in [(one as i64, -1), (other as i64, one as i64), (-1, other as i64)] {
        to.execute("UPDATE entry SET seq = ?2 WHERE seq = ?1", [from, into]).expect("a row");
    }
    let first = one.min(other);
    let erases = view.kind(one) == 3 || view.kind(other) == 3;
    Some(if erases { Case::any(&[10, 15], Seq::AtMost(first)) } else { Case::plain(10, first) })
}

pub(super) fn static_bit(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    if view.statics == 0 {
        return None;
    }
    let to = open(path);
    let row = (1_i64, chance.below(view.statics as u64) as i64);
    let column = *chance.pick(&["hash", "body"]);
    let find = format!("SELECT CAST({column} AS BLOB) FROM static WHERE ?1 ORDER BY rowid LIMIT 1 OFFSET ?2");
    let mut bytes = blob(&to, &find, row);
    chance.flip(&mut bytes);
    let value = if column == "body" { "CAST(?1 AS TEXT)" } else { "?1" };
    let sql = format!(
        "UPDATE static SET {column} = {value} WHERE rowid = (SELECT rowid FROM static ORDER BY rowid LIMIT 1 OFFSET ?2)"
    );
    to.execute(&sql, params![bytes, row.1]).ok().map(|_| Case::any(&[10], Seq::None))
}

/// Derived tables are not the log: this must not be noticed.
pub(super) fn projection(_: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let to = open(path);
    let sql =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT IN
               ('entry', 'payload', 'chunk', 'static', 'tile', 'frontier', 'checkpoint')";
    let tables: Vec<String> = to
        .prepare(sql)
        .and_then(|mut find| find.query_map([], |row| row.get(0))?.collect())
        .expect("a schema");
    let table = chance.pick(&tables);
    let changed = match chance.below(3) {
        0 => to.execute_batch(&format!("DELETE FROM \"{table}\"")),
        1 => to.execute_batch(&format!("DROP TABLE \"{table}\"")),
        _ => to.execute_batch(&format!("ALTER TABLE \"{table}\" ADD COLUMN forged")),
    };
    changed.ok().map(|()| Case::any(&[0], Seq::None))
}
