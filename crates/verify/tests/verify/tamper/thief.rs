//! Histories made by somebody who knows the format, with a foreign key or a stolen one.

use std::path::Path;

use ed25519_dalek::SigningKey;

use super::expect::{Case, Seq};
use crate::writer::{Chance, Log};

/// An unsealed payload that a signed head covers, at or above `from`.
fn target(log: &Log, chance: &mut Chance, from: u64) -> Option<u64> {
    let (size, _) = log.newest()?;
    let can =
        |seq: &u64| log.entries[*seq as usize].payload.as_ref().is_some_and(|payload| payload.key_id == 0);
    let targets: Vec<u64> = (from..size).filter(can).collect();
    targets.get(chance.place(targets.len().max(1))).copied()
}

/// Writes another history from `seq` on, chain and tree included.
fn edited(log: &Log, seq: u64) -> Log {
    let mut log = log.clone();
    log.entries[seq as usize].forge(b"\x0a\x05never");
    log.rechain(seq);
    log
}

fn first_after(log: &Log, seq: u64) -> Option<u64> {
    log.checkpoints.keys().copied().find(|size| *size > seq)
}

/// Signs every head above `seq` with this key alone.
fn resign(log: &mut Log, seq: u64, key: &SigningKey) {
    let sizes: Vec<u64> = log.checkpoints.keys().copied().filter(|size| *size > seq).collect();
    for size in sizes {
        let note = log.note(size as usize, &[key]);
        log.checkpoints.get_mut(&size).expect("there").note = note;
    }
}

/// One log: several would need each one's name.
fn is_one_log(log: &Log) -> bool {
    (0..log.entries.len() as u64).all(|seq| log.kind(seq) != 4)
}

pub(super) fn foreign_key_signs(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let seq = target(log, chance, 0).filter(|_| is_one_log(log))?;
    let mut forged = edited(log, seq);
    let first = first_after(log, seq)?;
    resign(&mut forged, seq, &SigningKey::from_bytes(&chance.array()));
    forged.save(path);
    Some(Case::plain(14, first - 1))
}

/// The old heads stay where the thief cannot sign them, or are signed by the stolen key, or go.
pub(super) fn stolen_key_before_handover(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (started, key) = log.keys.last().filter(|_| is_one_log(log) && log.keys.len() > 1)?;
    let seq = target(log, chance, 0).filter(|seq| seq < started)?;
    let mut forged = edited(log, seq);
    let first = first_after(log, seq)?;
    let case = match chance.below(3) {
        0 => Case::plain(13, first - 1),
        1 => {
            resign(&mut forged, seq, key);
            Case::plain(14, first - 1)
        }
        _ if !log.early => {
            forged.checkpoints.retain(|size, _| *size <= seq);
            forged.sign_newest();
            Case::plain(14, forged.entries.len() as u64 - 1)
        }
        _ => return None,
    };
    forged.save(path);
    Some(case)
}

fn after_handover(log: &Log, chance: &mut Chance) -> Option<(u64, Log)> {
    let (started, key) = log.keys.last().filter(|_| is_one_log(log))?;
    // What hands over to the last epoch is the first head above its start.
    let handover = first_after(log, *started)?;
    let seq = target(log, chance, handover)?;
    let mut forged = edited(log, seq);
    resign(&mut forged, seq, key);
    Some((seq, forged))
}

pub(super) fn stolen_key_after_handover(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (_, forged) = after_handover(log, chance)?;
    forged.save(path);
    let (size, honest) = log.newest()?;
    Some(Case { since: Some(honest.note.clone()), ..Case::plain(13, size - 1) })
}

/// What nobody can see who kept nothing.
pub(super) fn stolen_key_unwitnessed(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (_, forged) = after_handover(log, chance)?;
    forged.save(path);
    Some(Case::any(&[0], Seq::None))
}

/// The log as it was at an older signed head.
fn older(log: &Log, chance: &mut Chance) -> Option<(u64, Log)> {
    let sizes: Vec<u64> = log.checkpoints.keys().copied().collect();
    let (newest, earlier) = sizes.split_last()?;
    let size = *earlier.get(chance.place(earlier.len().max(1)))?;
    // What was erased since cannot be put back by the writer of these tests.
    if size == *newest || log.erased.iter().any(|range| range.2 >= size) {
        return None;
    }
    let mut older = log.clone();
    older.entries.truncate(size as usize);
    older.checkpoints.retain(|at, _| *at <= size);
    Some((size, older))
}

pub(super) fn rolled_back(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (size, older) = older(log, chance)?;
    older.save(path);
    let kept = log.newest()?.1.note.clone();
    Some(Case { since: Some(kept), ..Case::plain(12, size) })
}

/// An older state, gone on from under a name of the thief's own making.
pub(super) fn reopened_by_a_thief(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let honest = log.vkey(&log.keys.last()?.1);
    let (_, mut forged) = older(log, chance)?;
    forged.log_id = forged.entries.last()?.envelope[24..40].try_into().ok()?;
    forged.epoch = u32::from_be_bytes(forged.entries.last()?.envelope[4..8].try_into().ok()?);
    forged.reopen(1);
    forged.sign_newest();
    forged.save(path);
    let size = forged.entries.len() as u64;
    Some(Case { key: Some(honest), ..Case::plain(14, size - 1) })
}

/// A checkpoint that leads from one key to the next is taken out, and a later one is not.
pub(super) fn handover_deleted(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let handovers: Vec<u64> = log
        .checkpoints
        .iter()
        .filter(|(_, signed)| signed.signers.len() > 1)
        .map(|(size, _)| *size)
        .collect();
    let gone = *handovers.get(chance.place(handovers.len().max(1)))?;
    let new = *log.checkpoints[&gone].started.last()?;
    let next = log.checkpoints.range(gone + 1..).find(|(_, signed)| signed.started.contains(&new))?;
    // The next one may itself vouch for the key, by an older one.
    if next.1.signers.len() > 1 && next.1.started[0] != new || log.early {
        return None;
    }
    let size = *next.0;
    let mut forged = log.clone();
    forged.checkpoints.remove(&gone);
    forged.save(path);
    Some(Case::plain(14, size - 1))
}

pub(super) fn foreign_key_given(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let (size, _) = log.newest()?;
    log.save(path);
    let key = log.vkey(&SigningKey::from_bytes(&chance.array()));
    Some(Case { key: Some(key), ..Case::plain(14, size - 1) })
}

/// The first half of one log and the second half of another, as they are or chained together.
pub(super) fn joined(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let other = crate::writer::shape(crate::writer::Shape::Plain, chance.next());
    let shorter = log.entries.len().min(other.entries.len());
    if !log.erased.is_empty() || shorter < 8 {
        return None;
    }
    let at = 2 + chance.place(shorter - 4);
    let mut joined = log.clone();
    joined.entries.truncate(at);
    joined.entries.extend_from_slice(&other.entries[at..]);
    joined.subject_keys.clear();
    let seq = at as u64;
    let case = if chance.one_in(2) {
        Case::plain(10, seq - 1)
    } else {
        joined.rechain(seq - 1);
        Case::any(&[13, 14, 16], Seq::Is(seq))
    };
    joined.save(path);
    (log.subject_keys.is_empty()).then_some(case)
}
