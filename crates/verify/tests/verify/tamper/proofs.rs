//! Damage to tiles, the frontier and the stored checkpoints.

use std::path::Path;

use rusqlite::params;

use super::expect::{Case, Seq, blob, open};
use super::view::View;
use crate::writer::Chance;

pub(super) fn tile(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let to = open(path);
    if view.tiles.is_empty() || chance.one_in(5) {
        if view.format == 1 {
            return None;
        }
        let beyond = (view.len() / 256) as i64 + chance.below(3) as i64;
        to.execute("INSERT INTO tile VALUES (0, ?1, ?2)", params![beyond, chance.bytes(8192)])
            .expect("a row");
        return Some(Case::plain(11, view.len()));
    }
    let (level, index) = *chance.pick(&view.tiles);
    let below = 1 << (8 * level);
    let last = (index as u64 * 256 + 256) * below - 1;
    if chance.one_in(3) {
        to.execute("DELETE FROM tile WHERE level = ?1 AND \"index\" = ?2", [level, index]).expect("a row");
        return Some(Case::plain(10, last));
    }
    let mut hashes = blob(&to, "SELECT hashes FROM tile WHERE level = ?1 AND \"index\" = ?2", (level, index));
    let at = chance.place(hashes.len());
    hashes[at] ^= 1 << chance.below(8);
    let sql = "UPDATE tile SET hashes = ?3 WHERE level = ?1 AND \"index\" = ?2";
    to.execute(sql, params![level, index, hashes]).expect("a row");
    Some(Case::plain(10, (index as u64 * 256 + at as u64 / 32 + 1) * below - 1))
}

pub(super) fn frontier(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    if view.format == 1 {
        return None;
    }
    let to = open(path);
    let size = view.len();
    let mut hashes = blob(&to, "SELECT hashes FROM frontier WHERE ?1 AND ?2", (1, 1));
    let (new_size, case) = match chance.below(4) {
        0 => {
            chance.flip(&mut hashes);
            (size, Case::plain(10, size - 1))
        }
        1 => {
            let other = chance.below(size);
            (other, Case::plain(10, other))
        }
        2 => (size + 1 + chance.below(1000), Case::plain(11, size)),
        _ => {
            hashes.pop();
            (size, Case::any(&[16], Seq::None))
        }
    };
    if new_size != size {
        hashes.resize(32 * new_size.count_ones() as usize, 5);
    }
    to.execute("UPDATE frontier SET size = ?1, hashes = ?2", params![new_size as i64, hashes])
        .expect("a row");
    Some(case)
}

/// A bit of a note. Its body is signed, its signatures are checked, and its form is the only one.
pub(super) fn checkpoint_bit(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    if view.checkpoints.is_empty() {
        return None;
    }
    let (size, note) = chance.pick(&view.checkpoints);
    let mut bytes = note.clone().into_bytes();
    chance.flip(&mut bytes);
    let text = String::from_utf8(bytes).ok()?;
    open(path)
        .execute("UPDATE checkpoint SET note = ?2 WHERE size = ?1", params![*size as i64, text])
        .expect("a row");
    Some(Case::any(&[14, 16], Seq::Is(size - 1)))
}

/// All checkpoints are gone although a run began.
pub(super) fn checkpoints_deleted(view: &View, _: &mut Chance, path: &Path) -> Option<Case> {
    let in_run = |envelope: &&Vec<u8>| envelope[72..88] != [0; 16];
    let begun_in_format_1 = {
        let facts = &view.envelopes[0][162..];
        let (nonce, key) = (&facts[22..54], &facts[56..88]);
        crate::writer::sha256(&[b"palyra/log/v1\n", key, nonce])[..16] == facts[4..20]
    };
    let reopened = (0..view.len()).any(|seq| view.kind(seq) == 4);
    if view.checkpoints.is_empty() || begun_in_format_1 || reopened {
        return None;
    }
    let first = view.envelopes.iter().position(|envelope| in_run(&envelope))?;
    open(path).execute_batch("DELETE FROM checkpoint").expect("rows");
    Some(Case::plain(14, first as u64))
}
