//! Entries of the journal without their content, and the words for their kinds.

use palyra_types::PrincipalId;
use palyra_types::component::ComponentEvent;
use palyra_types::event::{JournalEvent, TapeEvent};
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
        JournalEvent::Erased { authoriser, reason, ranges } => {
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
        JournalEvent::LogOpened { .. } => "log_opened",
        JournalEvent::EpochStarted { .. } => "epoch_started",
        JournalEvent::Erased { .. } => "erased",
        JournalEvent::LogReopened { .. } => "log_reopened",
        JournalEvent::PrincipalRegistered { .. } => "principal_registered",
        JournalEvent::TokenCreated { .. } => "token_created",
        JournalEvent::TokenRevoked { .. } => "token_revoked",
        JournalEvent::AgentSaved { .. } => "agent_saved",
        JournalEvent::AgentArchived { .. } => "agent_archived",
        JournalEvent::SessionOpened { .. } => "session_opened",
        JournalEvent::SessionReset { .. } => "session_reset",
        JournalEvent::SessionRenamed { .. } => "session_renamed",
        JournalEvent::SessionArchived { .. } => "session_archived",
        JournalEvent::SessionRestored { .. } => "session_restored",
        JournalEvent::GrantRevoked { .. } => "grant_revoked",
        JournalEvent::EffectSettled(_) => "effect_settled",
        JournalEvent::UndoRequested(_) => "undo_requested",
        JournalEvent::UndoFinished { .. } => "undo_finished",
        JournalEvent::Skill(event) => skill_kind(event),
        JournalEvent::Job(JobEvent::Started { .. }) => "job_started",
        JournalEvent::Job(JobEvent::Ended { .. }) => "job_ended",
        JournalEvent::PostureChanged(_) => "posture_changed",
        JournalEvent::ShadowCounted(_) => "shadow_counted",
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
        TapeEvent::RunStarted(_) => "run_started",
        TapeEvent::InputReceived { .. } => "input_received",
        TapeEvent::ModelRequested(_) => "model_requested",
        TapeEvent::ModelText { .. } => "model_text",
        TapeEvent::ModelReasoning { .. } => "model_reasoning",
        TapeEvent::ModelMessage(_) => "model_message",
        TapeEvent::ModelAttemptAbandoned { .. } => "model_attempt_abandoned",
        TapeEvent::ToolProposed(_) => "tool_proposed",
        TapeEvent::ToolDecided(_) => "tool_decided",
        TapeEvent::ToolStarted(_) => "tool_started",
        TapeEvent::ToolOutput(_) => "tool_output",
        TapeEvent::ToolFinished(_) => "tool_finished",
        TapeEvent::ToolOutcomeUnknown { .. } => "tool_outcome_unknown",
        TapeEvent::EffectResolved { .. } => "effect_resolved",
        TapeEvent::ApprovalRequested(_) => "approval_requested",
        TapeEvent::ApprovalVoted(_) => "approval_voted",
        TapeEvent::ApprovalResolved(_) => "approval_resolved",
        TapeEvent::GrantStored(_) => "grant_stored",
        TapeEvent::LoopDetected { .. } => "loop_detected",
        TapeEvent::RunHeld { .. } => "run_held",
        TapeEvent::CancelRequested { .. } => "cancel_requested",
        TapeEvent::RunFinished(_) => "run_finished",
        TapeEvent::Unknown { kind } => return format!("unknown_{kind}"),
    };
    name.to_owned()
}
