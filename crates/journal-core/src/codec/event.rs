//! One place where a kind meets its encoder and its decoder.

use palyra_types::event::{JournalEvent, TapeEvent};

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
        JournalEvent::LogOpened { log_id, nonce, first_key } => {
            (Kind::LogOpened, log::encode_opened(*log_id, nonce, first_key))
        }
        JournalEvent::EpochStarted { epoch, key, sealing } => {
            (Kind::EpochStarted, log::encode_epoch(*epoch, key, *sealing))
        }
        JournalEvent::Erased { authoriser, reason, ranges } => {
            (Kind::Erased, proof::encode_erased(*authoriser, *reason, ranges))
        }
        JournalEvent::LogReopened { log_id, nonce, key, abandoned, reason } => {
            (Kind::LogReopened, proof::encode_reopened(*log_id, (nonce, key), *abandoned, *reason))
        }
        JournalEvent::PrincipalRegistered { principal, name } => {
            (Kind::PrincipalRegistered, log::encode_principal(*principal, name))
        }
        JournalEvent::TokenCreated { token, sha256, expires, label } => {
            (Kind::TokenCreated, log::encode_token(*token, sha256, *expires, label))
        }
        JournalEvent::TokenRevoked { token } => (Kind::TokenRevoked, log::encode_token_revoked(*token)),
        JournalEvent::AgentSaved { agent, profile } => (Kind::AgentSaved, log::encode_agent(*agent, profile)),
        JournalEvent::AgentArchived { agent } => (Kind::AgentArchived, log::encode_agent_archived(*agent)),
        JournalEvent::SessionOpened { session, agent, key, label, branched_from } => (
            Kind::SessionOpened,
            log::encode_session((*session, *agent), key.as_ref(), label.as_ref(), branched_from.as_ref()),
        ),
        JournalEvent::SessionRenamed { session, label } => {
            (Kind::SessionRenamed, log::encode_session_renamed(*session, label.as_ref()))
        }
        JournalEvent::SessionArchived { session } => {
            (Kind::SessionArchived, log::encode_session_archived(*session))
        }
        JournalEvent::SessionRestored { session } => {
            (Kind::SessionRestored, log::encode_session_restored(*session))
        }
        JournalEvent::SessionReset { session } => (Kind::SessionReset, log::encode_session_reset(*session)),
        JournalEvent::GrantRevoked { grant, by } => {
            (Kind::GrantRevoked, approval::encode_grant_revoked(*grant, *by))
        }
        JournalEvent::EffectSettled(settled) => (Kind::EffectSettled, effect::encode_settled(settled)),
        JournalEvent::UndoRequested(requested) => {
            (Kind::UndoRequested, effect::encode_undo_requested(requested))
        }
        JournalEvent::UndoFinished { undo, run, files } => {
            (Kind::UndoFinished, effect::encode_undo_finished(*undo, *run, files))
        }
        JournalEvent::Skill(event) => skill::encode(event),
        JournalEvent::Component(event) => component::encode(event),
        JournalEvent::Job(event) => job::encode(event),
        JournalEvent::PostureChanged(changed) => (Kind::PostureChanged, policy::encode_posture(changed)),
        JournalEvent::ShadowCounted(counts) => (Kind::ShadowCounted, policy::encode_shadow(counts)),
        JournalEvent::Vault(event) => vault::encode(event),
        JournalEvent::Unknown { .. } => return Err(NotStorable),
    };
    Ok(Coded { kind: kind.number(), facts, payload })
}

fn encode_tape(event: &TapeEvent) -> Result<(Kind, Pair), NotStorable> {
    Ok(match event {
        TapeEvent::RunStarted(started) => (Kind::RunStarted, run::encode_started(started)),
        TapeEvent::InputReceived { input, delivery, idempotency } => {
            (Kind::InputReceived, run::encode_input(input, *delivery, *idempotency))
        }
        TapeEvent::RunHeld { cause } => (Kind::RunHeld, run::encode_held(*cause)),
        TapeEvent::LoopDetected { guard, repeats } => {
            (Kind::LoopDetected, run::encode_loop(*guard, *repeats))
        }
        TapeEvent::CancelRequested { actor, reason } => {
            (Kind::CancelRequested, run::encode_cancel(*actor, *reason))
        }
        TapeEvent::RunFinished(finished) => (Kind::RunFinished, run::encode_finished(finished)),
        TapeEvent::ModelRequested(requested) => (Kind::ModelRequested, model::encode_requested(requested)),
        TapeEvent::ModelText { attempt, text } => (Kind::ModelText, model::encode_text(*attempt, text)),
        TapeEvent::ModelReasoning { attempt, text } => {
            (Kind::ModelReasoning, model::encode_reasoning(*attempt, text))
        }
        TapeEvent::ModelMessage(message) => (Kind::ModelMessage, model::encode_message(message)),
        TapeEvent::ModelAttemptAbandoned { attempt, text_from, text_to, cause, next, retry_at, detail } => {
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
        TapeEvent::ToolProposed(proposed) => (Kind::ToolProposed, tool::encode_proposed(proposed)),
        TapeEvent::ToolDecided(decided) => (Kind::ToolDecided, tool::encode_decided(decided)),
        TapeEvent::ToolStarted(started) => (Kind::ToolStarted, effect::encode_started(started)),
        TapeEvent::ToolOutput(output) => (Kind::ToolOutput, effect::encode_output(output)),
        TapeEvent::ToolFinished(finished) => (Kind::ToolFinished, tool::encode_finished(finished)),
        TapeEvent::ToolOutcomeUnknown { effect, cause } => {
            (Kind::ToolOutcomeUnknown, tool::encode_unknown(*effect, *cause))
        }
        TapeEvent::EffectResolved { effect, resolution, by, note } => {
            (Kind::EffectResolved, effect::encode_resolved(*effect, *resolution, *by, note))
        }
        TapeEvent::ApprovalRequested(requested) => {
            (Kind::ApprovalRequested, approval::encode_requested(requested))
        }
        TapeEvent::ApprovalVoted(voted) => (Kind::ApprovalVoted, approval::encode_voted(voted)),
        TapeEvent::ApprovalResolved(resolved) => {
            (Kind::ApprovalResolved, approval::encode_resolved(resolved))
        }
        TapeEvent::GrantStored(stored) => (Kind::GrantStored, approval::encode_grant(stored)),
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
