//! Damage to the end of the log.

use std::path::Path;

use rusqlite::{Connection, params};

use super::expect::{Case, open};
use super::view::View;
use crate::writer::{Chance, frontier, leaf};

/// The end is cut off; nothing else is touched.
pub(super) fn truncated(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let size = 2 + chance.below(view.len() - 2);
    let to = open(path);
    let content_too = chance.one_in(2);
    cut(&to, size, content_too);
    if view.format == 1 && (content_too || view.payloads.last().is_none_or(|row| row.0 < size)) {
        return None;
    }
    Some(match view.first_unexplained(size) {
        Some(seq) => Case::plain(15, seq),
        None => Case::plain(11, size),
    })
}

/// The end is cut off, and frontier and tiles are made to fit; the signed heads stay.
pub(super) fn truncated_to_fit(view: &View, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (last, _) = view.checkpoints.last()?;
    let size = 2 + chance.below(last - 2);
    let to = open(path);
    cut(&to, size, true);
    let leaves: Vec<[u8; 32]> =
        view.envelopes[..size as usize].iter().map(|envelope| leaf(envelope)).collect();
    let edge = params![size as i64, frontier(&leaves)];
    to.execute("UPDATE frontier SET size = ?1, hashes = ?2", edge).expect("a row");
    to.execute("DELETE FROM tile WHERE (\"index\" + 1) << (8 * (level + 1)) > ?1", [size as i64])
        .expect("rows");
    let unexplained = view.first_unexplained(size);
    let known = view.checkpoints.iter().any(|(at, note)| *at > size && signers_are_below(view, note, size));
    let next = view.checkpoints.iter().map(|row| row.0).find(|at| *at > size)?;
    Some(match unexplained {
        Some(seq) => Case::plain(15, seq),
        None if known => Case::plain(11, size),
        None => Case::plain(14, next - 1),
    })
}

/// Whether every key that signed the note was announced below `size`, in the log that was present then.
fn signers_are_below(view: &View, note: &str, size: u64) -> bool {
    let name = note.lines().next().unwrap_or_default();
    let present = view.envelopes[size as usize - 1][24..40].iter().map(|byte| format!("{byte:02x}"));
    if name != format!("palyra.log/{}", present.collect::<String>()) {
        return false;
    }
    let announced: Vec<[u8; 4]> = view.envelopes[..size as usize]
        .iter()
        .filter(|envelope| envelope[2..4] == [0, 2])
        .map(|envelope| crate::writer::key_id(name, announced_key(envelope)))
        .collect();
    note.lines().skip(4).all(|line| {
        use base64::Engine as _;
        let blob = line.rsplit(' ').next().unwrap_or_default();
        let blob = base64::engine::general_purpose::STANDARD.decode(blob).unwrap_or_default();
        announced.iter().any(|id| blob.starts_with(id))
    })
}

/// Returns the key of an EpochStarted: the last field, or the one before a statement on sealing.
fn announced_key(envelope: &[u8]) -> &[u8] {
    let end = envelope.len();
    let end = if envelope[end - 34..end - 32] == [0x1A, 32] { end } else { end - 2 };
    &envelope[end - 32..end]
}

pub(super) fn cut(to: &Connection, size: u64, content_too: bool) {
    to.execute("DELETE FROM entry WHERE seq >= ?1", [size as i64]).expect("rows");
    if content_too {
        to.execute("DELETE FROM payload WHERE seq >= ?1", [size as i64]).expect("rows");
        to.execute("DELETE FROM chunk WHERE seq >= ?1", [size as i64]).expect("rows");
    }
}
