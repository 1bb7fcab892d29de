//! Damage to payloads, chunks and files, and erasures that nobody made.

use std::path::Path;

use rusqlite::params;

use super::expect::{Case, Seq, blob, open};
use super::view::View;
use crate::writer::Chance;

pub(super) fn payload_bit(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (seq, _) = *chance.pick(&view.payloads);
    let to = open(path);
    let mut sealed = blob(&to, "SELECT sealed FROM payload WHERE seq = ?1 AND ?2", (seq as i64, 1));
    chance.flip(&mut sealed);
    to.execute("UPDATE payload SET sealed = ?2 WHERE seq = ?1", params![seq as i64, sealed]).expect("a row");
    Some(Case::plain(10, seq))
}

pub(super) fn chunk_bit(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    if view.chunks.is_empty() {
        return None;
    }
    let (seq, n) = *chance.pick(&view.chunks);
    let to = open(path);
    let mut sealed = blob(&to, "SELECT sealed FROM chunk WHERE seq = ?1 AND n = ?2", (seq as i64, n));
    chance.flip(&mut sealed);
    to.execute("UPDATE chunk SET sealed = ?3 WHERE seq = ?1 AND n = ?2", params![seq as i64, n, sealed])
        .expect("a row");
    Some(Case::plain(10, seq))
}

/// Parts left out, moved, doubled, or added where there is none.
pub(super) fn parts(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let to = open(path);
    if chance.one_in(3) {
        let seq = chance.below(view.len());
        let n = 1_048_576 * (40 + chance.below(9) as i64);
        to.execute("INSERT INTO chunk VALUES (?1, ?2, ?3)", params![seq as i64, n, chance.bytes(40)])
            .expect("a row");
        return Some(Case::plain(10, seq));
    }
    if view.chunks.is_empty() {
        return None;
    }
    let (seq, n) = *chance.pick(&view.chunks);
    if chance.one_in(2) {
        to.execute("UPDATE chunk SET n = n + 500 WHERE seq = ?1 AND n = ?2", [seq as i64, n]).ok()?;
        return Some(Case::plain(10, seq));
    }
    to.execute("DELETE FROM chunk WHERE seq = ?1 AND n = ?2", [seq as i64, n]).expect("a row");
    let file = n >> 20;
    let whole = file > 0 && view.chunks.iter().filter(|row| row.0 == seq && row.1 >> 20 == file).count() == 1;
    Some(Case::plain(if whole { 15 } else { 10 }, seq))
}

pub(super) fn payload_dropped(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let seq = *chance.pick(&view.with_payload());
    let to = open(path);
    drop_content(&to, seq, chance.one_in(2));
    Some(Case::plain(15, seq))
}

/// A payload that is not sealed is said to be, so that whoever has no keys cannot look at it, and replaced.
pub(super) fn marked_as_sealed(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (seq, _) = *chance.pick(&view.payloads.iter().filter(|row| row.1 == 0).collect::<Vec<_>>());
    let (row, content) = (*seq as i64, chance.bytes(90));
    let to = open(path);
    to.execute("UPDATE payload SET key_id = 1, sealed = ?2 WHERE seq = ?1", params![row, content])
        .expect("a row");
    to.execute("DELETE FROM chunk WHERE seq = ?1", [row]).expect("rows");
    Some(Case::plain(10, *seq))
}

/// Without keys only the epoch's own word says that nothing in it is sealed; without that word it is not checked.
pub(super) fn marked_as_sealed_unkeyed(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let case = marked_as_sealed(view, chance, path)?;
    let epochs = view.envelopes.iter().filter(|envelope| envelope[2..4] == [0, 2]);
    // Facts of EpochStarted end with field 4 where it is stated, else with the key of field 3.
    let says_off = |envelope: &Vec<u8>| envelope.ends_with(&[32, 1]);
    let (off, all) = epochs.fold((0, 0), |(off, all), epoch| (off + u32::from(says_off(epoch)), all + 1));
    Some(if off == all { case } else { Case::any(&[18], Seq::None) })
}

fn drop_content(to: &rusqlite::Connection, seq: u64, chunks_too: bool) {
    to.execute("DELETE FROM payload WHERE seq = ?1", [seq as i64]).expect("a row");
    if chunks_too {
        to.execute("DELETE FROM chunk WHERE seq = ?1", [seq as i64]).expect("rows");
    }
}

/// Content where there should be none: of an erased entry, or of one that never had any.
pub(super) fn payload_added(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let there = view.with_payload();
    let free: Vec<u64> = (0..view.len()).filter(|seq| there.binary_search(seq).is_err()).collect();
    let seq = *chance.pick(&free);
    let (row, content) = (seq as i64, chance.bytes(60));
    open(path).execute("INSERT INTO payload VALUES (?1, 0, ?2)", params![row, content]).expect("a row");
    Some(Case::plain(10, seq))
}

/// A payload is taken out, and an entry made to say that it was erased.
pub(super) fn erasure_forged(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let seq = *chance.pick(&view.with_payload());
    let to = open(path);
    drop_content(&to, seq, true);
    let facts =
        [&[8, 1, 18, 16][..], &[9; 16], &[24, 1, 34, 6, 8], &varint(seq), &[16], &varint(seq)].concat();
    let mut forged = view.envelopes.last()?[..162].to_vec();
    forged[1] = 0;
    forged[2..4].copy_from_slice(&[0, 3]);
    forged[72..92].fill(0);
    forged[128..160].fill(0);
    forged[160..162].copy_from_slice(&(facts.len() as u16).to_be_bytes());
    forged.extend(facts);
    if chance.one_in(2) || seq + 1 >= view.len() {
        // After the last entry, well chained; the frontier does not know it.
        let size = view.len();
        forged[8..16].copy_from_slice(&size.to_be_bytes());
        forged[96..128].copy_from_slice(&crate::writer::leaf(view.envelopes.last()?));
        to.execute("INSERT INTO entry VALUES (?1, ?2, NULL, NULL, 3)", params![size as i64, forged])
            .expect("a row");
        return (view.format > 1).then(|| Case::plain(10, size));
    }
    // In place of a later entry that has no content itself.
    let last_known = view.len() - u64::from(view.format == 1);
    let plain =
        (seq + 1..last_known).filter(|at| view.envelopes[*at as usize][1] & 1 == 0 && view.kind(*at) > 4);
    let plain: Vec<u64> = plain.collect();
    let at = *plain.get(chance.place(plain.len().max(1)))?;
    forged[4..72].copy_from_slice(&view.envelopes[at as usize][4..72]);
    forged[96..128].copy_from_slice(&view.envelopes[at as usize][96..128]);
    let sql = "UPDATE entry SET envelope = ?2, kind = 3, run_id = NULL, tape_seq = NULL WHERE seq = ?1";
    to.execute(sql, params![at as i64, forged]).expect("a row");
    Some(Case::any(&[10], Seq::Is(at)))
}

/// A number in five bytes, however small.
fn varint(value: u64) -> Vec<u8> {
    let byte = |at: u32| (value >> (7 * at)) as u8 & 0x7F;
    vec![byte(0) | 0x80, byte(1)]
}
