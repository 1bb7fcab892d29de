//! Entries of the journal without their content, and the words for their kinds.

use palyra_types::PrincipalId;
use palyra_types::component::ComponentEvent;
use palyra_types::event::{
    AccessEvent, AgentEvent, ApprovalEvent, EffectEvent, JournalEvent, LogEvent, ModelEvent, PolicyEvent,
    RunEvent, SessionEvent, TapeEvent, ToolEvent,
};
use palyra_types::job::JobEvent;
use palyra_types::proof::ErasureReason;
use palyra_types::skill::SkillEvent;
use palyra_types::tape::{ContentState, JournalEventRecord};
use palyra_types::vault::VaultEvent;
use palyra_wire::v1;

use super::plain::{hex, timestamp};

/// Returns an entry as a caller sees it: its envelope and what an erasure says of itself, never its content.
pub(crate) fn journal_entry(record: &JournalEventRecord, caller: PrincipalId) -> v1::JournalEntry {
    let (erased_ranges, reason, authoriser) = match &record.event {
        JournalEvent::Log(LogEvent::Erased { authoriser, reason, ranges }) => {
            let ranges = ranges.iter().map(|range| v1::SeqRange { first: range.first.0, last: range.last.0 });
            (ranges.collect(), erasure_reason(*reason), Some(*authoriser))
        }
        _ => (Vec::new(), "", None),
    };
    let principal = (record.principal != PrincipalId::NIL).then(|| record.principal.to_string());
    v1::JournalEntry {
        seq: record.seq.0,
        epoch: record.epoch.0,
        time: timestamp(record.time),
        kind: journal_kind(&record.event),
        principal_id: principal.unwrap_or_default(),
        session_id: record.session.map(|session| session.to_string()).unwrap_or_default(),
        run_id: record.run.map(|(run, _)| run.to_string()).unwrap_or_default(),
        tape_seq: record.run.map(|(_, tape_seq)| tape_seq.0).unwrap_or_default(),
        leaf: hex(&record.leaf),
        erased: record.content == ContentState::Erased,
        erased_ranges,
        erasure_reason: reason.to_owned(),
        erased_by_you: authoriser == Some(caller),
    }
}

fn erasure_reason(reason: ErasureReason) -> &'static str {
    match reason {
        ErasureReason::Request => "request",
        ErasureReason::Retention => "retention",
        ErasureReason::LeakedSecret => "leaked_secret",
    }
}

/// Returns the word for what an entry is.
pub(crate) fn journal_kind(event: &JournalEvent) -> String {
    let name = match event {
        JournalEvent::Log(LogEvent::Opened { .. }) => "log_opened",
        JournalEvent::Log(LogEvent::EpochStarted { .. }) => "epoch_started",
        JournalEvent::Log(LogEvent::Erased { .. }) => "erased",
        JournalEvent::Log(LogEvent::Reopened { .. }) => "log_reopened",
        JournalEvent::Access(AccessEvent::PrincipalRegistered { .. }) => "principal_registered",
        JournalEvent::Access(AccessEvent::TokenCreated { .. }) => "token_created",
        JournalEvent::Access(AccessEvent::TokenRevoked { .. }) => "token_revoked",
        JournalEvent::Agent(AgentEvent::Saved { .. }) => "agent_saved",
        JournalEvent::Agent(AgentEvent::Archived { .. }) => "agent_archived",
        JournalEvent::Session(SessionEvent::Opened { .. }) => "session_opened",
        JournalEvent::Session(SessionEvent::Reset { .. }) => "session_reset",
        JournalEvent::Session(SessionEvent::Renamed { .. }) => "session_renamed",
        JournalEvent::Session(SessionEvent::Archived { .. }) => "session_archived",
        JournalEvent::Session(SessionEvent::Restored { .. }) => "session_restored",
        JournalEvent::Policy(PolicyEvent::GrantRevoked { .. }) => "grant_revoked",
        JournalEvent::Effect(EffectEvent::Settled(_)) => "effect_settled",
        JournalEvent::Effect(EffectEvent::UndoRequested(_)) => "undo_requested",
        JournalEvent::Effect(EffectEvent::UndoFinished { .. }) => "undo_finished",
        JournalEvent::Skill(event) => skill_kind(event),
        JournalEvent::Job(JobEvent::Started { .. }) => "job_started",
        JournalEvent::Job(JobEvent::Ended { .. }) => "job_ended",
        JournalEvent::Policy(PolicyEvent::PostureChanged(_)) => "posture_changed",
        JournalEvent::Policy(PolicyEvent::ShadowCounted(_)) => "shadow_counted",
        JournalEvent::Component(ComponentEvent::Added(_)) => "component_added",
        JournalEvent::Component(ComponentEvent::Removed { .. }) => "component_removed",
        JournalEvent::Vault(event) => vault_kind(event),
        JournalEvent::Tape(event) => return tape_kind(event),
        JournalEvent::Unknown { kind } => return format!("unknown_{kind}"),
    };
    name.to_owned()
}

fn skill_kind(event: &SkillEvent) -> &'static str {
    match event {
        SkillEvent::Installed(_) => "skill_installed",
        SkillEvent::Enabled { .. } => "skill_enabled",
        SkillEvent::Disabled { .. } => "skill_disabled",
        SkillEvent::Quarantined { .. } => "skill_quarantined",
        SkillEvent::Removed { .. } => "skill_removed",
    }
}

fn vault_kind(event: &VaultEvent) -> &'static str {
    match event {
        VaultEvent::Put(_) => "secret_put",
        VaultEvent::Bound { .. } => "secret_bound",
        VaultEvent::Removed { .. } => "secret_removed",
        VaultEvent::Unlocked { .. } => "vault_unlocked",
        VaultEvent::PassphraseSet { .. } => "vault_passphrase_set",
        VaultEvent::Used(_) => "secret_used",
    }
}

fn tape_kind(event: &TapeEvent) -> String {
    let name = match event {
        TapeEvent::Run(RunEvent::Started(_)) => "run_started",
        TapeEvent::Run(RunEvent::InputReceived { .. }) => "input_received",
        TapeEvent::Model(ModelEvent::Requested(_)) => "model_requested",
        TapeEvent::Model(ModelEvent::Text { .. }) => "model_text",
        TapeEvent::Model(ModelEvent::Reasoning { .. }) => "model_reasoning",
        TapeEvent::Model(ModelEvent::Message(_)) => "model_message",
        TapeEvent::Model(ModelEvent::AttemptAbandoned { .. }) => "model_attempt_abandoned",
        TapeEvent::Tool(ToolEvent::Proposed(_)) => "tool_proposed",
        TapeEvent::Tool(ToolEvent::Decided(_)) => "tool_decided",
        TapeEvent::Tool(ToolEvent::Started(_)) => "tool_started",
        TapeEvent::Tool(ToolEvent::Output(_)) => "tool_output",
        TapeEvent::Tool(ToolEvent::Finished(_)) => "tool_finished",
        TapeEvent::Tool(ToolEvent::OutcomeUnknown { .. }) => "tool_outcome_unknown",
        TapeEvent::Tool(ToolEvent::EffectResolved { .. }) => "effect_resolved",
        TapeEvent::Approval(ApprovalEvent::Requested(_)) => "approval_requested",
        TapeEvent::Approval(ApprovalEvent::Voted(_)) => "approval_voted",
        TapeEvent::Approval(ApprovalEvent::Resolved(_)) => "approval_resolved",
        TapeEvent::Approval(ApprovalEvent::GrantStored(_)) => "grant_stored",
        TapeEvent::Run(RunEvent::LoopDetected { .. }) => "loop_detected",
        TapeEvent::Run(RunEvent::Held { .. }) => "run_held",
        TapeEvent::Run(RunEvent::CancelRequested { .. }) => "cancel_requested",
        TapeEvent::Run(RunEvent::Finished(_)) => "run_finished",
        TapeEvent::Unknown { kind } => return format!("unknown_{kind}"),
    };
    name.to_owned()
}
