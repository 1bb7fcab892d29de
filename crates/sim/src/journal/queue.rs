//! What stands between an append and its answer.
//!
//! Owns order and lateness: appends commit one after the other, answers go out in the same order.

use std::collections::VecDeque;

use futures::channel::oneshot;
use palyra_ports::{AppendClass, AppendError, CommitReceipt, JournalAppendRequest};
use palyra_types::{BootTime, RunId};

use crate::fault::Phase;

pub(super) type AppendAnswer = oneshot::Sender<Result<CommitReceipt, AppendError>>;

/// An append that waits for its commit.
pub(super) struct QueuedAppend {
    pub(super) request: JournalAppendRequest,
    pub(super) phase: Phase,
    /// Steps that it still takes once it is the first.
    pub(super) steps: u64,
    pub(super) due: BootTime,
    /// `None` when it was answered already, which only a mistake does.
    pub(super) answer: Option<AppendAnswer>,
    pub(super) starts: bool,
    pub(super) ends: Option<RunId>,
}

/// What becomes of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AppendVerdict {
    Committed,
    /// It did not take place, and nobody can tell.
    Lost,
    /// It took place, and nobody can tell.
    Kept,
    /// The journal takes nothing any more, and the append did not take place.
    QuarantineLost,
    /// The journal takes nothing any more, and the append appears after the next start.
    QuarantineKept,
    /// It did not take place, and the journal says that it did: a mistake.
    Pretended,
}

/// What room there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum DiskRoom {
    #[default]
    Roomy,
    EndingsOnly(BootTime),
    Full(BootTime),
}

impl DiskRoom {
    pub(super) fn takes(self, class: AppendClass) -> bool {
        match self {
            Self::Roomy => true,
            Self::EndingsOnly(_) => class == AppendClass::Ending,
            Self::Full(_) => false,
        }
    }

    pub(super) fn ends(self) -> Option<BootTime> {
        match self {
            Self::Roomy => None,
            Self::EndingsOnly(until) | Self::Full(until) => Some(until),
        }
    }
}

/// Everything between the port and the entries.
#[derive(Default)]
pub(super) struct JournalState {
    waiting: VecDeque<QueuedAppend>,
    answers: VecDeque<(u64, AppendAnswer, Result<CommitReceipt, AppendError>)>,
    limbo: Vec<(JournalAppendRequest, AppendVerdict)>,
    pub(super) disk: DiskRoom,
    pub(super) quarantined: bool,
    /// Entries that the oracle has seen.
    pub(super) shown: u64,
}

impl JournalState {
    pub(super) fn push(&mut self, append: QueuedAppend) {
        self.waiting.push_back(append);
    }

    /// Returns the seq that the next append would get if all before it were committed.
    pub(super) fn next_seq(&self) -> u64 {
        self.shown + self.waiting.iter().map(|append| append.request.entries.len() as u64).sum::<u64>()
    }

    pub(super) fn answer(
        &mut self,
        answer: AppendAnswer,
        result: Result<CommitReceipt, AppendError>,
        late: u64,
    ) {
        self.answers.push_back((late, answer, result));
    }

    /// Takes a step; returns the answers that go out in it.
    pub(super) fn answers_due(&mut self) -> Vec<(AppendAnswer, Result<CommitReceipt, AppendError>)> {
        if let Some((late, ..)) = self.answers.front_mut() {
            *late = late.saturating_sub(1);
        }
        let mut due = Vec::new();
        while let Some((0, answer, result)) = self.answers.pop_front_if(|(late, ..)| *late == 0) {
            due.push((answer, result));
        }
        due
    }

    /// Takes a step; returns the append that is committed in it.
    pub(super) fn due(&mut self, now: BootTime) -> Option<QueuedAppend> {
        let first = self.waiting.front_mut()?;
        first.steps = first.steps.saturating_sub(1);
        self.waiting.pop_front_if(|first| first.steps == 0 && first.due <= now)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.answers.is_empty()
    }

    /// Returns until when nothing can be done.
    pub(super) fn waits_until(&self, now: BootTime) -> Option<BootTime> {
        let first = self.waiting.front()?;
        (self.answers.is_empty() && first.steps == 0 && first.due > now).then_some(first.due)
    }

    pub(super) fn quarantine(&mut self, request: JournalAppendRequest, verdict: AppendVerdict) {
        self.quarantined = true;
        self.limbo.push((request, verdict));
    }

    /// Returns what was not committed, and what may appear after all.
    pub(super) fn died(&mut self) -> (Vec<QueuedAppend>, Vec<(JournalAppendRequest, AppendVerdict)>) {
        self.answers.clear();
        let left = std::mem::take(&mut self.waiting);
        let left = if self.quarantined { Vec::new() } else { left.into() };
        (left, std::mem::take(&mut self.limbo))
    }
}
