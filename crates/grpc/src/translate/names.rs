//! The words that the schemas document where the wire form is a string: one table, both directions.
//!
//! Invariant: a word never changes its meaning; each is named in the comment of its field.

use palyra_ports::maintain_journal::{JournalHealth, ReadOnlyCause};
use palyra_ports::read_approvals::{ApprovalFilter, EffectFilter};
use palyra_ports::read_records::{RunFilter, SessionFilter};
use palyra_runtime::health::CheckLevel;
use palyra_runtime::model_directory::ModelSource;
use palyra_types::approval::{Approvers, Separation};
use palyra_types::effect::{EffectResolution, OutputRest};
use palyra_types::event::{AbandonCause, DecidedBy, HeldCause, LoopGuard, NextAttempt, UnknownOutcomeCause};
use palyra_types::model::ModelFailureClass;
use palyra_types::run::{CancelReason, InputDelivery, RunPhase, TerminationReason, WaitReason};
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, ToolExecutor, ToolVerdict,
};

use super::ids::InvalidValue;

macro_rules! names {
    ($($(#[$doc:meta])* $vis:vis $function:ident($of:ty) { $($variant:pat => $word:literal,)* })*) => {
        $($(#[$doc])* $vis fn $function(value: $of) -> &'static str {
            match value { $($variant => $word,)* }
        })*

        /// Every function of the table with every word it can return.
        #[cfg(test)]
        const ALL: &[(&str, &[&str])] = &[$((stringify!($function), &[$($word),*]),)*];
    };
}

names! {
    pub(super) wait_reason(WaitReason) {
        WaitReason::LoopCheck => "loop_check",
        WaitReason::OutcomeUnknown => "outcome_unknown",
        WaitReason::Approval => "approval",
        WaitReason::Question => "question",
        WaitReason::UnknownKind => "unknown_kind",
    }
    pub(super) termination_reason(TerminationReason) {
        TerminationReason::FinalAnswer => "final_answer",
        TerminationReason::Cancelled => "cancelled",
        TerminationReason::Interrupted => "interrupted",
        TerminationReason::TimeLimit => "time_limit",
        TerminationReason::TurnLimit => "turn_limit",
        TerminationReason::ToolLimit => "tool_limit",
        TerminationReason::ProviderError => "provider_error",
        TerminationReason::ContextExhausted => "context_exhausted",
        TerminationReason::ContentPolicy => "content_policy",
        TerminationReason::LoopStopped => "loop_stopped",
        TerminationReason::InternalError => "internal_error",
    }
    pub(super) output_rest(OutputRest) {
        OutputRest::Follows => "follows",
        OutputRest::InOutcome => "in_outcome",
    }
    pub(super) cancel_reason(CancelReason) {
        CancelReason::User => "user",
        CancelReason::TimeLimit => "time_limit",
        CancelReason::Interrupted => "interrupted",
    }
    pub(super) input_delivery(InputDelivery) {
        InputDelivery::Queue => "queue",
        InputDelivery::Steer => "steer",
        InputDelivery::Interrupt => "interrupt",
    }
    pub(super) next_attempt(NextAttempt) {
        NextAttempt::None => "none",
        NextAttempt::SameModel => "same_model",
        NextAttempt::NextModel => "next_model",
        NextAttempt::ShorterContext => "shorter_context",
    }
    pub(crate) verdict(ToolVerdict) {
        ToolVerdict::Allow => "allow",
        ToolVerdict::Ask => "ask",
        ToolVerdict::Deny => "deny",
    }
    pub(crate) decision_reason(DecisionReason) {
        DecisionReason::Permitted => "permitted",
        DecisionReason::NoRulePermits => "no_rule_permits",
        DecisionReason::UnknownTool => "unknown_tool",
        DecisionReason::InvalidArguments => "invalid_arguments",
        DecisionReason::BudgetExhausted => "budget_exhausted",
        DecisionReason::NeedsApproval => "needs_approval",
        DecisionReason::NoApprovalChannel => "no_approval_channel",
        DecisionReason::Forbidden => "forbidden",
        DecisionReason::Disabled => "disabled",
        DecisionReason::SkillForbids => "skill_forbids",
        DecisionReason::PolicyError => "policy_error",
        DecisionReason::SecretInArguments => "secret_in_arguments",
        DecisionReason::PlaceholderInArguments => "placeholder_in_arguments",
        DecisionReason::Granted => "granted",
        DecisionReason::Approved => "approved",
        DecisionReason::ApprovalDenied => "approval_denied",
        DecisionReason::ApprovalExpired => "approval_expired",
        DecisionReason::Drifted => "drifted",
        DecisionReason::NotPossible => "not_possible",
    }
    pub(super) decided_by(DecidedBy) {
        DecidedBy::Policy => "policy",
        DecidedBy::Budget => "budget",
        DecidedBy::Grant(_) => "grant",
        DecidedBy::Approval(_) => "approval",
    }
    pub(crate) risk(ApprovalRiskLevel) {
        ApprovalRiskLevel::Low => "low",
        ApprovalRiskLevel::Medium => "medium",
        ApprovalRiskLevel::High => "high",
        ApprovalRiskLevel::Critical => "critical",
    }
    pub(super) separation(Separation) {
        Separation::AnyPerson => "any_person",
        Separation::AnotherPerson => "another_person",
    }
    pub(super) effect_resolution(EffectResolution) {
        EffectResolution::Happened => "happened",
        EffectResolution::DidNotHappen => "did_not_happen",
        EffectResolution::Retry => "retry",
    }
    pub(crate) effect_contract(EffectContract) {
        EffectContract::Pure => "pure",
        EffectContract::Keyed => "keyed",
        EffectContract::Probe => "probe",
        EffectContract::Local => "local",
        EffectContract::Opaque => "opaque",
    }
    pub(super) tool_executor(ToolExecutor) {
        ToolExecutor::Internal => "internal",
        ToolExecutor::Process => "process",
        ToolExecutor::Wasm => "wasm",
    }
    pub(super) isolation(Isolation) {
        Isolation::DescriptorRelative => "descriptor_relative",
        Isolation::ConfinedWithoutNamespaces => "confined_without_namespaces",
        Isolation::ConfinedUncounted => "confined_uncounted",
        Isolation::Confined => "confined",
        Isolation::IsolatedUncounted => "isolated_uncounted",
        Isolation::Isolated => "isolated",
        Isolation::Component => "component",
    }
    pub(super) unknown_outcome_cause(UnknownOutcomeCause) {
        UnknownOutcomeCause::Restart => "restart",
        UnknownOutcomeCause::Deadline => "deadline",
        UnknownOutcomeCause::Cancelled => "cancelled",
        UnknownOutcomeCause::ExecutorLost => "executor_lost",
    }
    pub(super) loop_guard(LoopGuard) {
        LoopGuard::SameResult => "same_result",
        LoopGuard::SameFailure => "same_failure",
    }
    pub(super) held_cause(HeldCause) {
        HeldCause::LogReopened => "log_reopened",
    }
    pub(super) failure_class(ModelFailureClass) {
        ModelFailureClass::Auth => "auth",
        ModelFailureClass::Permission => "permission",
        ModelFailureClass::RateLimit => "rate_limit",
        ModelFailureClass::Quota => "quota",
        ModelFailureClass::Transient => "transient",
        ModelFailureClass::Permanent => "permanent",
        ModelFailureClass::ContextExceeded => "context_exceeded",
        ModelFailureClass::ContentPolicy => "content_policy",
        ModelFailureClass::Malformed => "malformed",
        ModelFailureClass::Network => "network",
        ModelFailureClass::Timeout => "timeout",
    }
    pub(crate) journal_health(JournalHealth) {
        JournalHealth::Writable => "writable",
        JournalHealth::EndingsOnly => "endings_only",
        JournalHealth::Quarantined => "quarantined",
    }
    pub(crate) read_only_cause(ReadOnlyCause) {
        ReadOnlyCause::IoError => "io_error",
        ReadOnlyCause::NewerEntries => "newer_entries",
        ReadOnlyCause::TailDisagrees => "tail_disagrees",
        ReadOnlyCause::BehindAnchor { .. } => "behind_anchor",
        ReadOnlyCause::KeyLost => "key_lost",
        ReadOnlyCause::FilesGone => "files_gone",
    }
    pub(crate) model_source(ModelSource) {
        ModelSource::BuiltIn => "built_in",
        ModelSource::Environment => "environment",
        ModelSource::Configuration => "configuration",
    }
    pub(crate) check_level(CheckLevel) {
        CheckLevel::Ok => "ok",
        CheckLevel::Warning => "warning",
        CheckLevel::Error => "error",
    }
}

/// Returns phase and, of a waiting run, what it waits for.
pub(super) fn run_phase(phase: RunPhase) -> (&'static str, &'static str) {
    match phase {
        RunPhase::Queued => ("queued", ""),
        RunPhase::Running => ("running", ""),
        RunPhase::Waiting(reason) => ("waiting", wait_reason(reason)),
        RunPhase::Finished => ("finished", ""),
    }
}

pub(super) fn abandon_cause(cause: AbandonCause) -> &'static str {
    match cause {
        AbandonCause::Restart => "restart",
        AbandonCause::Cancelled => "cancelled",
        AbandonCause::Failure(class) => failure_class(class),
    }
}

/// Reads which runs a list is about.
pub(crate) fn run_filter(only: &str) -> Result<RunFilter, InvalidValue> {
    match only {
        "" => Ok(RunFilter::All),
        "open" => Ok(RunFilter::Open),
        "finished" => Ok(RunFilter::Finished),
        _ => Err(InvalidValue { field: "only", wanted: "empty, open or finished" }),
    }
}

/// Reads which approvals a list is about.
pub(crate) fn approval_filter(only: &str) -> Result<ApprovalFilter, InvalidValue> {
    match only {
        "" | "pending" => Ok(ApprovalFilter::Pending),
        "decided" => Ok(ApprovalFilter::Decided),
        "all" => Ok(ApprovalFilter::All),
        _ => Err(InvalidValue { field: "only", wanted: "empty, decided or all" }),
    }
}

/// Reads which effects a list is about.
pub(crate) fn effect_filter(only: &str) -> Result<EffectFilter, InvalidValue> {
    match only {
        "" => Ok(EffectFilter::All),
        "unknown" => Ok(EffectFilter::Unknown),
        "changing" => Ok(EffectFilter::Changing),
        _ => Err(InvalidValue { field: "only", wanted: "empty, unknown or changing" }),
    }
}

/// Reads whether somebody could approve the calls of a run.
pub(crate) fn approvers(word: &str) -> Result<Approvers, InvalidValue> {
    match word {
        "" | "inbox" => Ok(Approvers::Inbox),
        "never" => Ok(Approvers::Nobody),
        _ => Err(InvalidValue { field: "approve", wanted: "empty, inbox or never" }),
    }
}

/// Reads which sessions a list is about.
pub(crate) fn session_filter(only: &str) -> Result<SessionFilter, InvalidValue> {
    match only {
        "" | "current" => Ok(SessionFilter::Current),
        "archived" => Ok(SessionFilter::Archived),
        "all" => Ok(SessionFilter::All),
        _ => Err(InvalidValue { field: "only", wanted: "empty, archived or all" }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_are_snake_case_and_tell_values_apart() {
        for (function, words) in ALL {
            let distinct: BTreeSet<_> = words.iter().collect();
            assert_eq!(distinct.len(), words.len(), "{function}");
            let plain = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
            assert!(words.iter().all(plain), "{function}");
        }
    }

    #[test]
    fn a_filter_is_one_of_three_words() {
        assert_eq!(run_filter(""), Ok(RunFilter::All));
        assert_eq!(run_filter("open"), Ok(RunFilter::Open));
        assert_eq!(run_filter("finished"), Ok(RunFilter::Finished));
        assert!(run_filter("Open").is_err());
    }
}
