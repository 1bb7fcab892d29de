//! Reads what earlier runs of a session look like to a model.
//!
//! Rendered from tapes by the pure transcript. A session that branched off another one begins with what that one had said
//! up to there; nothing of it is copied. The history says which of them a run sees. Begin at [`load_history`].

use std::cmp::Ordering;

use palyra_context::session_history::{
    HISTORY_BYTES_MAX, HISTORY_RUNS_MAX, OvertakesEarlier, RESETS_MAX, SessionHistory, VisibleRun,
    overtakes_once_begun, size_of,
};
use palyra_journal_core::families::{resets, runs, sessions};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::ReadError;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_types::run::{InputDelivery, RunRecord};
use palyra_types::session::{BranchPoint, OrchestratorSessionRecord, SessionRef};
use palyra_types::{RunId, Seq, TapeSeq, Timestamp};

use crate::parts::ConversationPorts;
use crate::past_run::{ReadRun, read_run};

/// Branches of branches that are followed back, at most.
const BRANCHES_DEPTH_MAX: usize = 64;

/// Reads the history of a session from the journal, newest run first, until it is full; as far back as its oldest open
/// run sees.
///
/// # Errors
/// [`ReadError`].
pub async fn load_history(
    ports: &ConversationPorts,
    record: &OrchestratorSessionRecord,
    oldest_open: Option<Seq>,
) -> Result<SessionHistory, ReadError> {
    let GatheredRuns { runs, resets, unreadable } = gather(ports, record, oldest_open, None).await?;
    Ok(SessionHistory::of(runs.into_iter().map(GatheredRun::visible).collect(), resets, unreadable))
}

/// Reads the runs of a session that a run sees which begins now and that ended after an entry, with what is recorded of each,
/// in the order of their ends.
///
/// # Errors
/// [`ReadError`].
pub(crate) async fn earlier_runs(
    ports: &ConversationPorts,
    record: &OrchestratorSessionRecord,
    covered: Option<Seq>,
) -> Result<Vec<ReadRun>, ReadError> {
    let covered = match covered {
        Some(seq) => {
            let time = ports.families.query(move |_, log| Ok(log.entry(seq)?.time)).await?;
            Some(CoveredPart { upto: seq, time })
        }
        None => None,
    };
    let gathered = gather(ports, record, None, covered).await?;
    let mut runs: Vec<ReadRun> = gathered.runs.into_iter().map(|run| run.read).collect();
    runs.retain(|run| covered.is_none_or(|covered| run.past.ended > covered.upto));
    runs.sort_by_key(|read| read.past.ended);
    Ok(runs)
}

/// A run of a session, and whether runs see it that were accepted before it.
struct GatheredRun {
    read: ReadRun,
    overtakes: OvertakesEarlier,
}

impl GatheredRun {
    fn visible(self) -> VisibleRun {
        VisibleRun { run: self.read.past, overtakes: self.overtakes, taints: self.read.taints }
    }
}

/// The part of a session that a summary covers: what ended up to this entry.
#[derive(Clone, Copy)]
struct CoveredPart {
    upto: Seq,
    /// When it was written.
    time: Timestamp,
}

/// The end of a run, as its record has it.
#[derive(Clone, Copy)]
struct RunEnd {
    run: RunId,
    last: TapeSeq,
    time: Timestamp,
}

impl CoveredPart {
    /// Returns whether a run ended in it. Times never go back, so most runs need no look at their tape.
    async fn has(self, ports: &ConversationPorts, ended: RunEnd) -> Result<bool, ReadError> {
        match ended.time.cmp(&self.time) {
            Ordering::Less => Ok(true),
            Ordering::Greater => Ok(false),
            Ordering::Equal => {
                let before = TapeSeq(ended.last.0.saturating_sub(1));
                let page = ports.tapes.tape(ended.run, before, 1).await?;
                Ok(page.entries.first().is_some_and(|last| last.seq <= self.upto))
            }
        }
    }
}

/// What was read of a session.
struct GatheredRuns {
    runs: Vec<GatheredRun>,
    resets: Vec<Seq>,
    unreadable: Vec<RunId>,
}

async fn gather(
    ports: &ConversationPorts,
    record: &OrchestratorSessionRecord,
    oldest_open: Option<Seq>,
    covered: Option<CoveredPart>,
) -> Result<GatheredRuns, ReadError> {
    let resets = resets(ports, record, oldest_open).await?;
    let since = resets.first().copied().filter(|first| oldest_open.is_none_or(|open| *first < open));
    let mut gathered = CollectedContext { covered, ..CollectedContext::default() };
    let own = HistorySpan { session: record.session, since, cut: None };
    gathered.take_stretch(ports, own).await?;
    if since.is_none() {
        gathered.take_inherited(ports, record).await?;
    }
    let CollectedContext { runs, unreadable, .. } = gathered;
    Ok(GatheredRuns { runs, resets, unreadable })
}

/// Returns the resets that matter, in order: the one in force for the oldest open run, and all after it.
async fn resets(
    ports: &ConversationPorts,
    record: &OrchestratorSessionRecord,
    oldest_open: Option<Seq>,
) -> Result<Vec<Seq>, ReadError> {
    let mut resets = Vec::new();
    let mut next = record.reset_at;
    while let Some(reset) = next {
        resets.push(reset);
        if resets.len() >= RESETS_MAX || oldest_open.is_none_or(|open| reset < open) {
            break;
        }
        let session = record.session;
        next = ports.families.query(move |rows, _| resets::latest_before(rows, session, reset)).await?;
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
    fn shows(&self, record: &RunRecord, past: &GatheredRun) -> bool {
        self.cut.is_none_or(|cut| {
            let accepted_before = record.first_seq < cut.run_first_seq;
            past.read.past.ended < cut.at && (accepted_before || past.overtakes == OvertakesEarlier::Yes)
        })
    }
}

/// What was read so far, newest first.
#[derive(Default)]
struct CollectedContext {
    runs: Vec<GatheredRun>,
    bytes: usize,
    unreadable: Vec<RunId>,
    /// Runs of this part are passed over.
    covered: Option<CoveredPart>,
    passed_over: usize,
}

impl CollectedContext {
    fn is_full(&self) -> bool {
        self.runs.len() + self.passed_over >= HISTORY_RUNS_MAX || self.bytes >= HISTORY_BYTES_MAX
    }

    async fn take_stretch(
        &mut self,
        ports: &ConversationPorts,
        stretch: HistorySpan,
    ) -> Result<(), ReadError> {
        let mut before = stretch.cut.map(|cut| cut.at);
        loop {
            let query = RunQuery {
                principal: stretch.session.principal,
                session: Some(stretch.session.id),
                only: RunFilter::Finished,
                before,
                limit: HISTORY_RUNS_MAX.min(RECORD_PAGE_ROWS_MAX),
            };
            let page = ports.families.query(move |rows, _| runs::records(rows, &query)).await?;
            for record in &page {
                if self.is_full() || stretch.since.is_some_and(|since| record.first_seq < since) {
                    return Ok(());
                }
                let end = RunEnd { run: record.run, last: record.last_tape_seq, time: record.updated };
                if let Some(covered) = self.covered
                    && covered.has(ports, end).await?
                {
                    self.passed_over += 1;
                    continue;
                }
                let Some(past) = self.read(ports, record.run, None, record.delivery).await? else {
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
        ports: &ConversationPorts,
        record: &OrchestratorSessionRecord,
    ) -> Result<(), ReadError> {
        let mut next = record.branched_from;
        for _ in 0..BRANCHES_DEPTH_MAX {
            let Some(point) = next.filter(|_| !self.is_full()) else { return Ok(()) };
            let session = SessionRef { principal: record.session.principal, id: point.session };
            if let Some(at) = self.take_prefix(ports, point).await? {
                let cut = Some(HistoryCut { run_first_seq: point.run_first_seq, at });
                self.take_stretch(ports, HistorySpan { session, since: point.since, cut }).await?;
            }
            if point.since.is_some() {
                return Ok(());
            }
            next = session_record(ports, session).await?.and_then(|source| source.branched_from);
        }
        Ok(())
    }

    /// Takes the beginning of the run that is cut; returns the place of the last shared entry.
    async fn take_prefix(
        &mut self,
        ports: &ConversationPorts,
        point: BranchPoint,
    ) -> Result<Option<Seq>, ReadError> {
        let upto = Some(point.tape_seq);
        let past = self.read(ports, point.run, upto, InputDelivery::Queue).await?;
        Ok(past.map(|past| {
            let at = past.read.past.ended;
            self.take(past);
            at
        }))
    }

    fn take(&mut self, past: GatheredRun) {
        self.bytes += size_of(&past.read.past);
        self.runs.push(past);
    }

    /// Reads a run; one that never will be readable is noted and left out.
    async fn read(
        &mut self,
        ports: &ConversationPorts,
        run: RunId,
        upto: Option<TapeSeq>,
        delivery: InputDelivery,
    ) -> Result<Option<GatheredRun>, ReadError> {
        match read_run(ports, run, upto).await {
            Ok(read) => {
                let overtakes =
                    read.begun_at.map_or(OvertakesEarlier::No, |_| overtakes_once_begun(delivery));
                Ok(Some(GatheredRun { read, overtakes }))
            }
            Err(error @ ReadError::Corrupt { .. }) => {
                tracing::error!(%run, %error, "an earlier run cannot be read and is left out of its session");
                self.unreadable.push(run);
                Ok(None)
            }
            Err(error @ (ReadError::Busy | ReadError::Storage { .. })) => Err(error),
        }
    }
}

/// Returns what is known of a session.
///
/// # Errors
/// [`ReadError`].
pub(crate) async fn session_record(
    ports: &ConversationPorts,
    session: SessionRef,
) -> Result<Option<OrchestratorSessionRecord>, ReadError> {
    ports.families.query(move |rows, _| sessions::record(rows, session)).await
}
