//! One pass over the entries in order.
//!
//! Owns numbering, columns and the chain, and hands each entry to what is read alongside. Invariant: everything
//! below `expected` was read without a gap; what cannot be read ends the walk. Begin at [`LogWalk::entry`].

use super::checkpoints::Checkpoints;
use super::contents::ContentTables;
use super::rows::EntryRow;
use super::tiles::{StoredFrontier, StoredTiles};
use crate::calls::OpenCalls;
use crate::digest::{self, Hash};
use crate::envelope::Envelope;
use crate::facts::{ERASED, ErasedFacts};
use crate::fault::{FaultCode, FaultCount};
use crate::lineage::Lineage;
use crate::tree::{TreeFrontier, TreeTiles};

/// What was seen so far.
pub(super) struct LogWalk<'s> {
    pub(super) faults: FaultCount,
    pub(super) lineage: Lineage,
    calls: OpenCalls,
    /// All entries but the last one read.
    tree: TreeFrontier,
    tiles: TreeTiles,
    stored_tiles: Option<StoredTiles<'s>>,
    pub(super) checkpoints: Checkpoints<'s>,
    pub(super) contents: ContentTables<'s>,
    last: Option<LastEntry>,
    doubt: Option<DoubtfulPair>,
}

/// The last entry read.
struct LastEntry {
    seq: u64,
    leaf: Hash,
    time: i64,
}

/// Two neighbours that do not fit: which of them was changed is not known until a third is seen.
struct DoubtfulPair {
    earlier: u64,
    /// What the later one says of the earlier one.
    named: Hash,
    /// The tree below the earlier one.
    below: TreeFrontier,
}

/// Whether the walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WalkStep {
    On,
    Ended,
}

impl<'s> LogWalk<'s> {
    pub(super) fn new(
        stored_tiles: Option<StoredTiles<'s>>,
        checkpoints: Checkpoints<'s>,
        contents: ContentTables<'s>,
    ) -> Self {
        Self {
            faults: FaultCount::default(),
            lineage: Lineage::default(),
            calls: OpenCalls::default(),
            tree: TreeFrontier::default(),
            tiles: TreeTiles::default(),
            stored_tiles,
            checkpoints,
            contents,
            last: None,
            doubt: None,
        }
    }

    /// Returns the seq that comes next.
    pub(super) fn expected(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.seq + 1)
    }

    /// Takes in the next row.
    pub(super) fn entry(&mut self, row: &EntryRow) -> WalkStep {
        let seq = self.expected();
        if u64::try_from(row.seq) != Ok(seq) {
            let (code, what) = if row.seq > 0 {
                (FaultCode::Mismatch, "is missing")
            } else {
                (FaultCode::Malformed, "has a negative number")
            };
            self.faults.add(seq, code, || format!("entry {seq} {what}"));
            return WalkStep::Ended;
        }
        let Some(envelope) = Envelope::parse(&row.envelope) else {
            self.faults.add(seq, FaultCode::Malformed, || {
                format!("the envelope of entry {seq} is too short or too long")
            });
            return WalkStep::Ended;
        };
        let leaf = digest::leaf(&row.envelope);
        self.chain(&envelope, seq);
        self.settle();
        self.columns(row, &envelope, seq);
        if envelope.seq == seq {
            self.lineage.entry(&envelope, &mut self.faults);
            self.contents.entry(&envelope, self.lineage.sealing(), &mut self.faults);
            self.calls.entry(&envelope, &mut self.faults);
        }
        if self.lineage.is_full() {
            self.faults.add(seq, FaultCode::Malformed, || {
                "the log has more epochs than a verifier keeps".to_owned()
            });
            return WalkStep::Ended;
        }
        self.last = Some(LastEntry { seq, leaf, time: envelope.time });
        WalkStep::On
    }

    /// Compares what the entry says of the one before it.
    fn chain(&mut self, envelope: &Envelope<'_>, seq: u64) {
        let Some(last) = &self.last else {
            if envelope.prev != [0; 32] {
                self.faults.add(0, FaultCode::Mismatch, || "entry 0 follows another entry".to_owned());
            }
            return;
        };
        let fits = envelope.prev == last.leaf;
        if let Some(doubt) = self.doubt.take() {
            blame(&mut self.faults, if fits { doubt.earlier } else { last.seq });
        }
        if !fits {
            self.doubt =
                Some(DoubtfulPair { earlier: seq - 1, named: envelope.prev, below: self.tree.clone() });
        }
    }

    /// Adds the last entry to the tree and checks what is stored about the tree at this size.
    fn settle(&mut self) {
        let Some(last) = &self.last else { return };
        self.tree.push(last.leaf);
        for tile in self.tiles.push(last.leaf) {
            if let Some(stored) = &mut self.stored_tiles {
                stored.compare(&tile, &mut self.faults);
            }
        }
        self.checkpoints.at(&self.tree, last.time, &mut self.lineage, &mut self.faults);
    }

    fn columns(&mut self, row: &EntryRow, envelope: &Envelope<'_>, seq: u64) {
        let run = envelope.has_run().then_some(&envelope.run[..]);
        let tape_seq = (envelope.tape_seq > 0).then_some(i64::from(envelope.tape_seq));
        let same = envelope.seq == seq
            && i64::from(envelope.kind) == row.kind
            && run == row.run.as_deref()
            && tape_seq == row.tape_seq;
        if !same {
            self.faults.add(seq, FaultCode::Mismatch, || {
                format!("the columns of entry {seq} are not what its envelope says")
            });
        }
        if let Some(rule) = envelope.broken_rule() {
            self.faults.add(seq, FaultCode::Malformed, || format!("entry {seq} {rule}"));
        }
        if envelope.kind == ERASED && ErasedFacts::parse(envelope.facts, seq).is_none() {
            self.faults.add(seq, FaultCode::Malformed, || {
                format!("entry {seq} erases an entry that is not before it")
            });
        }
    }

    /// Closes a walk that a row has ended before its time.
    pub(super) fn break_off(&mut self) {
        if let Some(doubt) = self.doubt.take() {
            blame(&mut self.faults, doubt.earlier);
        }
        self.settle();
        self.last = None;
    }

    /// Closes a walk that has seen every entry; returns the tree over all of them.
    pub(super) fn finish(&mut self, stored: Option<&StoredFrontier>) -> &TreeFrontier {
        let entries = self.expected();
        self.end_doubt(stored);
        self.settle();
        if let Some(stored) = stored {
            self.compare_frontier(stored);
        }
        self.contents.leftovers(entries, &mut self.faults);
        self.checkpoints.beyond(entries, &mut self.lineage, &mut self.faults);
        &self.tree
    }

    /// Decides between the last two entries, with the word of the frontier.
    fn end_doubt(&mut self, stored: Option<&StoredFrontier>) {
        let (Some(doubt), Some(last)) = (self.doubt.take(), &self.last) else { return };
        let mut as_named = doubt.below;
        as_named.push(doubt.named);
        as_named.push(last.leaf);
        let earlier =
            stored.is_none_or(|stored| stored.size != as_named.size() || stored.hashes == as_named.hashes());
        blame(&mut self.faults, if earlier { doubt.earlier } else { last.seq });
    }

    fn compare_frontier(&mut self, stored: &StoredFrontier) {
        let (entries, size) = (self.tree.size(), stored.size);
        if size > entries {
            self.faults.add(entries, FaultCode::Truncated, || {
                format!("the log has {entries} entries, and its frontier {size}")
            });
        } else if size < entries {
            self.faults.add(size, FaultCode::Mismatch, || {
                format!("the frontier has {size} entries, and the log {entries}")
            });
        } else if stored.hashes != self.tree.hashes() {
            self.faults.add(entries.saturating_sub(1), FaultCode::Mismatch, || {
                "the frontier does not match the entries".to_owned()
            });
        }
    }

    /// Returns the tree as far as it was read.
    pub(super) fn tree(&self) -> &TreeFrontier {
        &self.tree
    }
}

fn blame(faults: &mut FaultCount, seq: u64) {
    faults.add(seq, FaultCode::Mismatch, || format!("entry {seq} is not the one that its neighbours know"));
}
