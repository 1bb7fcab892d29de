//! What waits for the owner of the daemon, without any words about it.
//!
//! Invariant: of all content only the names of agents are read here.

use std::collections::BTreeMap;

use palyra_journal_core::families::{agents, approvals, effects, incidents, queued_tasks, runs};
use palyra_journal_core::family::{LogView, RowStore, StoreFault};
use palyra_notify::{AttentionItem, AttentionKind, AttentionSubject};
use palyra_ports::read_approvals::{ApprovalFilter, ApprovalQuery, EffectFilter, EffectQuery};
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_queue::{TaskKind, TaskStage};
use palyra_types::incident::IncidentStage;
use palyra_types::run::{RunPhase, WaitReason};
use palyra_types::{AgentId, PrincipalId, RunId};

/// Returns what waits: approvals of every person, since the owner may decide them; runs and calls of the owner; failed
/// tasks and incidents.
pub(crate) fn waiting(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    owner: PrincipalId,
) -> Result<Vec<AttentionItem>, StoreFault> {
    let agents = agents::all(rows)?.into_iter().map(|agent| (agent.id, agent.profile.name.expose().clone()));
    let names = AgentNames(agents.collect());
    let mut items = approval_items(rows, log, &names)?;
    for run in runs::open(rows)?.iter().filter(|run| run.principal == owner) {
        let subject = AttentionSubject::Run { run: run.run, turns: run.turns, tool_calls: run.tool_calls };
        items.extend(waiting_kind(run.phase).map(|kind| AttentionItem {
            kind,
            subject,
            agent: names.of(run.agent),
            risk: None,
            severity: None,
            since: run.updated,
        }));
    }
    items.extend(effect_items(rows, owner, &names)?);
    items.extend(task_items(rows, log)?);
    items.extend(incident_items(rows, log)?);
    Ok(items)
}

struct AgentNames(BTreeMap<AgentId, String>);

impl AgentNames {
    fn of(&self, agent: AgentId) -> String {
        self.0.get(&agent).cloned().unwrap_or_default()
    }

    fn of_run(&self, rows: &mut dyn RowStore, run: RunId) -> Result<String, StoreFault> {
        Ok(runs::record(rows, run)?.map(|run| self.of(run.agent)).unwrap_or_default())
    }
}

fn approval_items(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    names: &AgentNames,
) -> Result<Vec<AttentionItem>, StoreFault> {
    let query = ApprovalQuery {
        principal: None,
        run: None,
        only: ApprovalFilter::Pending,
        before: None,
        limit: RECORD_PAGE_ROWS_MAX,
    };
    let found = approvals::records(rows, log, &query)?;
    let item = |approval: palyra_types::approval::ApprovalRecord| {
        Ok(AttentionItem {
            kind: AttentionKind::Approval,
            subject: AttentionSubject::Approval(approval.approval),
            agent: names.of_run(rows, approval.run)?,
            risk: Some(approval.risk),
            severity: None,
            since: approval.created,
        })
    };
    found.into_iter().map(item).collect()
}

/// Returns what a run waits for that has no item of its own.
fn waiting_kind(phase: RunPhase) -> Option<AttentionKind> {
    let RunPhase::Waiting(reason) = phase else { return None };
    match reason {
        WaitReason::Question => Some(AttentionKind::Question),
        WaitReason::LoopCheck => Some(AttentionKind::Loop),
        WaitReason::UnknownKind => Some(AttentionKind::UnknownEntry),
        WaitReason::Budget => Some(AttentionKind::Budget),
        // The approval or the call is an item of its own, and a program brings results of its functions.
        WaitReason::Approval | WaitReason::OutcomeUnknown | WaitReason::ClientTool => None,
    }
}

fn effect_items(
    rows: &mut dyn RowStore,
    owner: PrincipalId,
    names: &AgentNames,
) -> Result<Vec<AttentionItem>, StoreFault> {
    let query = EffectQuery {
        principal: Some(owner),
        run: None,
        only: EffectFilter::Unknown,
        before: None,
        limit: RECORD_PAGE_ROWS_MAX,
    };
    let found = effects::records(rows, &query)?;
    let item = |effect: palyra_types::effect::EffectRecord| {
        Ok(AttentionItem {
            kind: AttentionKind::UnknownOutcome,
            subject: AttentionSubject::Effect { run: effect.run, effect: effect.effect },
            agent: names.of_run(rows, effect.run)?,
            risk: None,
            severity: None,
            since: effect.ended.unwrap_or(effect.started),
        })
    };
    found.into_iter().map(item).collect()
}

fn task_items(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<AttentionItem>, StoreFault> {
    let mut items = Vec::new();
    for stage in [TaskStage::DeadLetter, TaskStage::OutcomeUnknown] {
        let query = queued_tasks::TaskQuery {
            stage: Some(stage),
            limit: RECORD_PAGE_ROWS_MAX,
            ..queued_tasks::TaskQuery::default()
        };
        let found = queued_tasks::records(rows, log, &query)?;
        // A notification about a notification that failed would fail as well.
        let found = found.into_iter().filter(|task| task.kind != TaskKind::Notify);
        items.extend(found.map(|task| AttentionItem {
            kind: AttentionKind::FailedTask,
            subject: AttentionSubject::Task { task: task.task, leases: task.fence.0 },
            agent: String::new(),
            risk: None,
            severity: None,
            since: task.changed,
        }));
    }
    Ok(items)
}

fn incident_items(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<AttentionItem>, StoreFault> {
    let found = incidents::unresolved(rows, log)?;
    // While a remedy is at work no person is needed.
    let open = found.into_iter().filter(|incident| incident.stage == IncidentStage::Open);
    let item = |incident: palyra_types::incident::IncidentRecord| AttentionItem {
        kind: AttentionKind::Incident,
        subject: AttentionSubject::Incident(incident.opened.incident),
        agent: String::new(),
        risk: None,
        severity: Some(incident.opened.severity),
        since: incident.created,
    };
    Ok(open.map(item).collect())
}
