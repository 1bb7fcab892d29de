//! One place where an event meets its encoder, and stored bytes their decoder.

use palyra_types::event::kind::{EventKind, KindPlace};
use palyra_types::event::{
    AgentEvent, ApprovalEvent, EffectEvent, JournalEvent, LogEvent, PolicyEvent, RunEvent, TapeEvent,
    ToolEvent,
};

use super::decoders::decode_known;
use super::field::{EncodedParts, MalformedEvent, UnreadableEvent, check_version};
use super::{
    access_entries as access, approval_entries as approval, budget_entries as budget,
    client_tool_entries as client_tool, component_entries as component, delivery_entries as delivery,
    effect_entries as effect, incident_entries as incident, job_entries as job, learning_entries as learning,
    log_entries as log, memory_entries as memory, model_entries as model, policy_entries as policy,
    project_entries as project, proof_entries as proof, reference_entries as reference, run_entries as run,
    schedule_entries as schedule, session_entries as session, skill_entries as skill, task_entries as task,
    tool_entries as tool, vault_entries as vault,
};

/// An event in its stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodedEvent {
    /// Number in the registry.
    pub kind: u16,
    /// Clear, for ever.
    pub facts: Vec<u8>,
    /// Erasable; empty when the event has no content.
    pub payload: Vec<u8>,
}

/// An event that was read as unknown cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotStorable;

/// Returns the stored form of an event.
pub fn encode(event: &JournalEvent) -> Result<CodedEvent, NotStorable> {
    let kind = event.kind().ok_or(NotStorable)?;
    let (facts, payload) = match event {
        JournalEvent::Log(event) => encode_log(event),
        JournalEvent::Access(event) => access::encode(event),
        JournalEvent::Agent(event) => encode_agent(event),
        JournalEvent::Session(event) => session::encode(event),
        JournalEvent::Effect(event) => encode_effect(event),
        JournalEvent::Policy(event) => encode_policy(event),
        JournalEvent::Skill(event) => skill::encode(event),
        JournalEvent::Component(event) => component::encode(event),
        JournalEvent::Job(event) => job::encode(event),
        JournalEvent::Vault(event) => vault::encode(event),
        JournalEvent::Memory(event) => memory::encode(event),
        JournalEvent::Learning(event) => learning::encode(event),
        JournalEvent::Budget(event) => budget::encode(event),
        JournalEvent::Task(event) => task::encode(event),
        JournalEvent::Schedule(event) => schedule::encode(event),
        JournalEvent::Incident(event) => incident::encode(event),
        JournalEvent::Delivery(event) => delivery::encode(event),
        JournalEvent::Tape(TapeEvent::Run(event)) => encode_run(event),
        JournalEvent::Tape(TapeEvent::Model(event)) => model::encode(event),
        JournalEvent::Tape(TapeEvent::Tool(event)) => encode_tool(event),
        JournalEvent::Tape(TapeEvent::Approval(event)) => encode_approval(event),
        JournalEvent::Unknown { .. } | JournalEvent::Tape(TapeEvent::Unknown { .. }) => {
            return Err(NotStorable);
        }
    };
    Ok(CodedEvent { kind: kind.number(), facts, payload })
}

fn encode_log(event: &LogEvent) -> EncodedParts {
    match event {
        LogEvent::Opened { log_id, nonce, first_key } => log::encode_opened(*log_id, nonce, first_key),
        LogEvent::EpochStarted { epoch, key, sealing } => log::encode_epoch(*epoch, key, *sealing),
        LogEvent::Erased { authoriser, reason, ranges } => proof::encode_erased(*authoriser, *reason, ranges),
        LogEvent::Reopened { log_id, nonce, key, abandoned, reason } => {
            proof::encode_reopened(*log_id, nonce, key, *abandoned, *reason)
        }
    }
}

fn encode_agent(event: &AgentEvent) -> EncodedParts {
    match event {
        AgentEvent::Saved { agent, profile } => log::encode_agent(*agent, profile),
        AgentEvent::Archived { agent } => log::encode_agent_archived(*agent),
    }
}

fn encode_policy(event: &PolicyEvent) -> EncodedParts {
    match event {
        PolicyEvent::GrantRevoked { grant, by } => approval::encode_grant_revoked(*grant, *by),
        PolicyEvent::PostureChanged(changed) => policy::encode_posture(changed),
        PolicyEvent::ShadowCounted(counts) => policy::encode_shadow(counts),
        PolicyEvent::ProjectRulesAccepted(file) => project::encode_accepted(file),
        PolicyEvent::ProjectRulesWithdrawn(accepted) => project::encode_withdrawn(*accepted),
    }
}

fn encode_effect(event: &EffectEvent) -> EncodedParts {
    match event {
        EffectEvent::Settled(settled) => effect::encode_settled(settled),
        EffectEvent::UndoRequested(requested) => effect::encode_undo_requested(requested),
        EffectEvent::UndoFinished { undo, run, files } => effect::encode_undo_finished(*undo, *run, files),
    }
}

fn encode_run(event: &RunEvent) -> EncodedParts {
    match event {
        RunEvent::Started(started) => run::encode_started(started),
        RunEvent::InputReceived { input, delivery, idempotency } => {
            run::encode_input(input, *delivery, *idempotency)
        }
        RunEvent::Held { cause } => run::encode_hold(*cause),
        RunEvent::LoopDetected { guard, repeats } => run::encode_loop(*guard, *repeats),
        RunEvent::CancelRequested { actor, reason } => run::encode_cancel(*actor, *reason),
        RunEvent::ClientToolsOffered(offer) => client_tool::encode_offered(offer),
        RunEvent::ClientToolsCalled(called) => client_tool::encode_called(called),
        RunEvent::ClientToolsAnswered(answered) => client_tool::encode_answered(answered),
        RunEvent::ReferencesExpanded(expanded) => reference::encode_expanded(expanded),
        RunEvent::BudgetReached { resumes, explanation } => budget::encode_reached(*resumes, explanation),
        RunEvent::SoftLimitNoted { explanation } => budget::encode_noted(explanation),
        RunEvent::Finished(finished) => run::encode_finished(finished),
    }
}

fn encode_tool(event: &ToolEvent) -> EncodedParts {
    match event {
        ToolEvent::Proposed(proposed) => tool::encode_proposed(proposed),
        ToolEvent::Decided(decided) => tool::encode_decided(decided),
        ToolEvent::Started(started) => effect::encode_started(started),
        ToolEvent::Output(output) => effect::encode_output(output),
        ToolEvent::Finished(finished) => tool::encode_finished(finished),
        ToolEvent::OutcomeUnknown { effect, cause } => tool::encode_unknown(*effect, *cause),
        ToolEvent::EffectResolved { effect, resolution, by, note } => {
            effect::encode_resolved(*effect, *resolution, *by, note)
        }
    }
}

fn encode_approval(event: &ApprovalEvent) -> EncodedParts {
    match event {
        ApprovalEvent::Requested(requested) => approval::encode_requested(requested),
        ApprovalEvent::Voted(voted) => approval::encode_voted(voted),
        ApprovalEvent::Resolved(resolved) => approval::encode_resolved(resolved),
        ApprovalEvent::GrantStored(stored) => approval::encode_grant(stored),
    }
}

/// Returns the event behind stored bytes; without the payload its content fields are empty.
///
/// A kind, version or enum value that this version does not know yields an unknown event.
pub fn decode(
    kind: u16,
    place: KindPlace,
    facts: &[u8],
    payload: &[u8],
) -> Result<JournalEvent, MalformedEvent> {
    let read = match EventKind::from_number(kind) {
        Some(known) => check_version(facts).and_then(|()| decode_known(known, place, facts, payload)),
        None => Err(UnreadableEvent::Newer),
    };
    match (read, place) {
        (Ok(event), _) => Ok(event),
        (Err(UnreadableEvent::Malformed), _) => Err(MalformedEvent),
        (Err(UnreadableEvent::Newer), KindPlace::Log) => Ok(JournalEvent::Unknown { kind }),
        (Err(UnreadableEvent::Newer), KindPlace::Tape) => Ok(JournalEvent::Tape(TapeEvent::Unknown { kind })),
    }
}
