//! Clean logs of every shape, from a seed.

use super::log::sha256;
use super::{Chance, Log, New, Tape, bytes_field, number_field};

/// What a log is to have in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A file of format 1: nothing is signed.
    FormatOne,
    /// StartedCall in format 1, brought up to 2, then signed.
    BroughtUp,
    /// One epoch.
    Plain,
    /// Epochs with handovers.
    Epochs,
    /// Reopened under another id.
    Reopened,
    /// Entries erased.
    Erased,
    /// Sealed payloads.
    Sealed,
    /// More than one tile.
    Long,
}

impl Shape {
    pub(crate) const ALL: [Self; 8] = [
        Self::FormatOne,
        Self::BroughtUp,
        Self::Plain,
        Self::Epochs,
        Self::Reopened,
        Self::Erased,
        Self::Sealed,
        Self::Long,
    ];
}

/// Makes a clean log.
pub(crate) fn shape(shape: Shape, seed: u64) -> Log {
    let mut log = match shape {
        Shape::FormatOne => Log::open(seed, 1, 1),
        Shape::BroughtUp => Log::open(seed, 2, 1),
        Shape::Sealed => Log::open_stating(seed, (2, 2), seed % 2 * 2),
        // Every third log is of a daemon from before epochs said whether they seal.
        _ => Log::open_stating(seed, (2, 2), u64::from(!seed.is_multiple_of(3))),
    };
    let mut chance = Chance::new(seed ^ 0xC0FFEE);
    let early = matches!(shape, Shape::FormatOne | Shape::BroughtUp);
    if early {
        log.run(&mut chance);
        log.next_epoch();
        log.run(&mut chance);
    } else {
        log.sign_newest();
    }
    if shape == Shape::FormatOne {
        return log;
    }
    if shape == Shape::BroughtUp {
        log.next_epoch();
        log.sign_newest();
    }
    for _ in 0..2 + chance.below(3) {
        log.season(shape, &mut chance);
    }
    if chance.one_in(2) {
        log.prune();
    }
    if chance.one_in(2) {
        // What was committed after the last signature.
        log.run(&mut chance);
    }
    log
}

impl Log {
    /// Lets some time pass.
    fn season(&mut self, shape: Shape, chance: &mut Chance) {
        let runs = if shape == Shape::Long { 40 } else { 1 + chance.below(3) };
        if shape == Shape::Sealed && self.subject_keys.is_empty() {
            self.subject_keys.extend([(1, chance.array()), (2, chance.array())]);
        }
        for _ in 0..runs {
            self.run(chance);
        }
        if matches!(shape, Shape::Epochs | Shape::BroughtUp | Shape::Reopened | Shape::Long | Shape::Sealed) {
            if chance.one_in(4) {
                // A start that died before its handover: its key never signs.
                self.next_epoch();
                let last = self.keys.len() - 1;
                self.next_epoch();
                self.sign(&[last - 1, last + 1]);
            } else {
                self.hand_over();
            }
        }
        if matches!(shape, Shape::Erased | Shape::Long | Shape::Sealed) {
            let end = self.entries.len() as u64;
            let first = chance.below(end);
            let last = (first + chance.below(6)).min(end - 1);
            let other = chance.below(end);
            self.erase(&[(first, last), (other, other)]);
        }
        if shape == Shape::Reopened && chance.one_in(2) {
            self.reopen(1 + chance.below(3));
            self.sign_newest();
        }
        self.run(chance);
        self.sign_newest();
    }

    /// Appends a run, beside a run of another session.
    pub(crate) fn run(&mut self, chance: &mut Chance) {
        let (one, other): ([u8; 16], [u8; 16]) = (chance.array(), chance.array());
        let scale = if self.entries.len() > 60 { 50 } else { 1 };
        let key_id = |chance: &mut Chance, log: &Self| log.subject_keys.len().min(chance.place(3)) as i64;
        let mut tape = 0;
        let next = |tape: &mut u32| {
            *tape += 1;
            *tape
        };
        let key = key_id(chance, self);
        self.start_run(one, key, chance);
        next(&mut tape);
        let beside = chance.one_in(2);
        if beside {
            self.start_run(other, 0, chance);
        }
        for _ in 0..1 + chance.below(4) {
            let length = chance.place(300);
            let text = chance.bytes(length);
            let new = New { kind: 0x51, run: one, tape_seq: next(&mut tape), key_id: key, ..New::default() };
            self.append(New { payload: Some(text), facts: vec![8, 1, 16, 1], ..new });
        }
        if chance.one_in(3) {
            let mut calls = Tape::new(self, one, tape, key);
            let short = calls.call(1, chance);
            calls.end(&short);
            let begun = calls.call(2, chance);
            tape = calls.tape_seq;
            // A long result, in chunks.
            let length = chance.place(150_000) / scale;
            let new = New { kind: 0x63, run: one, tape_seq: next(&mut tape), key_id: key, ..New::default() };
            self.append(New {
                payload: Some(chance.bytes(length)),
                in_chunks: true,
                facts: begun.outcome(),
                ..new
            });
        }
        if beside {
            self.append(New { kind: 0x43, run: other, tape_seq: 2, facts: vec![8, 1], ..New::default() });
        }
        self.append(New {
            kind: 0x44,
            run: one,
            tape_seq: next(&mut tape),
            facts: vec![8, 1, 24, 1],
            ..New::default()
        });
    }

    fn start_run(&mut self, run: [u8; 16], key_id: i64, chance: &mut Chance) {
        let mut payload = Vec::new();
        bytes_field(&mut payload, 1, b"what was typed");
        let files: Vec<Vec<u8>> = match chance.below(4) {
            0 if self.entries.len() < 60 => vec![chance.bytes(70_000), chance.bytes(10)],
            1 => vec![chance.bytes(100), Vec::new()],
            _ => Vec::new(),
        };
        for (at, file) in (0..).zip(&files) {
            let mut attachment = Vec::new();
            bytes_field(&mut attachment, 1, b"a name");
            number_field(&mut attachment, 3, file.len() as u64);
            bytes_field(&mut attachment, 4, &sha256(&[file]));
            number_field(&mut attachment, 6, at);
            bytes_field(&mut payload, 5, &attachment);
        }
        let new = New { kind: 0x40, run, tape_seq: 1, facts: vec![8, 1], key_id, ..New::default() };
        self.append(New { payload: Some(payload), files, ..new });
    }
}
