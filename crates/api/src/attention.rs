//! What waits for a person, in one list: the projection that every surface counts and shows.
//!
//! Invariant: each thing is listed once, as what settles it: a run that waits for an approval or for an outcome is that
//! approval or that call.

use std::collections::BTreeSet;
use std::path::PathBuf;

use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery};
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, RunFilter, RunQuery};
use palyra_runtime::Caller;
use palyra_types::approval::ApprovalRecord;
use palyra_types::effect::EffectRecord;
use palyra_types::run::{RunPhase, RunRecord, WaitReason};
use palyra_types::surface::WorkspaceRootSource;
use palyra_types::{RunId, SessionId, Timestamp};
use palyra_wire::v1;

use crate::api_error::ApiError;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Answers `ListAttention`.
    pub async fn list_attention(
        &self,
        caller: Caller,
        message: v1::ListAttentionRequest,
    ) -> Result<v1::ListAttentionResponse, ApiError> {
        let limit = RECORD_PAGE_ROWS_MAX;
        let approvals =
            ApprovalQuery { principal: None, run: None, only: ApprovalFilter::Pending, before: None, limit };
        let principal = caller.actor.principal;
        let runs = RunQuery { principal, session: None, only: RunFilter::Open, before: None, limit };
        let effects = EffectQuery {
            principal: Some(principal),
            run: None,
            only: EffectFilter::Unknown,
            before: None,
            limit,
        };
        let approvals = self.state.approvals.list(caller, approvals).await?;
        let runs = self.state.runs.list(caller, runs, None).await?;
        let effects = self.state.runs.effects(caller, effects).await?;
        let more = approvals.next.is_some() || runs.next.is_some() || effects.len() >= limit;
        let mut items = items(&approvals.records, &runs.runs, &effects);
        let knows_folders = caller.actor.surface.profile().workspace_root == WorkspaceRootSource::Client;
        if knows_folders && !message.workspace_root.is_empty() {
            let here = self.runs_here(caller, &effects, PathBuf::from(message.workspace_root)).await?;
            for item in &mut items {
                item.here = here.contains(&item.run_id);
            }
        }
        Ok(v1::ListAttentionResponse { items, more })
    }

    /// Returns the runs of a folder that can have items: those that are open, and those of sessions with an unknown outcome,
    /// which can be over.
    async fn runs_here(
        &self,
        caller: Caller,
        effects: &[EffectRecord],
        folder: PathBuf,
    ) -> Result<BTreeSet<String>, ApiError> {
        let principal = caller.actor.principal;
        let limit = RECORD_PAGE_ROWS_MAX;
        let open = RunQuery { principal, session: None, only: RunFilter::Open, before: None, limit };
        let sessions: BTreeSet<SessionId> = effects.iter().map(|effect| effect.session).collect();
        let over = sessions.into_iter().map(|session| RunQuery {
            session: Some(session),
            only: RunFilter::Finished,
            ..open.clone()
        });
        let mut here = BTreeSet::new();
        for query in std::iter::once(open.clone()).chain(over) {
            let page = self.state.runs.list(caller, query, Some(folder.clone())).await?;
            here.extend(page.runs.into_iter().map(|run| run.run.to_string()));
        }
        Ok(here)
    }
}

/// Returns what waits, newest first.
fn items(
    approvals: &[ApprovalRecord],
    runs: &[RunRecord],
    effects: &[EffectRecord],
) -> Vec<v1::AttentionItem> {
    let mut items: Vec<(Timestamp, v1::AttentionItem)> = approvals.iter().map(approval).collect();
    let mut waiting = BTreeSet::new();
    for run in runs {
        let RunPhase::Waiting(reason) = run.phase else { continue };
        waiting.insert(run.run);
        let Some(kind) = kind_of(reason) else { continue };
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
    items.sort_by_key(|(since, _)| std::cmp::Reverse(*since));
    items.into_iter().map(|(_, item)| item).collect()
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

/// Returns what a run waits for that has no item of its own.
fn kind_of(reason: WaitReason) -> Option<v1::AttentionKind> {
    match reason {
        WaitReason::Question => Some(v1::AttentionKind::Question),
        WaitReason::LoopCheck => Some(v1::AttentionKind::Loop),
        WaitReason::UnknownKind => Some(v1::AttentionKind::UnknownEntry),
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
