//! What waits for a person by itself, read in one look: the one reader behind the list of attention and behind notifications.
//!
//! Owns which records wait, and since when. Invariant: each thing is here once, as what settles it: a run that waits for an
//! approval or for an outcome is that approval or that call. Begin at [`waiting`].

mod schedule_waits;

use std::collections::BTreeSet;
use std::sync::Arc;

use palyra_journal_core::families::{effects, incidents, learning_candidates, queued_tasks, runs};
use palyra_journal_core::family::{LogView, QueryFamilies, ReadFamilies, RowStore, StoreFault};
use palyra_ports::ReadError;
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery};
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_types::approval::ApprovalRecord;
use palyra_types::effect::EffectRecord;
use palyra_types::incident::IncidentRecord;
use palyra_types::learning::CandidateRecord;
use palyra_types::queued_task::{OrchestratorBackgroundTaskRecord, TaskKind, TaskStage};
use palyra_types::run::{RunPhase, RunRecord, WaitReason};
use palyra_types::{PrincipalId, RunId, Timestamp};

use crate::approval_page::approval_page;

pub use schedule_waits::{ScheduleWait, WaitingSchedule, delivered_reminder};

/// Whose attention is asked for, and for which parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionQuery {
    /// Whose runs, calls, schedules and reviews are read. Approvals are read for those who decide them.
    pub principal: PrincipalId,
    /// Whether schedules are read.
    pub has_schedules: bool,
    /// Whether incidents and failed tasks of the daemon are read.
    pub has_daemon: bool,
}

/// Something that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitingThing {
    /// A call waits for a decision.
    Approval(Box<ApprovalRecord>),
    /// A run waits for something that has no record of its own.
    Run {
        /// The run.
        run: Box<RunRecord>,
        /// What it waits for.
        need: RunNeed,
    },
    /// It is not known whether a call took effect.
    Effect {
        /// The call.
        effect: Box<EffectRecord>,
        /// Whether its run waits for it; else the run is over.
        run_waits: bool,
    },
    /// Self-healing found something wrong, and it is not over.
    Incident(Box<IncidentRecord>),
    /// A task of the background queue failed too often, or may be done or not.
    FailedTask(Box<OrchestratorBackgroundTaskRecord>),
    /// A schedule paused itself, or delivered a reminder.
    Schedule(Box<WaitingSchedule>),
    /// Something that was learned waits for a review.
    Review(Box<CandidateRecord>),
}

/// What a run waits for that has no record of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunNeed {
    /// An answer to a question.
    Answer,
    /// Words, since it repeats itself.
    LoopCheck,
    /// A newer version.
    NewerVersion,
    /// Its budget.
    Budget,
    /// Words, after its call with an unknown outcome was settled.
    WordsAfterOutcome,
}

impl WaitingThing {
    /// Returns since when it waits.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        match self {
            Self::Approval(approval) => approval.created,
            Self::Run { run, .. } => run.updated,
            Self::Effect { effect, .. } => effect.ended.unwrap_or(effect.started),
            Self::Incident(incident) => incident.created,
            Self::FailedTask(task) => task.changed,
            Self::Schedule(schedule) => schedule.since,
            Self::Review(candidate) => candidate.updated,
        }
    }

    /// Returns whether a run may wait for it; none waits for a review.
    fn is_review(&self) -> bool {
        matches!(self, Self::Review(_))
    }
}

/// What waits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AttentionList {
    /// Newest first, and reviews after all others.
    pub things: Vec<WaitingThing>,
    /// Whether more waits than was read.
    pub has_more: bool,
}

/// Reads what waits, for callers.
#[derive(Clone)]
pub struct AttentionHandle {
    families: Arc<dyn ReadFamilies>,
}

impl AttentionHandle {
    /// Makes a handle.
    #[must_use]
    pub fn new(families: Arc<dyn ReadFamilies>) -> Self {
        Self { families }
    }

    /// Reads what waits; of approvals those that `sees` lets through.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn waiting(
        &self,
        query: AttentionQuery,
        sees: impl Fn(&ApprovalRecord) -> bool + Send + 'static,
    ) -> Result<AttentionList, ReadError> {
        self.families.query(move |rows, log| waiting(rows, log, query, &sees)).await
    }
}

/// Reads what waits; of approvals those that `sees` lets through.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn waiting(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    query: AttentionQuery,
    sees: &dyn Fn(&ApprovalRecord) -> bool,
) -> Result<AttentionList, StoreFault> {
    let principal = query.principal;
    let limit = RECORD_PAGE_ROWS_MAX;
    let pending =
        ApprovalQuery { principal: None, run: None, only: ApprovalFilter::Pending, before: None, limit };
    let approvals = approval_page(rows, log, &pending, sees)?;
    let open = RunQuery { principal, session: None, only: RunFilter::Open, before: None, limit };
    let runs = runs::records(rows, &open)?;
    let unknown = EffectQuery {
        principal: Some(principal),
        run: None,
        only: EffectFilter::Unknown,
        before: None,
        limit,
    };
    let effects = effects::records(rows, &unknown)?;
    let has_more = approvals.next.is_some() || runs.len() >= limit || effects.len() >= limit;
    let mut things: Vec<WaitingThing> =
        approvals.records.into_iter().map(|approval| WaitingThing::Approval(Box::new(approval))).collect();
    things.extend(waits_of_runs(runs, effects));
    if query.has_daemon {
        let found = incidents::unresolved(rows, log)?;
        things.extend(found.into_iter().map(|incident| WaitingThing::Incident(Box::new(incident))));
        things.extend(failed_tasks(rows, log)?);
    }
    if query.has_schedules {
        let found = schedule_waits::of_principal(rows, log, principal)?;
        things.extend(found.into_iter().map(|schedule| WaitingThing::Schedule(Box::new(schedule))));
    }
    let learned = learning_candidates::of_principal(rows, log, principal)?;
    // The text of one that was erased is gone, so no person can judge it.
    let open =
        learned.into_iter().filter(|one| one.state.is_open() && !one.proposed.text.expose().is_empty());
    things.extend(open.take(limit).map(|candidate| WaitingThing::Review(Box::new(candidate))));
    things.sort_by_key(|thing| (thing.is_review(), std::cmp::Reverse(thing.since())));
    Ok(AttentionList { things, has_more })
}

/// Returns what runs wait for, and calls whose outcome is unknown, also of runs that are over.
fn waits_of_runs(runs: Vec<RunRecord>, effects: Vec<EffectRecord>) -> Vec<WaitingThing> {
    let unsettled: BTreeSet<RunId> = effects.iter().map(|effect| effect.run).collect();
    let mut waiting = BTreeSet::new();
    let mut things = Vec::new();
    for run in runs {
        let RunPhase::Waiting(reason) = run.phase else { continue };
        waiting.insert(run.run);
        let has_unknown_effect = unsettled.contains(&run.run);
        if let Some(need) =
            need_of(reason).filter(|need| *need != RunNeed::WordsAfterOutcome || !has_unknown_effect)
        {
            things.push(WaitingThing::Run { run: Box::new(run), need });
        }
    }
    things.extend(effects.into_iter().map(|effect| {
        let run_waits = waiting.contains(&effect.run);
        WaitingThing::Effect { effect: Box::new(effect), run_waits }
    }));
    things
}

fn need_of(reason: WaitReason) -> Option<RunNeed> {
    match reason {
        WaitReason::Question => Some(RunNeed::Answer),
        WaitReason::LoopCheck => Some(RunNeed::LoopCheck),
        WaitReason::UnknownKind => Some(RunNeed::NewerVersion),
        WaitReason::Budget => Some(RunNeed::Budget),
        WaitReason::OutcomeUnknown => Some(RunNeed::WordsAfterOutcome),
        // The approval is a thing of its own, and a program brings results of its functions; no person can.
        WaitReason::Approval | WaitReason::ClientTool => None,
    }
}

fn failed_tasks(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<WaitingThing>, StoreFault> {
    let mut things = Vec::new();
    for stage in [TaskStage::DeadLetter, TaskStage::OutcomeUnknown] {
        let query = queued_tasks::TaskQuery {
            stage: Some(stage),
            limit: RECORD_PAGE_ROWS_MAX,
            ..queued_tasks::TaskQuery::default()
        };
        let found = queued_tasks::records(rows, log, &query)?;
        // A notification about a notification that failed would fail as well.
        let found = found.into_iter().filter(|task| task.kind != TaskKind::Notify);
        things.extend(found.map(|task| WaitingThing::FailedTask(Box::new(task))));
    }
    Ok(things)
}

#[cfg(test)]
mod tests {
    use palyra_types::run::{InputDelivery, RunLifecycleState};
    use palyra_types::{AgentId, Redacted, Seq, SessionId, TapeSeq};

    use super::*;

    fn run_that_waits(run: u64, reason: WaitReason) -> RunRecord {
        RunRecord {
            run: RunId::from_parts(run, 1),
            session: SessionId::from_parts(1, 1),
            principal: PrincipalId::from_parts(1, 1),
            agent: AgentId::from_parts(1, 1),
            delivery: InputDelivery::Queue,
            state: RunLifecycleState::InProgress,
            phase: RunPhase::Waiting(reason),
            reason: None,
            error: None,
            last_tape_seq: TapeSeq(1),
            first_seq: Seq(run),
            created: Timestamp(0),
            updated: Timestamp(0),
            turns: 1,
            tool_calls: 1,
            unprepared: 0,
            usage: Default::default(),
            input_preview: Redacted::cleaned("go".to_owned()),
        }
    }

    #[test]
    fn a_run_that_waits_for_words_after_its_unknown_call_was_settled_is_listed() {
        let runs =
            vec![run_that_waits(1, WaitReason::OutcomeUnknown), run_that_waits(2, WaitReason::Question)];
        let needs = |things: Vec<WaitingThing>| -> Vec<RunNeed> {
            let need = |thing| if let WaitingThing::Run { need, .. } = thing { Some(need) } else { None };
            things.into_iter().filter_map(need).collect()
        };
        assert_eq!(needs(waits_of_runs(runs, Vec::new())), [RunNeed::WordsAfterOutcome, RunNeed::Answer]);
        let other = [WaitReason::Approval, WaitReason::ClientTool].map(|reason| run_that_waits(3, reason));
        assert_eq!(needs(waits_of_runs(other.into(), Vec::new())), []);
    }
}
