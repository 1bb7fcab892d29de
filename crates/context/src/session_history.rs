//! What earlier runs of a session a later one sees, newest kept.
//!
//! Owns the bounds and the rule of what is seen. Knows no journal: runs come as they were read, or when they end.
//! Invariant: a run sees what had ended before it began, was accepted before it (or overtook it) and after the reset
//! that was in force when it was accepted. Begin at [`SessionHistory::seen_by`].

use std::collections::VecDeque;

use palyra_types::run::InputDelivery;
use palyra_types::tool::Taints;
use palyra_types::{Redacted, RunId, Seq};

use crate::prompt::PastRun;

/// Runs remembered, at most.
pub const HISTORY_RUNS_MAX: usize = 256;
/// Bytes remembered, at most: as much as the largest windows hold.
pub const HISTORY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// A session with fewer runs and fewer bytes is not worth a summary for any window.
pub const SUMMARY_RUNS_MIN: usize = 20;
/// See [`SUMMARY_RUNS_MIN`]. No window is smaller.
pub const SUMMARY_BYTES_MIN: usize = 4 * 1024;
/// Resets behind the oldest open run that are distinguished, at most.
pub const RESETS_MAX: usize = 64;

/// A run that later ones may see.
#[derive(Debug, Clone)]
pub struct VisibleRun {
    /// Its messages.
    pub run: PastRun,
    /// Whether it was begun before runs that had been accepted earlier, and so is seen by them.
    pub overtakes: OvertakesEarlier,
    /// What it had read at its end, with what came before it.
    pub taints: Taints,
}

/// Whether a run is seen by runs that were accepted before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OvertakesEarlier {
    /// It is not.
    No,
    /// It is.
    Yes,
}

/// What a run knows of those before it.
#[derive(Debug, Clone, Default)]
pub struct PriorContext {
    /// The reset in force for it.
    pub since: Option<Seq>,
    /// The summary of those that are not among them.
    pub summary: Option<Redacted<String>>,
    /// What it sees of them, oldest first.
    pub runs: Vec<PastRun>,
    /// What they had read.
    pub taints: Taints,
}

/// The finished runs of a session that later runs may see, in the order in which they ended.
#[derive(Debug, Default)]
pub struct SessionHistory {
    runs: VecDeque<(VisibleRun, usize)>,
    bytes: usize,
    /// In order.
    resets: Vec<Seq>,
    unreadable: Vec<RunId>,
}

impl SessionHistory {
    /// Makes a history of what was read: runs in any order, resets in order, and runs that are left out.
    #[must_use]
    pub fn of(mut runs: Vec<VisibleRun>, resets: Vec<Seq>, unreadable: Vec<RunId>) -> Self {
        runs.sort_by_key(|past| past.run.ended);
        let mut history = Self { resets, unreadable, ..Self::default() };
        runs.into_iter().for_each(|past| history.push(past));
        history
    }

    /// Adds a finished run in its place.
    pub fn push(&mut self, past: VisibleRun) {
        let known = |(other, _): &(VisibleRun, usize)| other.run.first_seq == past.run.first_seq;
        if past.run.messages.is_empty() || self.runs.iter().any(known) {
            return;
        }
        let at = self.runs.partition_point(|(other, _)| other.run.ended < past.run.ended);
        let bytes = size_of(&past.run);
        self.bytes += bytes;
        self.runs.insert(at, (past, bytes));
        while self.runs.len() > HISTORY_RUNS_MAX || (self.bytes > HISTORY_BYTES_MAX && self.runs.len() > 1) {
            if let Some((_, bytes)) = self.runs.pop_front() {
                self.bytes -= bytes;
            }
        }
    }

    /// Notes a reset: runs accepted later see nothing from before it.
    pub fn reset(&mut self, at: Seq) {
        self.resets.push(at);
        if self.resets.len() > RESETS_MAX {
            self.resets.remove(0);
        }
    }

    /// Forgets everything: the session starts afresh, and nothing is open in it.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns what a run sees that was accepted at this place, or is about to be; cheap, for messages are shared.
    #[must_use]
    pub fn seen_by(&self, accepted: Option<Seq>) -> PriorContext {
        let since = self.resets.iter().rev().find(|reset| is_before(**reset, accepted)).copied();
        let seen = |past: &VisibleRun| {
            since.is_none_or(|since| past.run.first_seq > since)
                && (is_before(past.run.first_seq, accepted) || past.overtakes == OvertakesEarlier::Yes)
        };
        let mut earlier = PriorContext { since, ..PriorContext::default() };
        for (past, _) in self.runs.iter().filter(|(past, _)| seen(past)) {
            earlier.runs.push(past.run.clone());
            earlier.taints = earlier.taints.with(past.taints);
        }
        earlier
    }

    /// Returns whether there may be a summary of older runs: one takes a run at least, and leaves one.
    #[must_use]
    pub fn may_have_summary(&self) -> bool {
        self.runs.len() > 1
    }

    /// Returns whether there is so much that a summary of older runs may be due.
    #[must_use]
    pub fn may_need_summary(&self) -> bool {
        self.runs.len() >= SUMMARY_RUNS_MIN || self.bytes >= SUMMARY_BYTES_MIN
    }

    /// Returns the runs that could not be read and are left out.
    #[must_use]
    pub fn unreadable(&self) -> &[RunId] {
        &self.unreadable
    }
}

/// Returns whether runs accepted earlier see a run that has begun: only an interrupting one begins before them.
#[must_use]
pub fn overtakes_once_begun(delivery: InputDelivery) -> OvertakesEarlier {
    match delivery {
        InputDelivery::Interrupt => OvertakesEarlier::Yes,
        InputDelivery::Queue | InputDelivery::Steer => OvertakesEarlier::No,
    }
}

/// Returns whether an entry is before the place where a run was accepted, or is about to be.
fn is_before(seq: Seq, accepted: Option<Seq>) -> bool {
    accepted.is_none_or(|accepted| seq < accepted)
}

/// Returns how many bytes a model reads of a run.
#[must_use]
pub fn size_of(past: &PastRun) -> usize {
    past.messages.iter().map(palyra_types::model::ChatMessage::content_bytes).sum()
}

#[cfg(test)]
mod tests {
    use palyra_types::model::ChatMessage;
    use palyra_types::tool::Taints;

    use super::*;

    fn past(first_seq: u64, bytes: usize) -> VisibleRun {
        let text = palyra_types::Redacted::cleaned("x".repeat(bytes));
        let (ended, messages) = (Seq(first_seq * 10), [ChatMessage::user(text)].into());
        let run = PastRun { first_seq: Seq(first_seq), ended, messages };
        VisibleRun { run, overtakes: OvertakesEarlier::No, taints: Taints::NONE }
    }

    fn seen(history: &SessionHistory, accepted: Option<u64>) -> Vec<u64> {
        history.seen_by(accepted.map(Seq)).runs.iter().map(|past| past.first_seq.0).collect()
    }

    #[test]
    fn runs_stand_once_in_the_order_of_their_ends() {
        let mut history = SessionHistory::default();
        for first_seq in [5, 3, 9, 3, 5] {
            history.push(past(first_seq, 10));
        }
        let mut first = past(20, 10);
        first.run.ended = Seq(1);
        history.push(first);
        assert_eq!(seen(&history, None), [20, 3, 5, 9]);
        assert_eq!(history.bytes, 40);
    }

    #[test]
    fn a_run_sees_what_was_accepted_before_it_or_overtook_it() {
        let mut history = SessionHistory::default();
        [3, 5].into_iter().for_each(|first_seq| history.push(past(first_seq, 10)));
        history.push(VisibleRun { overtakes: OvertakesEarlier::Yes, ..past(7, 10) });
        assert_eq!(seen(&history, Some(4)), [3, 7]);
        assert_eq!(seen(&history, None), [3, 5, 7]);
    }

    #[test]
    fn a_reset_hides_the_past_from_whoever_was_accepted_after_it() {
        let mut history = SessionHistory::default();
        history.push(past(3, 10));
        history.reset(Seq(5));
        history.push(past(4, 10));
        history.push(past(6, 10));
        assert_eq!(seen(&history, None), [6]);
        assert_eq!(seen(&history, Some(5)), [3, 4], "it waited while the session was reset");
        history.reset(Seq(8));
        assert_eq!((seen(&history, Some(7)), seen(&history, Some(9))), (vec![6], vec![]));
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_runs_or_bytes() {
        let mut history = SessionHistory::default();
        (0..=HISTORY_RUNS_MAX as u64).for_each(|at| history.push(past(at, 1)));
        assert_eq!(seen(&history, None).first(), Some(&1));
        history.push(past(1_000, HISTORY_BYTES_MAX));
        assert_eq!(seen(&history, None), [1_000]);
        history.push(past(1_001, HISTORY_BYTES_MAX + 1));
        assert_eq!((seen(&history, None), history.bytes), (vec![1_001], HISTORY_BYTES_MAX + 1));
    }
}
