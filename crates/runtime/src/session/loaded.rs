//! Where a session stands: its active run, its queue and its history, as the journal tells it.
//!
//! Read once, then kept current by the session's actor; read again after the journal failed.

use std::collections::VecDeque;

use palyra_context::session_history::SessionHistory;
use palyra_conversation::history::load_history;
use palyra_conversation::past_run::read_run;
use palyra_journal_core::families::runs;
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_types::run::{InputDelivery, RunLifecycleState, RunPhase, RunRecord, WaitReason};
use palyra_types::session::SessionRef;
use palyra_types::{RunId, Seq, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::LiveRun;
use crate::session::directory::SessionBinding;

/// What the journal says, kept current from then on.
pub(super) struct LoadedSession {
    pub(super) active: Option<LiveSlot>,
    pub(super) queue: Queue,
    pub(super) history: SessionHistory,
    pub(super) freshness: StateFreshness,
    pub(super) standing: ArchiveState,
    /// What its runs have from the session, if it is known to exist.
    pub(super) binding: Option<SessionBinding>,
}

/// Whether the journal may hold more than what is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateFreshness {
    Fresh,
    /// An answer was lost: the journal is read again, a little later, before the next run begins.
    Stale,
    /// Content was erased: the journal is read again, at once, before the next run begins.
    Erased,
}

/// Whether the session takes input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveState {
    Current,
    Archived,
}

/// A run that waits for its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueuedRun {
    pub(super) run: RunId,
    pub(super) first_seq: Seq,
    pub(super) delivery: InputDelivery,
}

/// Runs that wait for their turn: interrupting ones first, then in the order of their acceptance.
#[derive(Debug, Default)]
pub(super) struct Queue(VecDeque<QueuedRun>);

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts a run, accepted after all others, in its place.
    pub(super) fn push(&mut self, queued: QueuedRun) {
        let at = match queued.delivery {
            InputDelivery::Interrupt => {
                self.0.partition_point(|other| other.delivery == InputDelivery::Interrupt)
            }
            InputDelivery::Queue | InputDelivery::Steer => self.0.len(),
        };
        self.0.insert(at, queued);
    }

    pub(super) fn contains(&self, run: RunId) -> bool {
        self.0.iter().any(|queued| queued.run == run)
    }

    /// Takes a run out.
    pub(super) fn remove(&mut self, run: RunId) -> Option<QueuedRun> {
        let place = self.0.iter().position(|queued| queued.run == run)?;
        self.0.remove(place)
    }

    /// Takes out the next run that fits.
    pub(super) fn take_next(&mut self, fits: impl Fn(RunId) -> bool) -> Option<QueuedRun> {
        let place = self.0.iter().position(|queued| fits(queued.run))?;
        self.0.remove(place)
    }

    /// Returns the latest interrupting run that waits.
    fn last_interrupt(&self) -> Option<QueuedRun> {
        self.0.iter().rev().find(|queued| queued.delivery == InputDelivery::Interrupt).copied()
    }
}

impl LoadedSession {
    /// Returns where a session stands that its first commit is about to open. If it exists after all, the guard
    /// of that commit fails, and the journal is read.
    pub(super) fn unopened() -> Self {
        Self {
            active: None,
            queue: Queue::default(),
            history: SessionHistory::default(),
            freshness: StateFreshness::Fresh,
            standing: ArchiveState::Current,
            binding: None,
        }
    }

    /// Reads where a session stands; also returns how its active run has to be driven.
    pub(super) async fn read(
        engine: &Engine,
        session: SessionRef,
    ) -> Result<(Self, Option<RecoveryAction>), RequestError> {
        engine.views.grants.settle_doubt().await;
        let record = engine.ports.session(session).await?;
        let open = open_runs(engine, session).await?;
        let oldest_open = open.first().map(|record| record.first_seq);
        let history = match &record {
            Some(record) => load_history(engine.conversations.ports(), record, oldest_open).await?,
            None => SessionHistory::default(),
        };
        let binding = record.as_ref().map(SessionBinding::of);
        let archived = record.is_some_and(|record| record.archived.is_some());
        let standing = if archived { ArchiveState::Archived } else { ArchiveState::Current };
        let mut loaded = Self { history, standing, binding, ..Self::unopened() };
        let mut begun = None;
        for record in open {
            let (run, first_seq, delivery) = (record.run, record.first_seq, record.delivery);
            if record.state == RunLifecycleState::Pending {
                loaded.queue.push(QueuedRun { run, first_seq, delivery });
            } else {
                loaded.active = Some(LiveSlot::new(run, Some(first_seq), delivery));
                begun = Some(record);
            }
        }
        let revival = match begun {
            Some(record) if is_interrupted(engine, &record, &loaded.queue).await? => {
                Some(RecoveryAction::Interrupt)
            }
            Some(record) if needs_driving(&record) => Some(RecoveryAction::GoOn),
            Some(_) | None => None,
        };
        Ok((loaded, revival))
    }

    /// Returns whether the run is active or queued.
    pub(super) fn knows(&self, run: RunId) -> bool {
        self.active.as_ref().is_some_and(|active| active.run == run) || self.queue.contains(run)
    }
}

/// What the active run needs after the journal was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecoveryAction {
    /// To go on from its last entry.
    GoOn,
    /// To be stopped: an interrupting run was accepted, and the stop of this one is not recorded or not complete.
    Interrupt,
}

pub(super) struct LiveSlot {
    pub(super) run: RunId,
    /// Where it was accepted, if it was before it became active.
    pub(super) first_seq: Option<Seq>,
    pub(super) delivery: InputDelivery,
    /// `None` while the run waits for a person.
    pub(super) live: Option<LiveRun>,
    pub(super) panics: u32,
    /// Whether an interrupting run waits for its end.
    pub(super) interrupted: PendingInterrupt,
}

/// Whether a run has to stop for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingInterrupt {
    No,
    Yes,
}

impl LiveSlot {
    pub(super) fn new(run: RunId, first_seq: Option<Seq>, delivery: InputDelivery) -> Self {
        Self { run, first_seq, delivery, live: None, panics: 0, interrupted: PendingInterrupt::No }
    }
}

/// Returns whether a run was active when an interrupting one that still waits was accepted. Only another
/// interrupting run may have begun after that.
async fn is_interrupted(engine: &Engine, record: &RunRecord, queue: &Queue) -> Result<bool, RequestError> {
    let Some(waiting) = queue.last_interrupt() else { return Ok(false) };
    if record.delivery != InputDelivery::Interrupt {
        return Ok(true);
    }
    // Its first request is its second entry, or comes soon after.
    let beginning =
        read_run(engine.conversations.ports(), record.run, Some(TapeSeq(FIRST_REQUEST_TAPE_SEQ_MAX))).await?;
    Ok(beginning.begun_at.is_none_or(|begun_at| begun_at < waiting.first_seq))
}

/// A run's first model request is among so many first entries.
const FIRST_REQUEST_TAPE_SEQ_MAX: u32 = 16;

/// Returns the session's open runs, oldest first.
pub(super) async fn open_runs(engine: &Engine, session: SessionRef) -> Result<Vec<RunRecord>, RequestError> {
    let mut newest_first: Vec<RunRecord> = Vec::new();
    loop {
        let query = RunQuery {
            principal: session.principal,
            session: Some(session.id),
            only: RunFilter::Open,
            before: newest_first.last().map(|record| record.first_seq),
            limit: RECORD_PAGE_ROWS_MAX,
        };
        let page = engine.ports.families.query(move |rows, _| runs::records(rows, &query)).await?;
        let full = page.len() == RECORD_PAGE_ROWS_MAX;
        newest_first.extend(page);
        if !full {
            break;
        }
    }
    newest_first.reverse();
    Ok(newest_first)
}

/// Returns whether a run that has begun has something to do that no person does. Beside an unknown outcome other tools
/// may still have been running, and beside a question another call may still have to be prepared: such a run is driven
/// until it really waits.
pub(crate) fn needs_driving(record: &RunRecord) -> bool {
    match record.phase {
        RunPhase::Running | RunPhase::Waiting(WaitReason::OutcomeUnknown) => true,
        RunPhase::Waiting(WaitReason::Approval | WaitReason::Question) => record.unprepared > 0,
        RunPhase::Waiting(
            WaitReason::LoopCheck | WaitReason::UnknownKind | WaitReason::ClientTool | WaitReason::Budget,
        )
        | RunPhase::Queued
        | RunPhase::Finished => false,
    }
}
