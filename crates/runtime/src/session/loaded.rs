//! Where a session stands: its active run, its queue and its history, as the journal tells it.
//!
//! Read once, then kept current by the session's actor; read again after the journal failed.

use std::collections::VecDeque;

use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_types::RunId;
use palyra_types::run::{RunLifecycleState, RunPhase, RunRecord, WaitReason};
use palyra_types::session::SessionRef;

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::LiveRun;
use crate::session::history::History;

/// What the journal says, kept current from then on.
pub(super) struct Loaded {
    pub(super) active: Option<Active>,
    pub(super) queue: VecDeque<RunId>,
    pub(super) history: History,
    pub(super) freshness: Freshness,
}

/// Whether the journal may hold more than what is known here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    Fresh,
    /// An answer was lost: the journal is read again before the next run begins.
    Stale,
}

impl Loaded {
    /// Reads where a session stands; also returns the run that somebody has to drive.
    pub(super) async fn read(
        engine: &Engine,
        session: SessionRef,
    ) -> Result<(Self, Option<RunId>), RequestError> {
        let record = engine.ports.records.session(session).await?;
        let history = History::load(engine, session, record.and_then(|record| record.reset_at)).await?;
        let mut loaded = Self { active: None, queue: VecDeque::new(), history, freshness: Freshness::Fresh };
        let mut to_drive = None;
        for record in open_runs(engine, session).await? {
            if record.state == RunLifecycleState::Pending {
                loaded.queue.push_back(record.run);
            } else {
                loaded.active = Some(Active { run: record.run, live: None, panics: 0 });
                to_drive = needs_driving(&record).then_some(record.run);
            }
        }
        Ok((loaded, to_drive))
    }

    /// Returns whether the run is active or queued.
    pub(super) fn knows(&self, run: RunId) -> bool {
        self.active.as_ref().is_some_and(|active| active.run == run) || self.queue.contains(&run)
    }
}

pub(super) struct Active {
    pub(super) run: RunId,
    /// `None` while the run waits for a person.
    pub(super) live: Option<LiveRun>,
    pub(super) panics: u32,
}

/// Returns the session's open runs, oldest first.
async fn open_runs(engine: &Engine, session: SessionRef) -> Result<Vec<RunRecord>, RequestError> {
    let mut newest_first: Vec<RunRecord> = Vec::new();
    loop {
        let query = RunQuery {
            principal: session.principal,
            session: Some(session.id),
            only: RunFilter::Open,
            before: newest_first.last().map(|record| record.first_seq),
            limit: RECORD_PAGE_ROWS_MAX,
        };
        let page = engine.ports.records.runs(query).await?;
        let full = page.len() == RECORD_PAGE_ROWS_MAX;
        newest_first.extend(page);
        if !full {
            break;
        }
    }
    newest_first.reverse();
    Ok(newest_first)
}

/// A run beside whose unknown outcome other tools may still have been running is driven until it really waits.
fn needs_driving(record: &RunRecord) -> bool {
    matches!(record.phase, RunPhase::Running | RunPhase::Waiting(WaitReason::OutcomeUnknown))
}
