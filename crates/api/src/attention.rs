//! What waits for a person, in one list that every surface counts and shows. The crate `admin` reads it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use palyra_admin::access::AccessSnapshot;
use palyra_admin::attention::{
    AttentionHandle, AttentionList, AttentionQuery, RunNeed, ScheduleWait, WaitingSchedule, WaitingThing,
};
use palyra_admin::healing::IncidentView;
use palyra_admin::health::HealthHandle;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_runtime::Caller;
use palyra_runtime::approvals::ApprovalsHandle;
use palyra_runtime::runs::RunsHandle;
use palyra_types::SessionId;
use palyra_types::access::AccessScope;
use palyra_types::approval::ApprovalRecord;
use palyra_types::effect::EffectRecord;
use palyra_types::learning::{CandidateKind, CandidateRecord};
use palyra_types::surface::WorkspaceRootSource;
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
            learned: self.state.admin.memories.watch_learned(),
        };
        let reader = AttentionReader::of(self, caller, message.workspace_root);
        let reach = self.state.admin.access.count_stream(caller);
        Ok(respond_until(self.stop.clone(), 1, |response_tx| async move {
            let _reach = reach;
            send_lists(&reader, changes, &response_tx).await
        }))
    }
}

/// What can make another list: commits, schedules, what is learned, and who is who, since a rule can name the approvers by their role.
struct AttentionSignals {
    tapes: watch::Receiver<u64>,
    access: watch::Receiver<Arc<AccessSnapshot>>,
    schedules: watch::Receiver<u64>,
    learned: watch::Receiver<u64>,
}

impl AttentionSignals {
    /// Waits for the next one; returns at once where the daemon has ended.
    async fn changed(&mut self) {
        tokio::select! {
            _ = self.tapes.changed() => {}
            _ = self.access.changed() => {}
            _ = self.schedules.changed() => {}
            _ = self.learned.changed() => {}
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
    attention: AttentionHandle,
    approvals: ApprovalsHandle,
    runs: RunsHandle,
    health: HealthHandle,
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
            attention: state.waiting.attention.clone(),
            approvals: state.waiting.approvals.clone(),
            runs: state.runs.clone(),
            health: state.health.clone(),
            caller,
            folder,
        }
    }

    async fn list(&self) -> Result<v1::ListAttentionResponse, ApiError> {
        let caller = self.caller;
        let query = AttentionQuery {
            principal: caller.actor.principal,
            has_schedules: caller.scopes.contains(AccessScope::Schedules),
            // Only an owner can do something about an incident.
            has_daemon: caller.is_owner(),
        };
        let AttentionList { things, has_more } =
            self.attention.waiting(query, self.approvals.seen_by(caller)).await?;
        let mut items: Vec<v1::AttentionItem> = things.iter().filter_map(|thing| self.item(thing)).collect();
        if let Some(folder) = &self.folder {
            let here = self.runs_here(&things, folder).await?;
            for item in &mut items {
                item.here = here.contains(&item.run_id);
            }
        }
        Ok(v1::ListAttentionResponse { items, more: has_more })
    }

    fn item(&self, thing: &WaitingThing) -> Option<v1::AttentionItem> {
        let item = match thing {
            WaitingThing::Approval(record) => approval(record),
            WaitingThing::Run { run, need } => v1::AttentionItem {
                kind: kind_of(*need).into(),
                run_id: run.run.to_string(),
                session_id: run.session.to_string(),
                about: run.input_preview.expose().clone(),
                run_waits: true,
                ..Default::default()
            },
            WaitingThing::Effect { effect, run_waits } => {
                v1::AttentionItem { run_waits: *run_waits, ..unknown_outcome(effect) }
            }
            WaitingThing::Incident(record) => incident(&self.health.incident_view((**record).clone())),
            // An incident of self-healing says so where a person is needed.
            WaitingThing::FailedTask(_) => return None,
            WaitingThing::Schedule(waiting) => schedule_item(waiting),
            WaitingThing::Review(record) => review(record),
        };
        Some(v1::AttentionItem { since: translate::timestamp(thing.since()), ..item })
    }

    /// Returns the runs of a folder that can have items: those that are open, and those of sessions with an unknown outcome,
    /// which can be over.
    async fn runs_here(&self, things: &[WaitingThing], folder: &Path) -> Result<BTreeSet<String>, ApiError> {
        let caller = self.caller;
        let limit = RECORD_PAGE_ROWS_MAX;
        let principal = caller.actor.principal;
        let open = RunQuery { principal, session: None, only: RunFilter::Open, before: None, limit };
        let session_of = |thing: &WaitingThing| match thing {
            WaitingThing::Effect { effect, .. } => Some(effect.session),
            _ => None,
        };
        let sessions: BTreeSet<SessionId> = things.iter().filter_map(session_of).collect();
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

fn schedule_item(waiting: &WaitingSchedule) -> v1::AttentionItem {
    let kind = match waiting.wait {
        ScheduleWait::Paused => v1::AttentionKind::SchedulePaused,
        ScheduleWait::Reminder { .. } => v1::AttentionKind::Reminder,
    };
    v1::AttentionItem {
        kind: kind.into(),
        schedule_id: waiting.schedule.to_string(),
        about: first_line(waiting.about.expose()),
        ..Default::default()
    }
}

fn kind_of(need: RunNeed) -> v1::AttentionKind {
    match need {
        RunNeed::Answer => v1::AttentionKind::Question,
        RunNeed::LoopCheck => v1::AttentionKind::Loop,
        RunNeed::NewerVersion => v1::AttentionKind::UnknownEntry,
        RunNeed::Budget => v1::AttentionKind::Budget,
        RunNeed::WordsAfterOutcome => v1::AttentionKind::UnknownOutcome,
    }
}

fn review(record: &CandidateRecord) -> v1::AttentionItem {
    let first = record.proposed.evidence.first();
    v1::AttentionItem {
        kind: v1::AttentionKind::Review.into(),
        run_id: first.map(|cited| cited.run.to_string()).unwrap_or_default(),
        session_id: record.session.map(|session| session.to_string()).unwrap_or_default(),
        candidate_id: record.proposed.candidate.to_string(),
        about: if record.proposed.kind == CandidateKind::Procedure {
            "a procedure".to_owned()
        } else {
            first_line(record.proposed.text.expose())
        },
        ..Default::default()
    }
}

fn approval(record: &ApprovalRecord) -> v1::AttentionItem {
    let tool = record.prompt.tool.expose();
    let summary = record.prompt.summary.expose();
    let about = if summary.is_empty() { tool.clone() } else { format!("{tool}: {summary}") };
    v1::AttentionItem {
        kind: v1::AttentionKind::Approval.into(),
        run_id: record.run.to_string(),
        session_id: record.session.to_string(),
        approval_id: record.approval.to_string(),
        about,
        risk: translate::risk(record.risk),
        run_waits: true,
        ..Default::default()
    }
}

fn unknown_outcome(record: &EffectRecord) -> v1::AttentionItem {
    v1::AttentionItem {
        kind: v1::AttentionKind::UnknownOutcome.into(),
        run_id: record.run.to_string(),
        session_id: record.session.to_string(),
        effect_id: record.effect.0,
        about: record.tool.expose().clone(),
        ..Default::default()
    }
}

fn incident(view: &IncidentView) -> v1::AttentionItem {
    let opened = &view.record.opened;
    let cause = opened.cause.as_str().replace('_', " ");
    v1::AttentionItem {
        kind: v1::AttentionKind::Incident.into(),
        incident_id: opened.incident.to_string(),
        about: if view.subject.is_empty() { cause } else { format!("{cause}: {}", view.subject) },
        ..Default::default()
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
