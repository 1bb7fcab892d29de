//! What waits for a person, in one list: the projection that every surface counts and shows.
//!
//! Invariant: each thing is listed once, as what settles it: a run that waits for an approval or for an outcome is that
//! approval or that call.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use palyra_admin::access::AccessSnapshot;
use palyra_admin::healing::IncidentView;
use palyra_admin::health::HealthHandle;
use palyra_admin::memories::MemoriesHandle;
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery};
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_runtime::Caller;
use palyra_runtime::approvals::ApprovalsHandle;
use palyra_runtime::runs::RunsHandle;
use palyra_scheduler::{ScheduleAttention, ScheduleAttentionKind, SchedulesHandle};
use palyra_types::access::AccessScope;
use palyra_types::approval::ApprovalRecord;
use palyra_types::effect::EffectRecord;
use palyra_types::learning::{CandidateKind, CandidateRecord};
use palyra_types::run::{RunPhase, RunRecord, WaitReason};
use palyra_types::surface::WorkspaceRootSource;
use palyra_types::{RunId, SessionId, Timestamp};
use palyra_wire::v1;
use palyra_wire::v1::watch_attention_response::Step;
use tokio::sync::watch;

use crate::api_error::ApiError;
use crate::operations::{OperationHandlers, ResponseSender, ResponseStream, respond_until};
use crate::translate;

/// The longest silence on a watch.
const HEARTBEAT_SPAN: Duration = Duration::from_secs(10);
/// The shortest time between two looks for one watch.
const LOOK_SPAN_MIN: Duration = Duration::from_millis(100);

impl OperationHandlers {
    /// Answers `ListAttention`.
    pub async fn list_attention(
        &self,
        caller: Caller,
        message: v1::ListAttentionRequest,
    ) -> Result<v1::ListAttentionResponse, ApiError> {
        AttentionReader::of(self, caller, message.workspace_root).list().await
    }

    /// Answers `WatchAttention`: sends the list, and again when it is another one, while the client listens.
    pub async fn watch_attention(
        &self,
        caller: Caller,
        message: v1::WatchAttentionRequest,
    ) -> Result<ResponseStream<v1::WatchAttentionResponse>, ApiError> {
        // Before the first list is read, so that no change falls in between.
        let changes = AttentionSignals {
            tapes: self.state.tapes.attention_changes(),
            access: self.state.admin.access.watch_known(),
            schedules: self.state.schedules.watch_changes(),
        };
        let reader = AttentionReader::of(self, caller, message.workspace_root);
        let reach = self.state.admin.access.count_stream(caller);
        Ok(respond_until(self.stop.clone(), 1, |response_tx| async move {
            let _reach = reach;
            send_lists(&reader, changes, &response_tx).await
        }))
    }
}

/// What can make another list: commits, schedules, and who is who, since a rule can name the approvers by their role.
struct AttentionSignals {
    tapes: watch::Receiver<u64>,
    access: watch::Receiver<Arc<AccessSnapshot>>,
    schedules: watch::Receiver<u64>,
}

impl AttentionSignals {
    /// Waits for the next one; returns at once where the daemon has ended.
    async fn changed(&mut self) {
        tokio::select! {
            _ = self.tapes.changed() => {}
            _ = self.access.changed() => {}
            _ = self.schedules.changed() => {}
        }
    }
}

/// Sends the list, and again when it is another one; returns when the client has left.
async fn send_lists(
    reader: &AttentionReader,
    mut changes: AttentionSignals,
    response_tx: &ResponseSender<v1::WatchAttentionResponse>,
) -> Result<(), ApiError> {
    let mut shown = None;
    loop {
        let list = reader.list().await?;
        let step = (shown.as_ref() != Some(&list)).then(|| Step::List(list.clone()));
        shown = Some(list);
        if step.is_some() && response_tx.send(Ok(v1::WatchAttentionResponse { step })).await.is_err() {
            return Ok(());
        }
        // Commits that come close together are one look.
        tokio::time::sleep(LOOK_SPAN_MIN).await;
        while let Err(_silence) = tokio::time::timeout(HEARTBEAT_SPAN, changes.changed()).await {
            let step = Some(Step::Heartbeat(v1::AttentionHeartbeat {}));
            if response_tx.send(Ok(v1::WatchAttentionResponse { step })).await.is_err() {
                return Ok(());
            }
        }
    }
}

/// Reads what waits, for one caller.
struct AttentionReader {
    approvals: ApprovalsHandle,
    runs: RunsHandle,
    health: HealthHandle,
    memories: MemoriesHandle,
    schedules: SchedulesHandle,
    caller: Caller,
    /// The folder whose items are marked.
    folder: Option<PathBuf>,
}

impl AttentionReader {
    fn of(handlers: &OperationHandlers, caller: Caller, folder: String) -> Self {
        let knows_folders = caller.actor.surface.profile().workspace_root == WorkspaceRootSource::Client;
        let folder = (knows_folders && !folder.is_empty()).then(|| PathBuf::from(folder));
        let state = &handlers.state;
        Self {
            approvals: state.approvals.clone(),
            runs: state.runs.clone(),
            health: state.health.clone(),
            memories: state.admin.memories.clone(),
            schedules: state.schedules.clone(),
            caller,
            folder,
        }
    }

    async fn list(&self) -> Result<v1::ListAttentionResponse, ApiError> {
        let caller = self.caller;
        let limit = RECORD_PAGE_ROWS_MAX;
        let principal = caller.actor.principal;
        let approvals =
            ApprovalQuery { principal: None, run: None, only: ApprovalFilter::Pending, before: None, limit };
        let runs = RunQuery { principal, session: None, only: RunFilter::Open, before: None, limit };
        let effects = EffectQuery {
            principal: Some(principal),
            run: None,
            only: EffectFilter::Unknown,
            before: None,
            limit,
        };
        let approvals = self.approvals.list(caller, approvals).await?;
        let runs = self.runs.list(caller, runs, None).await?;
        let effects = self.runs.effects(caller, effects).await?;
        let more = approvals.next.is_some() || runs.next.is_some() || effects.len() >= limit;
        // Only an owner can do something about an incident.
        let incidents = if caller.is_owner() { self.health.open_incidents().await? } else { Vec::new() };
        let learned = self.memories.candidates(caller).await?;
        let mut items = items(&approvals.records, &runs.runs, &effects, &incidents);
        items.extend(self.schedule_items().await?);
        items.sort_by_key(|(since, _)| std::cmp::Reverse(*since));
        let mut items: Vec<v1::AttentionItem> = items.into_iter().map(|(_, item)| item).collect();
        items.extend(learned.iter().filter(|one| one.state.is_open()).take(limit).map(review));
        if let Some(folder) = &self.folder {
            let here = self.runs_here(&effects, folder).await?;
            for item in &mut items {
                item.here = here.contains(&item.run_id);
            }
        }
        Ok(v1::ListAttentionResponse { items, more })
    }

    /// Returns the schedules that wait, for a caller that may look at schedules.
    async fn schedule_items(&self) -> Result<Vec<(Timestamp, v1::AttentionItem)>, ApiError> {
        if !self.caller.scopes.contains(AccessScope::Schedules) {
            return Ok(Vec::new());
        }
        let waiting = self.schedules.attention(self.caller).await?;
        Ok(waiting.iter().map(schedule_item).collect())
    }

    /// Returns the runs of a folder that can have items: those that are open, and those of sessions with an unknown outcome,
    /// which can be over.
    async fn runs_here(&self, effects: &[EffectRecord], folder: &Path) -> Result<BTreeSet<String>, ApiError> {
        let caller = self.caller;
        let limit = RECORD_PAGE_ROWS_MAX;
        let principal = caller.actor.principal;
        let open = RunQuery { principal, session: None, only: RunFilter::Open, before: None, limit };
        let sessions: BTreeSet<SessionId> = effects.iter().map(|effect| effect.session).collect();
        let over = sessions.into_iter().map(|session| RunQuery {
            session: Some(session),
            only: RunFilter::Finished,
            ..open.clone()
        });
        let mut here = BTreeSet::new();
        for query in std::iter::once(open.clone()).chain(over) {
            let page = self.runs.list(caller, query, Some(folder.to_owned())).await?;
            here.extend(page.runs.into_iter().map(|run| run.run.to_string()));
        }
        Ok(here)
    }
}

fn schedule_item(waiting: &ScheduleAttention) -> (Timestamp, v1::AttentionItem) {
    let kind = match waiting.kind {
        ScheduleAttentionKind::Paused => v1::AttentionKind::SchedulePaused,
        ScheduleAttentionKind::Reminder => v1::AttentionKind::Reminder,
    };
    let item = v1::AttentionItem {
        kind: kind.into(),
        schedule_id: waiting.schedule.to_string(),
        about: waiting.about.expose().lines().next().unwrap_or_default().to_owned(),
        since: translate::timestamp(waiting.since),
        ..Default::default()
    };
    (waiting.since, item)
}

/// Returns what waits in and for runs, each with its time.
fn items(
    approvals: &[ApprovalRecord],
    runs: &[RunRecord],
    effects: &[EffectRecord],
    incidents: &[IncidentView],
) -> Vec<(Timestamp, v1::AttentionItem)> {
    let mut items: Vec<(Timestamp, v1::AttentionItem)> = approvals.iter().map(approval).collect();
    let unsettled: BTreeSet<RunId> = effects.iter().map(|effect| effect.run).collect();
    let mut waiting = BTreeSet::new();
    for run in runs {
        let RunPhase::Waiting(reason) = run.phase else { continue };
        waiting.insert(run.run);
        let has_effect = unsettled.contains(&run.run);
        let Some(kind) = kind_of(reason, has_effect) else { continue };
        let item = v1::AttentionItem {
            kind: kind.into(),
            run_id: run.run.to_string(),
            session_id: run.session.to_string(),
            about: run.input_preview.expose().clone(),
            since: translate::timestamp(run.updated),
            run_waits: true,
            ..Default::default()
        };
        items.push((run.updated, item));
    }
    items.extend(effects.iter().map(|effect| unknown_outcome(effect, &waiting)));
    items.extend(incidents.iter().map(incident));
    items
}

/// Reviews come last: no run waits for one.
fn review(record: &CandidateRecord) -> v1::AttentionItem {
    let about = record.proposed.text.expose().lines().next().unwrap_or_default().to_owned();
    let first = record.proposed.evidence.first();
    v1::AttentionItem {
        kind: v1::AttentionKind::Review.into(),
        run_id: first.map(|cited| cited.run.to_string()).unwrap_or_default(),
        session_id: record.session.map(|session| session.to_string()).unwrap_or_default(),
        candidate_id: record.proposed.candidate.to_string(),
        about: if record.proposed.kind == CandidateKind::Procedure {
            "a procedure".to_owned()
        } else {
            about
        },
        since: translate::timestamp(record.updated),
        ..Default::default()
    }
}

fn approval(record: &ApprovalRecord) -> (Timestamp, v1::AttentionItem) {
    let tool = record.prompt.tool.expose();
    let summary = record.prompt.summary.expose();
    let about = if summary.is_empty() { tool.clone() } else { format!("{tool}: {summary}") };
    let item = v1::AttentionItem {
        kind: v1::AttentionKind::Approval.into(),
        run_id: record.run.to_string(),
        session_id: record.session.to_string(),
        approval_id: record.approval.to_string(),
        about,
        risk: translate::risk(record.risk),
        since: translate::timestamp(record.created),
        run_waits: true,
        ..Default::default()
    };
    (record.created, item)
}

/// Returns what a run waits for that has no item of its own. One that was halted over an unknown outcome waits for words
/// after its call is settled.
fn kind_of(reason: WaitReason, has_unknown_effect: bool) -> Option<v1::AttentionKind> {
    match reason {
        WaitReason::OutcomeUnknown if !has_unknown_effect => Some(v1::AttentionKind::UnknownOutcome),
        WaitReason::Question => Some(v1::AttentionKind::Question),
        WaitReason::LoopCheck => Some(v1::AttentionKind::Loop),
        WaitReason::UnknownKind => Some(v1::AttentionKind::UnknownEntry),
        WaitReason::Budget => Some(v1::AttentionKind::Budget),
        WaitReason::Approval | WaitReason::OutcomeUnknown => None,
        // A program brings what it waits for; no person can.
        WaitReason::ClientTool => None,
    }
}

fn unknown_outcome(record: &EffectRecord, waiting: &BTreeSet<RunId>) -> (Timestamp, v1::AttentionItem) {
    let item = v1::AttentionItem {
        kind: v1::AttentionKind::UnknownOutcome.into(),
        run_id: record.run.to_string(),
        session_id: record.session.to_string(),
        effect_id: record.effect.0,
        about: record.tool.expose().clone(),
        since: translate::timestamp(record.started),
        run_waits: waiting.contains(&record.run),
        ..Default::default()
    };
    (record.started, item)
}

fn incident(view: &IncidentView) -> (Timestamp, v1::AttentionItem) {
    let opened = &view.record.opened;
    let cause = opened.cause.as_str().replace('_', " ");
    let item = v1::AttentionItem {
        kind: v1::AttentionKind::Incident.into(),
        incident_id: opened.incident.to_string(),
        about: if view.subject.is_empty() { cause } else { format!("{cause}: {}", view.subject) },
        since: translate::timestamp(view.record.created),
        ..Default::default()
    };
    (view.record.created, item)
}

#[cfg(test)]
mod tests {
    use palyra_types::run::{InputDelivery, RunLifecycleState};
    use palyra_types::{AgentId, PrincipalId, Redacted, Seq, TapeSeq};

    use super::*;

    fn waiting(run: u64, reason: WaitReason) -> RunRecord {
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
        let runs = [waiting(1, WaitReason::OutcomeUnknown), waiting(2, WaitReason::Question)];
        let listed = items(&[], &runs, &[], &[]);
        let found: Vec<_> =
            listed.iter().map(|(_, item)| (item.kind(), item.effect_id, item.run_waits)).collect();
        let expected =
            [v1::AttentionKind::UnknownOutcome, v1::AttentionKind::Question].map(|kind| (kind, 0, true));
        assert_eq!(found, expected);
    }
}
