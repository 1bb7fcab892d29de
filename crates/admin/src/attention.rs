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
    let mut has_more = approvals.next.is_some() || runs.len() >= limit || effects.len() >= limit;
    let mut things: Vec<WaitingThing> =
        approvals.records.into_iter().map(|approval| WaitingThing::Approval(Box::new(approval))).collect();
    things.extend(waits_of_runs(runs, effects));
    if query.has_daemon {
        let found = incidents::unresolved(rows, log)?;
        things.extend(found.into_iter().map(|incident| WaitingThing::Incident(Box::new(incident))));
        let failed = failed_tasks(rows, log)?;
        has_more |= failed.has_more;
        things.extend(failed.things);
    }
    if query.has_schedules {
        let found = schedule_waits::of_principal(rows, log, principal)?;
        things.extend(found.into_iter().map(|schedule| WaitingThing::Schedule(Box::new(schedule))));
    }
    let learned = learning_candidates::of_principal(rows, log, principal)?;
    let reviews = reviews(learned, limit);
    has_more |= reviews.has_more;
    things.extend(reviews.things);
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

/// Returns the first of what was learned that waits for a review.
fn reviews(learned: Vec<CandidateRecord>, limit: usize) -> AttentionList {
    // The text of one that was erased is gone, so no person can judge it.
    let is_reviewed = |one: &CandidateRecord| one.state.is_open() && !one.proposed.text.expose().is_empty();
    let open: Vec<CandidateRecord> = learned.into_iter().filter(is_reviewed).collect();
    let has_more = open.len() > limit;
    let shown = open.into_iter().take(limit);
    AttentionList { things: shown.map(|one| WaitingThing::Review(Box::new(one))).collect(), has_more }
}

/// Reads tasks of the background queue that failed too often, or may be done or not.
fn failed_tasks(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<AttentionList, StoreFault> {
    let mut list = AttentionList::default();
    for stage in [TaskStage::DeadLetter, TaskStage::OutcomeUnknown] {
        let query = queued_tasks::TaskQuery {
            stage: Some(stage),
            limit: RECORD_PAGE_ROWS_MAX,
            ..queued_tasks::TaskQuery::default()
        };
        let page = failed_page(queued_tasks::records(rows, log, &query)?, RECORD_PAGE_ROWS_MAX);
        list.has_more |= page.has_more;
        list.things.extend(page.things);
    }
    Ok(list)
}

/// Returns what waits of a page of failed tasks; a full page may have another one behind it.
fn failed_page(found: Vec<OrchestratorBackgroundTaskRecord>, limit: usize) -> AttentionList {
    let has_more = found.len() >= limit;
    // A notification about a notification that failed would fail as well.
    let found = found.into_iter().filter(|task| task.kind != TaskKind::Notify);
    AttentionList { things: found.map(|task| WaitingThing::FailedTask(Box::new(task))).collect(), has_more }
}

#[cfg(test)]
mod tests {
    use palyra_types::learning::{CandidateAuthor, CandidateKind, CandidateProposed, CandidateState};
    use palyra_types::run::{InputDelivery, RunLifecycleState};
    use palyra_types::surface::Surface;
    use palyra_types::{AgentId, CandidateId, LeaseFence, QueuedTaskId, Redacted, Seq, SessionId, TapeSeq};

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

    fn candidate(state: CandidateState, text: &str) -> CandidateRecord {
        let proposed = CandidateProposed {
            candidate: CandidateId::NIL,
            kind: CandidateKind::Fact,
            confidence_bps: 1,
            state,
            held_back: None,
            author: CandidateAuthor::Rules,
            evidence: Vec::new(),
            taints: Default::default(),
            via: Surface::LocalSocket,
            memory: None,
            supersedes: None,
            text: Redacted::cleaned(text.to_owned()),
        };
        CandidateRecord {
            proposed,
            state,
            memory: None,
            principal: PrincipalId::NIL,
            session: None,
            seq: Seq(1),
            created: Timestamp(0),
            updated: Timestamp(0),
        }
    }

    #[test]
    fn reviews_beyond_a_page_are_said_to_be_there() {
        let open = candidate(CandidateState::PendingReview, "tea");
        let mut learned = vec![open.clone(), open.clone()];
        // Neither of these waits for a review.
        learned.push(candidate(CandidateState::Rejected, "tea"));
        learned.push(candidate(CandidateState::PendingReview, ""));
        let whole = reviews(learned.clone(), 2);
        assert_eq!((whole.things.len(), whole.has_more), (2, false));
        learned.push(open);
        let part = reviews(learned, 2);
        assert_eq!((part.things.len(), part.has_more), (2, true));
    }

    #[test]
    fn failed_tasks_beyond_a_page_are_said_to_be_there() {
        let task = |kind| OrchestratorBackgroundTaskRecord {
            task: QueuedTaskId::NIL,
            kind,
            principal: PrincipalId::NIL,
            session: None,
            seq: Seq(1),
            created: Timestamp(0),
            changed: Timestamp(0),
            stage: TaskStage::DeadLetter,
            due: Timestamp(0),
            fence: LeaseFence(1),
            attempts: 1,
            progress: 0,
            is_cancel_requested: false,
            last_end: None,
            explanation: Redacted::default(),
        };
        let part = failed_page(vec![task(TaskKind::Backup), task(TaskKind::Notify)], 2);
        assert_eq!((part.things.len(), part.has_more), (1, true));
        assert!(!failed_page(vec![task(TaskKind::Backup)], 2).has_more);
    }
}
