//! What earlier runs of a session look like to a model, newest kept.
//!
//! Bounded in runs and bytes; rendered from tapes by the pure transcript. A session that branched off another one
//! begins with what that one had said up to there; nothing of it is copied.
//!
//! Invariant: a run sees what had ended before it began, was accepted before it (or overtook it) and after the
//! reset that was in force when it was accepted. Begin at [`SessionHistory::load`] and [`SessionHistory::seen_by`].

use std::collections::VecDeque;

use palyra_journal_core::families::{resets, runs};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::ReadError;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_run_core::prompt::PastRun;
use palyra_types::run::{InputDelivery, RunRecord};
use palyra_types::session::{BranchPoint, OrchestratorSessionRecord, SessionRef};
use palyra_types::{RunId, Seq, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::PriorContext;
use crate::session::past::{OvertakesEarlier, ReadRun, VisibleRun, read_run};

/// Runs remembered, at most.
const HISTORY_RUNS_MAX: usize = 256;
/// Bytes remembered, at most: as much as the largest windows hold.
const HISTORY_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Resets behind the oldest open run that are told apart, at most.
const RESETS_MAX: usize = 64;
/// Branches of branches that are followed back, at most.
const BRANCHES_DEPTH_MAX: usize = 64;

/// The finished runs of a session that later runs may see, in the order in which they ended.
#[derive(Debug, Default)]
pub(super) struct SessionHistory {
    runs: VecDeque<(VisibleRun, usize)>,
    bytes: usize,
    /// In order.
    resets: Vec<Seq>,
    unreadable: Vec<RunId>,
}

impl SessionHistory {
    /// Reads the history of a session from the journal, newest run first, until it is full; as far back as its
    /// oldest open run sees.
    pub(super) async fn load(
        engine: &Engine,
        record: &OrchestratorSessionRecord,
        oldest_open: Option<Seq>,
    ) -> Result<Self, RequestError> {
        let resets = resets(engine, record, oldest_open).await?;
        let since = resets.first().copied().filter(|first| oldest_open.is_none_or(|open| *first < open));
        let mut gathered = CollectedContext::default();
        let own = HistorySpan { session: record.session, since, cut: None };
        gathered.take_stretch(engine, own).await?;
        if since.is_none() {
            gathered.take_inherited(engine, record).await?;
        }
        let CollectedContext { mut runs, unreadable, .. } = gathered;
        runs.sort_by_key(|past| past.ended);
        let mut history = Self { resets, unreadable, ..Self::default() };
        runs.into_iter().for_each(|past| history.push(past));
        Ok(history)
    }

    /// Adds a finished run in its place.
    pub(super) fn push(&mut self, past: VisibleRun) {
        let known = |(other, _): &(VisibleRun, usize)| other.run.first_seq == past.run.first_seq;
        if past.run.messages.is_empty() || self.runs.iter().any(known) {
            return;
        }
        let at = self.runs.partition_point(|(other, _)| other.ended < past.ended);
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
    pub(super) fn reset(&mut self, at: Seq) {
        self.resets.push(at);
        if self.resets.len() > RESETS_MAX {
            self.resets.remove(0);
        }
    }

    /// Forgets everything: the session starts afresh, and nothing is open in it.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns what a run sees that was accepted at this place, or is about to be; cheap, for messages are shared.
    pub(super) fn seen_by(&self, accepted: Option<Seq>) -> PriorContext {
        let before = |seq: Seq| accepted.is_none_or(|accepted| seq < accepted);
        let since = self.resets.iter().rev().find(|reset| before(**reset)).copied();
        let seen = |past: &VisibleRun| {
            since.is_none_or(|since| past.run.first_seq > since)
                && (before(past.run.first_seq) || past.overtakes == OvertakesEarlier::Yes)
        };
        let mut earlier = PriorContext::default();
        for (past, _) in self.runs.iter().filter(|(past, _)| seen(past)) {
            earlier.runs.push(past.run.clone());
            earlier.taints = earlier.taints.with(past.taints);
        }
        earlier
    }

    /// Returns the runs that could not be read and are left out.
    pub(super) fn unreadable(&self) -> &[RunId] {
        &self.unreadable
    }
}

/// Returns the resets that matter, in order: the one in force for the oldest open run, and all after it.
async fn resets(
    engine: &Engine,
    record: &OrchestratorSessionRecord,
    oldest_open: Option<Seq>,
) -> Result<Vec<Seq>, RequestError> {
    let mut resets = Vec::new();
    let mut next = record.reset_at;
    while let Some(reset) = next {
        resets.push(reset);
        if resets.len() >= RESETS_MAX || oldest_open.is_none_or(|open| reset < open) {
            break;
        }
        let (session, families) = (record.session, &engine.ports.families);
        next = families.query(move |rows, _| resets::latest_before(rows, session, reset)).await?;
    }
    resets.reverse();
    Ok(resets)
}

/// Some runs of one session.
struct HistorySpan {
    session: SessionRef,
    /// Accepted after this reset.
    since: Option<Seq>,
    /// Seen at this place, if it is not the session's own end.
    cut: Option<HistoryCut>,
}

/// A place in a session.
#[derive(Clone, Copy)]
struct HistoryCut {
    /// The first entry of the run that is cut.
    run_first_seq: Seq,
    /// The last entry that is shared.
    at: Seq,
}

impl HistorySpan {
    /// Returns whether a run had ended there and was seen by the run that is cut.
    fn shows(&self, record: &RunRecord, past: &VisibleRun) -> bool {
        self.cut.is_none_or(|cut| {
            let accepted_before = record.first_seq < cut.run_first_seq;
            past.ended < cut.at && (accepted_before || past.overtakes == OvertakesEarlier::Yes)
        })
    }
}

/// What was read so far, newest first.
#[derive(Default)]
struct CollectedContext {
    runs: Vec<VisibleRun>,
    bytes: usize,
    unreadable: Vec<RunId>,
}

impl CollectedContext {
    fn is_full(&self) -> bool {
        self.runs.len() >= HISTORY_RUNS_MAX || self.bytes >= HISTORY_BYTES_MAX
    }

    async fn take_stretch(&mut self, engine: &Engine, stretch: HistorySpan) -> Result<(), RequestError> {
        let mut before = stretch.cut.map(|cut| cut.at);
        loop {
            let query = RunQuery {
                principal: stretch.session.principal,
                session: Some(stretch.session.id),
                only: RunFilter::Finished,
                before,
                limit: HISTORY_RUNS_MAX.min(RECORD_PAGE_ROWS_MAX),
            };
            let page = engine.ports.families.query(move |rows, _| runs::records(rows, &query)).await?;
            for record in &page {
                if self.is_full() || stretch.since.is_some_and(|since| record.first_seq < since) {
                    return Ok(());
                }
                let Some(past) = self.read(engine, record.run, None, record.delivery).await? else {
                    continue;
                };
                if stretch.shows(record, &past) {
                    self.take(past);
                }
            }
            let Some(last) = page.last() else { return Ok(()) };
            before = Some(last.first_seq);
        }
    }

    /// Takes what a branch shares with the session that it left, and so on backwards.
    async fn take_inherited(
        &mut self,
        engine: &Engine,
        record: &OrchestratorSessionRecord,
    ) -> Result<(), RequestError> {
        let mut next = record.branched_from;
        for _ in 0..BRANCHES_DEPTH_MAX {
            let Some(point) = next.filter(|_| !self.is_full()) else { return Ok(()) };
            let session = SessionRef { principal: record.session.principal, id: point.session };
            if let Some(at) = self.take_prefix(engine, point).await? {
                let cut = Some(HistoryCut { run_first_seq: point.run_first_seq, at });
                self.take_stretch(engine, HistorySpan { session, since: point.since, cut }).await?;
            }
            if point.since.is_some() {
                return Ok(());
            }
            next = engine.ports.session(session).await?.and_then(|source| source.branched_from);
        }
        Ok(())
    }

    /// Takes the beginning of the run that is cut; returns where the last shared entry lies.
    async fn take_prefix(
        &mut self,
        engine: &Engine,
        point: BranchPoint,
    ) -> Result<Option<Seq>, RequestError> {
        let upto = Some(point.tape_seq);
        let past = self.read(engine, point.run, upto, InputDelivery::Queue).await?;
        Ok(past.map(|past| {
            let at = past.ended;
            self.take(past);
            at
        }))
    }

    fn take(&mut self, past: VisibleRun) {
        self.bytes += size_of(&past.run);
        self.runs.push(past);
    }

    /// Reads a run; one that never will be readable is noted and left out.
    async fn read(
        &mut self,
        engine: &Engine,
        run: RunId,
        upto: Option<TapeSeq>,
        delivery: InputDelivery,
    ) -> Result<Option<VisibleRun>, RequestError> {
        match read_run(engine, run, upto).await {
            Ok(read) => {
                let overtakes =
                    read.begun_at.map_or(OvertakesEarlier::No, |_| overtakes_once_begun(delivery));
                let ReadRun { past: run, ended, taints, .. } = read;
                Ok(Some(VisibleRun { run, ended, overtakes, taints }))
            }
            Err(error @ ReadError::Corrupt { .. }) => {
                tracing::error!(%run, %error, "an earlier run cannot be read and is left out of its session");
                self.unreadable.push(run);
                Ok(None)
            }
            Err(error @ (ReadError::Busy | ReadError::Storage { .. })) => Err(error.into()),
        }
    }
}

/// Returns whether runs accepted earlier see a run that has begun: only an interrupting one begins before them.
pub(super) fn overtakes_once_begun(delivery: InputDelivery) -> OvertakesEarlier {
    match delivery {
        InputDelivery::Interrupt => OvertakesEarlier::Yes,
        InputDelivery::Queue | InputDelivery::Steer => OvertakesEarlier::No,
    }
}

fn size_of(past: &PastRun) -> usize {
    past.messages.iter().map(palyra_types::model::ChatMessage::content_bytes).sum()
}

#[cfg(test)]
mod tests {
    use palyra_types::model::ChatMessage;
    use palyra_types::tool::Taints;

    use super::*;

    fn past(first_seq: u64, bytes: usize) -> VisibleRun {
        let text = palyra_types::Redacted::cleaned("x".repeat(bytes));
        let run = PastRun { first_seq: Seq(first_seq), messages: [ChatMessage::user(text)].into() };
        VisibleRun { run, ended: Seq(first_seq * 10), overtakes: OvertakesEarlier::No, taints: Taints::NONE }
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
        history.push(VisibleRun { ended: Seq(1), ..past(20, 10) });
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
