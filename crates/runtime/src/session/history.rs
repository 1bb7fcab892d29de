//! Reads what earlier runs of a session look like to a model.
//!
//! Rendered from tapes by the pure transcript. A session that branched off another one begins with what that one had said
//! up to there; nothing of it is copied. What of it a run sees is the history's to say. Begin at [`load_history`].

use palyra_context::session_history::{
    HISTORY_BYTES_MAX, HISTORY_RUNS_MAX, OvertakesEarlier, RESETS_MAX, SessionHistory, VisibleRun,
    overtakes_once_begun, size_of,
};
use palyra_journal_core::families::{resets, runs};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::ReadError;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_types::run::{InputDelivery, RunRecord};
use palyra_types::session::{BranchPoint, OrchestratorSessionRecord, SessionRef};
use palyra_types::{RunId, Seq, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::past::{ReadRun, read_run};

/// Branches of branches that are followed back, at most.
const BRANCHES_DEPTH_MAX: usize = 64;

/// Reads the history of a session from the journal, newest run first, until it is full; as far back as its oldest open
/// run sees.
pub(super) async fn load_history(
    engine: &Engine,
    record: &OrchestratorSessionRecord,
    oldest_open: Option<Seq>,
) -> Result<SessionHistory, RequestError> {
    let resets = resets(engine, record, oldest_open).await?;
    let since = resets.first().copied().filter(|first| oldest_open.is_none_or(|open| *first < open));
    let mut gathered = CollectedContext::default();
    let own = HistorySpan { session: record.session, since, cut: None };
    gathered.take_stretch(engine, own).await?;
    if since.is_none() {
        gathered.take_inherited(engine, record).await?;
    }
    let CollectedContext { runs, unreadable, .. } = gathered;
    Ok(SessionHistory::of(runs, resets, unreadable))
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
