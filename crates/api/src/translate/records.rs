//! Runs, sessions and agents as lists show them.

use palyra_types::agent::AgentRecord;
use palyra_types::effect::UndoSummary;
use palyra_types::run::RunRecord;
use palyra_types::session::OrchestratorSessionRecord;
use palyra_wire::v1;

use super::names;
use super::plain::{error_code, run_state, surface, timestamp, token_usage};

/// Returns a run.
pub(crate) fn run(record: &RunRecord) -> v1::Run {
    let (phase, waiting_for) = names::run_phase(record.phase);
    v1::Run {
        run_id: record.run.to_string(),
        session_id: record.session.to_string(),
        agent_id: record.agent.to_string(),
        state: run_state(record.state),
        phase,
        waiting_for,
        reason: record.reason.map(names::termination_reason).unwrap_or_default(),
        error_code: error_code(record.error),
        last_tape_seq: record.last_tape_seq.0,
        created: timestamp(record.created),
        updated: timestamp(record.updated),
        turns: record.turns,
        tool_calls: record.tool_calls,
        usage: Some(token_usage(record.usage)),
        input_preview: record.input_preview.expose().clone(),
        delivery: names::input_delivery(record.delivery),
        undone: None,
        cost: None,
    }
}

/// Returns what became of an undo.
pub(crate) fn run_undo(summary: UndoSummary) -> v1::RunUndo {
    let UndoSummary { ended, restored, skipped } = summary;
    v1::RunUndo { ended: timestamp(ended), restored, skipped }
}

/// Returns a session.
pub(crate) fn session(record: &OrchestratorSessionRecord) -> v1::Session {
    v1::Session {
        session_id: record.session.id.to_string(),
        session_key: record.key.as_ref().map(|key| key.expose().clone()).unwrap_or_default(),
        label: record.label.as_ref().map(|label| label.expose().clone()).unwrap_or_default(),
        agent_id: record.agent.to_string(),
        created: timestamp(record.created),
        updated: timestamp(record.updated),
        runs: record.runs,
        last_run_id: record.last_run.map(|run| run.to_string()).unwrap_or_default(),
        branched_from: record.branched_from.map(|at| v1::BranchPoint {
            run_id: at.run.to_string(),
            tape_seq: at.tape_seq.0,
            session_id: at.session.to_string(),
        }),
        archived: record.archived.and_then(timestamp),
        surface: record.surface.map(surface).unwrap_or_default(),
        recall: names::recall_switch(record.recall),
        runs_before_reset: record.runs_before_reset,
        ..v1::Session::default()
    }
}

/// Returns an agent.
pub(crate) fn agent(record: &AgentRecord) -> v1::Agent {
    let profile = &record.profile;
    v1::Agent {
        agent_id: record.id.to_string(),
        name: profile.name.expose().clone(),
        instructions: profile.instructions.expose().clone(),
        model: profile.model.as_ref().map(ToString::to_string).unwrap_or_default(),
        tools: profile.tools.iter().flatten().map(ToString::to_string).collect(),
        archived: record.archived.is_some(),
        workspace_roots: profile
            .workspace_roots
            .iter()
            .map(|root| root.expose().display().to_string())
            .collect(),
        only_these_tools: profile.tools.is_some(),
        recall: names::recall_switch(profile.recall),
    }
}
