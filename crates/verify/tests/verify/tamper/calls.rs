//! Records of calls that contradict each other, in a log that is otherwise in order.

use std::path::Path;

use super::expect::Case;
use crate::writer::{Chance, Log, New, Tape, Wrong};

/// Appends a run with such a call; returns the run and the entry that gives it away.
pub(crate) fn append(log: &mut Log, wrong: Wrong, chance: &mut Chance) -> ([u8; 16], u64) {
    let run = chance.array();
    log.append(New { kind: 0x40, run, tape_seq: 1, facts: vec![8, 1], ..New::default() });
    let seq = Tape::new(log, run, 1, 0).wrong(wrong, chance);
    if log.format > 1 {
        log.sign_newest();
    }
    (run, seq)
}

pub(super) fn contradiction(log: &Log, chance: &mut Chance, path: &Path) -> Option<Case> {
    let mut log = log.clone();
    let wrong = *chance.pick(&Wrong::ALL);
    let (_, seq) = append(&mut log, wrong, chance);
    log.save(path);
    Some(Case::plain(17, seq))
}
