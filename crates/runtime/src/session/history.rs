//! What earlier runs of a session look like to a model, newest kept.
//!
//! Bounded in runs and bytes; rendered from tapes by the pure transcript.

use std::collections::VecDeque;

use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_run_core::prompt::PastRun;
use palyra_types::Seq;
use palyra_types::session::SessionRef;

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::replay;

/// Runs remembered, at most.
const HISTORY_RUNS_MAX: usize = 256;
/// Bytes remembered, at most: as much as the largest windows hold.
const HISTORY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The finished runs of a session that later runs may see, in the order of their acceptance.
#[derive(Debug, Default)]
pub(super) struct History {
    runs: VecDeque<(PastRun, usize)>,
    bytes: usize,
    reset_at: Option<Seq>,
}

impl History {
    /// Reads the history of a session from the journal, newest run first, until it is full.
    pub(super) async fn load(
        engine: &Engine,
        session: SessionRef,
        reset_at: Option<Seq>,
    ) -> Result<Self, RequestError> {
        let mut newest_first = Vec::new();
        let mut bytes = 0;
        let mut before = None;
        'pages: loop {
            let query = RunQuery {
                principal: session.principal,
                session: Some(session.id),
                only: RunFilter::Finished,
                before,
                limit: HISTORY_RUNS_MAX.min(RECORD_PAGE_ROWS_MAX),
            };
            let page = engine.ports.records.runs(query).await?;
            for record in &page {
                let left_behind = reset_at.is_some_and(|reset| record.first_seq < reset);
                if left_behind || newest_first.len() >= HISTORY_RUNS_MAX || bytes >= HISTORY_BYTES_MAX {
                    break 'pages;
                }
                let replayed = replay::replay(engine, record.run).await?;
                let past = replayed.past_run();
                bytes += size_of(&past);
                newest_first.push(past);
            }
            let Some(last) = page.last() else { break };
            before = Some(last.first_seq);
        }
        let mut history = Self { reset_at, ..Self::default() };
        newest_first.into_iter().rev().for_each(|past| history.push(past));
        Ok(history)
    }

    /// Adds a finished run in its place, unless it was accepted before the latest reset.
    pub(super) fn push(&mut self, past: PastRun) {
        if past.messages.is_empty() || self.reset_at.is_some_and(|reset| past.first_seq < reset) {
            return;
        }
        let at = self.runs.partition_point(|(other, _)| other.first_seq < past.first_seq);
        if self.runs.get(at).is_some_and(|(other, _)| other.first_seq == past.first_seq) {
            return;
        }
        let bytes = size_of(&past);
        self.bytes += bytes;
        self.runs.insert(at, (past, bytes));
        while self.runs.len() > HISTORY_RUNS_MAX || (self.bytes > HISTORY_BYTES_MAX && self.runs.len() > 1) {
            if let Some((_, bytes)) = self.runs.pop_front() {
                self.bytes -= bytes;
            }
        }
    }

    /// Forgets everything before a reset.
    pub(super) fn reset(&mut self, at: Seq) {
        *self = Self { reset_at: Some(at), ..Self::default() };
    }

    /// Returns the runs, oldest first; cheap, for messages are shared.
    pub(super) fn snapshot(&self) -> Vec<PastRun> {
        self.runs.iter().map(|(past, _)| past.clone()).collect()
    }
}

fn size_of(past: &PastRun) -> usize {
    past.messages.iter().map(palyra_types::model::ChatMessage::content_bytes).sum()
}

#[cfg(test)]
mod tests {
    use palyra_types::model::ChatMessage;

    use super::*;

    fn past(first_seq: u64, bytes: usize) -> PastRun {
        let text = "x".repeat(bytes).as_str().into();
        PastRun { first_seq: Seq(first_seq), messages: [ChatMessage::user(text)].into() }
    }

    fn order(history: &History) -> Vec<u64> {
        history.snapshot().iter().map(|past| past.first_seq.0).collect()
    }

    #[test]
    fn runs_stand_once_in_the_order_of_their_acceptance() {
        let mut history = History::default();
        for first_seq in [5, 3, 9, 3, 5] {
            history.push(past(first_seq, 10));
        }
        assert_eq!(order(&history), [3, 5, 9]);
        assert_eq!(history.bytes, 30);
    }

    #[test]
    fn what_was_accepted_before_a_reset_stays_out() {
        let mut history = History::default();
        history.push(past(3, 10));
        history.reset(Seq(5));
        history.push(past(4, 10));
        history.push(past(6, 10));
        assert_eq!((order(&history), history.bytes), (vec![6], 10));
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_runs_or_bytes() {
        let mut history = History::default();
        (0..=HISTORY_RUNS_MAX as u64).for_each(|at| history.push(past(at, 1)));
        assert_eq!(order(&history).first(), Some(&1));
        history.push(past(1_000, HISTORY_BYTES_MAX));
        assert_eq!(order(&history), [1_000]);
        history.push(past(1_001, HISTORY_BYTES_MAX + 1));
        assert_eq!((order(&history), history.bytes), (vec![1_001], HISTORY_BYTES_MAX + 1));
    }
}
