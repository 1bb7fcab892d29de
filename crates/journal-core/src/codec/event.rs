//! One place where a kind meets its encoder and its decoder.

use palyra_types::event::{
    AccessEvent, AgentEvent, ApprovalEvent, EffectEvent, JournalEvent, LogEvent, ModelEvent, PolicyEvent,
    RunEvent, SessionEvent, TapeEvent, ToolEvent,
};

use super::field::{Malformed, Pair, Read, Unreadable, check_version};
use super::{
    approval_entries as approval, component_entries as component, effect_entries as effect,
    job_entries as job, log_entries as log, model_entries as model, policy_entries as policy,
    proof_entries as proof, run_entries as run, skill_entries as skill, tool_entries as tool,
    vault_entries as vault,
};
use crate::kinds::Kind;

/// An event in its stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coded {
    /// Number in the registry.
    pub kind: u16,
    /// Clear, for ever.
    pub facts: Vec<u8>,
    /// Erasable; empty when the event has no content.
    pub payload: Vec<u8>,
}

/// Where an entry stands: an unknown kind is reported accordingly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// On a run's tape.
    Tape,
    /// In the journal only.
    Log,
}

/// An event that was read as unknown cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotStorable;

/// Returns the stored form of an event.
pub fn encode(event: &JournalEvent) -> Result<Coded, NotStorable> {
    let (kind, (facts, payload)) = match event {
        JournalEvent::Tape(event) => encode_tape(event)?,
        JournalEvent::Log(LogEvent::Opened { log_id, nonce, first_key }) => {
            (Kind::LogOpened, log::encode_opened(*log_id, nonce, first_key))
        }
        JournalEvent::Log(LogEvent::EpochStarted { epoch, key, sealing }) => {
            (Kind::EpochStarted, log::encode_epoch(*epoch, key, *sealing))
        }
        JournalEvent::Log(LogEvent::Erased { authoriser, reason, ranges }) => {
            (Kind::Erased, proof::encode_erased(*authoriser, *reason, ranges))
        }
        JournalEvent::Log(LogEvent::Reopened { log_id, nonce, key, abandoned, reason }) => {
            (Kind::LogReopened, proof::encode_reopened(*log_id, (nonce, key), *abandoned, *reason))
        }
        JournalEvent::Access(AccessEvent::PrincipalRegistered { principal, name }) => {
            (Kind::PrincipalRegistered, log::encode_principal(*principal, name))
        }
        JournalEvent::Access(AccessEvent::TokenCreated { token, sha256, expires, label }) => {
            (Kind::TokenCreated, log::encode_token(*token, sha256, *expires, label))
        }
        JournalEvent::Access(AccessEvent::TokenRevoked { token }) => {
            (Kind::TokenRevoked, log::encode_token_revoked(*token))
        }
        JournalEvent::Agent(AgentEvent::Saved { agent, profile }) => {
            (Kind::AgentSaved, log::encode_agent(*agent, profile))
        }
        JournalEvent::Agent(AgentEvent::Archived { agent }) => {
            (Kind::AgentArchived, log::encode_agent_archived(*agent))
        }
        JournalEvent::Session(SessionEvent::Opened { session, agent, key, label, branched_from }) => (
            Kind::SessionOpened,
            log::encode_session((*session, *agent), key.as_ref(), label.as_ref(), branched_from.as_ref()),
        ),
        JournalEvent::Session(SessionEvent::Renamed { session, label }) => {
            (Kind::SessionRenamed, log::encode_session_renamed(*session, label.as_ref()))
        }
        JournalEvent::Session(SessionEvent::Archived { session }) => {
            (Kind::SessionArchived, log::encode_session_archived(*session))
        }
        JournalEvent::Session(SessionEvent::Restored { session }) => {
            (Kind::SessionRestored, log::encode_session_restored(*session))
        }
        JournalEvent::Session(SessionEvent::Reset { session }) => {
            (Kind::SessionReset, log::encode_session_reset(*session))
        }
        JournalEvent::Policy(PolicyEvent::GrantRevoked { grant, by }) => {
            (Kind::GrantRevoked, approval::encode_grant_revoked(*grant, *by))
        }
        JournalEvent::Effect(EffectEvent::Settled(settled)) => {
            (Kind::EffectSettled, effect::encode_settled(settled))
        }
        JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => {
            (Kind::UndoRequested, effect::encode_undo_requested(requested))
        }
        JournalEvent::Effect(EffectEvent::UndoFinished { undo, run, files }) => {
            (Kind::UndoFinished, effect::encode_undo_finished(*undo, *run, files))
        }
        JournalEvent::Skill(event) => skill::encode(event),
        JournalEvent::Component(event) => component::encode(event),
        JournalEvent::Job(event) => job::encode(event),
        JournalEvent::Policy(PolicyEvent::PostureChanged(changed)) => {
            (Kind::PostureChanged, policy::encode_posture(changed))
        }
        JournalEvent::Policy(PolicyEvent::ShadowCounted(counts)) => {
            (Kind::ShadowCounted, policy::encode_shadow(counts))
        }
        JournalEvent::Vault(event) => vault::encode(event),
        JournalEvent::Unknown { .. } => return Err(NotStorable),
    };
    Ok(Coded { kind: kind.number(), facts, payload })
}

fn encode_tape(event: &TapeEvent) -> Result<(Kind, Pair), NotStorable> {
    Ok(match event {
        TapeEvent::Run(RunEvent::Started(started)) => (Kind::RunStarted, run::encode_started(started)),
        TapeEvent::Run(RunEvent::InputReceived { input, delivery, idempotency }) => {
            (Kind::InputReceived, run::encode_input(input, *delivery, *idempotency))
        }
        TapeEvent::Run(RunEvent::Held { cause }) => (Kind::RunHeld, run::encode_held(*cause)),
        TapeEvent::Run(RunEvent::LoopDetected { guard, repeats }) => {
            (Kind::LoopDetected, run::encode_loop(*guard, *repeats))
        }
        TapeEvent::Run(RunEvent::CancelRequested { actor, reason }) => {
            (Kind::CancelRequested, run::encode_cancel(*actor, *reason))
        }
        TapeEvent::Run(RunEvent::Finished(finished)) => (Kind::RunFinished, run::encode_finished(finished)),
        TapeEvent::Model(ModelEvent::Requested(requested)) => {
            (Kind::ModelRequested, model::encode_requested(requested))
        }
        TapeEvent::Model(ModelEvent::Text { attempt, text }) => {
            (Kind::ModelText, model::encode_text(*attempt, text))
        }
        TapeEvent::Model(ModelEvent::Reasoning { attempt, text }) => {
            (Kind::ModelReasoning, model::encode_reasoning(*attempt, text))
        }
        TapeEvent::Model(ModelEvent::Message(message)) => {
            (Kind::ModelMessage, model::encode_message(message))
        }
        TapeEvent::Model(ModelEvent::AttemptAbandoned {
            attempt,
            text_from,
            text_to,
            cause,
            next,
            retry_at,
            detail,
        }) => {
            let abandoned = model::Abandoned {
                attempt: *attempt,
                text: (*text_from, *text_to),
                cause: *cause,
                next: *next,
                retry_at: *retry_at,
                detail,
            };
            (Kind::ModelAttemptAbandoned, model::encode_abandoned(&abandoned))
        }
        TapeEvent::Tool(ToolEvent::Proposed(proposed)) => {
            (Kind::ToolProposed, tool::encode_proposed(proposed))
        }
        TapeEvent::Tool(ToolEvent::Decided(decided)) => (Kind::ToolDecided, tool::encode_decided(decided)),
        TapeEvent::Tool(ToolEvent::Started(started)) => (Kind::ToolStarted, effect::encode_started(started)),
        TapeEvent::Tool(ToolEvent::Output(output)) => (Kind::ToolOutput, effect::encode_output(output)),
        TapeEvent::Tool(ToolEvent::Finished(finished)) => {
            (Kind::ToolFinished, tool::encode_finished(finished))
        }
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { effect, cause }) => {
            (Kind::ToolOutcomeUnknown, tool::encode_unknown(*effect, *cause))
        }
        TapeEvent::Tool(ToolEvent::EffectResolved { effect, resolution, by, note }) => {
            (Kind::EffectResolved, effect::encode_resolved(*effect, *resolution, *by, note))
        }
        TapeEvent::Approval(ApprovalEvent::Requested(requested)) => {
            (Kind::ApprovalRequested, approval::encode_requested(requested))
        }
        TapeEvent::Approval(ApprovalEvent::Voted(voted)) => {
            (Kind::ApprovalVoted, approval::encode_voted(voted))
        }
        TapeEvent::Approval(ApprovalEvent::Resolved(resolved)) => {
            (Kind::ApprovalResolved, approval::encode_resolved(resolved))
        }
        TapeEvent::Approval(ApprovalEvent::GrantStored(stored)) => {
            (Kind::GrantStored, approval::encode_grant(stored))
        }
        TapeEvent::Unknown { .. } => return Err(NotStorable),
    })
}

/// Returns the event behind stored bytes; without the payload its content fields are empty.
///
/// A kind, version or enum value that this version does not know yields an unknown event.
pub fn decode(kind: u16, place: Place, facts: &[u8], payload: &[u8]) -> Result<JournalEvent, Malformed> {
    let read = match Kind::from_number(kind) {
        Some(known) => check_version(facts).and_then(|()| decode_known(known, place, facts, payload)),
        None => Err(Unreadable::Newer),
    };
    match (read, place) {
        (Ok(event), _) => Ok(event),
        (Err(Unreadable::Malformed), _) => Err(Malformed),
        (Err(Unreadable::Newer), Place::Log) => Ok(JournalEvent::Unknown { kind }),
        (Err(Unreadable::Newer), Place::Tape) => Ok(JournalEvent::Tape(TapeEvent::Unknown { kind })),
    }
}

fn decode_known(kind: Kind, place: Place, facts: &[u8], payload: &[u8]) -> Read<JournalEvent> {
    let event = match place {
        Place::Tape => JournalEvent::Tape(decode_tape(kind, facts, payload)?),
        Place::Log => decode_log(kind, facts, payload)?,
    };
    Ok(event)
}

fn decode_log(kind: Kind, facts: &[u8], payload: &[u8]) -> Read<JournalEvent> {
    match kind {
        Kind::LogOpened => log::decode_opened(facts),
        Kind::EpochStarted => log::decode_epoch(facts),
        Kind::Erased => proof::decode_erased(facts),
        Kind::LogReopened => proof::decode_reopened(facts),
        Kind::PrincipalRegistered => log::decode_principal(facts, payload),
        Kind::TokenCreated => log::decode_token(facts, payload),
        Kind::TokenRevoked => log::decode_token_revoked(facts),
        Kind::AgentSaved => log::decode_agent(facts, payload),
        Kind::AgentArchived => log::decode_agent_archived(facts),
        Kind::SessionOpened => log::decode_session(facts, payload),
        Kind::SessionReset => log::decode_session_reset(facts),
        Kind::SessionRenamed => log::decode_session_renamed(facts, payload),
        Kind::SessionArchived => log::decode_session_archived(facts),
        Kind::SessionRestored => log::decode_session_restored(facts),
        Kind::GrantRevoked => approval::decode_grant_revoked(facts),
        Kind::EffectSettled => effect::decode_settled(facts, payload),
        Kind::UndoRequested => effect::decode_undo_requested(facts, payload),
        Kind::UndoFinished => effect::decode_undo_finished(facts, payload),
        Kind::SkillInstalled => skill::decode_installed(facts, payload),
        Kind::SkillEnabled => skill::decode_enabled(facts),
        Kind::SkillDisabled => skill::decode_disabled(facts),
        Kind::SkillQuarantined => skill::decode_quarantined(facts),
        Kind::SkillRemoved => skill::decode_removed(facts),
        Kind::ComponentAdded => component::decode_added(facts, payload),
        Kind::ComponentRemoved => component::decode_removed(facts),
        Kind::JobStarted => job::decode_started(facts),
        Kind::JobEnded => job::decode_ended(facts),
        Kind::PostureChanged => policy::decode_posture(facts, payload),
        Kind::ShadowCounted => policy::decode_shadow(facts),
        Kind::SecretPut => vault::decode_put(facts, payload),
        Kind::SecretBound => vault::decode_bound(facts, payload),
        Kind::SecretRemoved => vault::decode_removed(facts, payload),
        Kind::VaultUnlocked => vault::decode_unlocked(facts),
        Kind::VaultPassphraseSet => vault::decode_passphrase_set(facts),
        Kind::SecretUsed => vault::decode_used(facts, payload),
        _ => Err(Unreadable::Malformed),
    }
}

fn decode_tape(kind: Kind, facts: &[u8], payload: &[u8]) -> Read<TapeEvent> {
    match kind {
        Kind::RunStarted => run::decode_started(facts, payload),
        Kind::InputReceived => run::decode_input(facts, payload),
        Kind::LoopDetected => run::decode_loop(facts),
        Kind::RunHeld => run::decode_held(facts),
        Kind::CancelRequested => run::decode_cancel(facts),
        Kind::RunFinished => run::decode_finished(facts, payload),
        Kind::ModelRequested => model::decode_requested(facts, payload),
        Kind::ModelText => model::decode_text(facts, payload),
        Kind::ModelMessage => model::decode_message(facts, payload),
        Kind::ModelAttemptAbandoned => model::decode_abandoned(facts, payload),
        Kind::ModelReasoning => model::decode_reasoning(facts, payload),
        Kind::ToolProposed => tool::decode_proposed(facts, payload),
        Kind::ToolDecided => tool::decode_decided(facts, payload),
        Kind::ToolStarted => effect::decode_started(facts, payload),
        Kind::ToolOutput => effect::decode_output(facts, payload),
        Kind::ToolFinished => tool::decode_finished(facts, payload),
        Kind::ToolOutcomeUnknown => tool::decode_unknown(facts),
        Kind::EffectResolved => effect::decode_resolved(facts, payload),
        Kind::ApprovalRequested => approval::decode_requested(facts, payload),
        Kind::ApprovalVoted => approval::decode_voted(facts, payload),
        Kind::ApprovalResolved => approval::decode_resolved(facts, payload),
        Kind::GrantStored => approval::decode_grant(facts, payload),
        _ => Err(Unreadable::Malformed),
    }
}
