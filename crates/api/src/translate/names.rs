//! Values of enumerations, from the domain to the wire and back: one table.
//!
//! Invariant: every value of an enumeration on the wire is used by one value of the domain.

use palyra_admin::health::CheckLevel;
use palyra_ports::maintain_journal::{JournalHealth, ReadOnlyCause};
use palyra_ports::read_approvals::{ApprovalFilter, EffectFilter};
use palyra_ports::read_records::{RunFilter, SessionFilter};
use palyra_runtime::model_directory::ModelSource;
use palyra_types::approval::{ApproverPresence, SeparationRule};
use palyra_types::effect::{EffectResolution, OutputRest};
use palyra_types::event::{AbandonCause, DecidedBy, HeldCause, LoopGuard, NextAttempt, UnknownOutcomeCause};
use palyra_types::model::ModelFailureClass;
use palyra_types::recall::{RecallLevel, RecallSwitch};
use palyra_types::run::{CancelReason, InputDelivery, RunPhase, TerminationReason, WaitReason};
use palyra_types::sampling::{AnswerVerbosity, ReasoningEffort};
use palyra_types::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, ToolExecutor, ToolVerdict,
};
use palyra_wire::v1;

use super::ids::InvalidValue;

macro_rules! enumerations {
    ($($vis:vis $function:ident($of:ty) -> $wire:ident { $($pattern:pat => $value:ident,)* })*) => {
        $($vis fn $function(value: $of) -> i32 {
            let value = match value { $($pattern => v1::$wire::$value,)* };
            value.into()
        })*

        /// Every function of the table with every value it can return, and whether a number is a value.
        #[cfg(test)]
        const ENUMERATIONS: &[(&str, &[i32], fn(i32) -> bool)] = &[$((
            stringify!($function),
            &[$(v1::$wire::$value as i32),*],
            |number| v1::$wire::try_from(number).is_ok(),
        ),)*];
    };
}

enumerations! {
    pub(crate) journal_health(JournalHealth) -> JournalHealth {
        JournalHealth::Writable => Writable,
        JournalHealth::EndingsOnly => EndingsOnly,
        JournalHealth::Quarantined => Quarantined,
    }
    pub(crate) read_only_cause(ReadOnlyCause) -> ReadOnlyCause {
        ReadOnlyCause::IoError => IoError,
        ReadOnlyCause::NewerEntries => NewerEntries,
        ReadOnlyCause::TailDisagrees => TailDisagrees,
        ReadOnlyCause::BehindAnchor { .. } => BehindAnchor,
        ReadOnlyCause::KeyLost => KeyLost,
        ReadOnlyCause::FilesGone => FilesGone,
    }
    pub(crate) model_source(ModelSource) -> ModelSource {
        ModelSource::BuiltIn => BuiltIn,
        ModelSource::Environment => Environment,
        ModelSource::Configuration => Configuration,
    }
    pub(super) reasoning_effort(ReasoningEffort) -> ReasoningEffort {
        ReasoningEffort::None => None,
        ReasoningEffort::Minimal => Minimal,
        ReasoningEffort::Low => Low,
        ReasoningEffort::Medium => Medium,
        ReasoningEffort::High => High,
        ReasoningEffort::ExtraHigh => ExtraHigh,
        ReasoningEffort::Max => Max,
    }
    pub(super) answer_verbosity(AnswerVerbosity) -> AnswerVerbosity {
        AnswerVerbosity::Low => Low,
        AnswerVerbosity::Medium => Medium,
        AnswerVerbosity::High => High,
    }
    pub(crate) check_level(CheckLevel) -> CheckLevel {
        CheckLevel::Ok => Ok,
        CheckLevel::Warning => Warning,
        CheckLevel::Error => Error,
    }
    pub(crate) verdict(ToolVerdict) -> PolicyVerdict {
        ToolVerdict::Allow => Allow,
        ToolVerdict::Ask => Ask,
        ToolVerdict::Deny => Deny,
    }
    pub(super) wait_reason(WaitReason) -> WaitReason {
        WaitReason::LoopCheck => LoopCheck,
        WaitReason::OutcomeUnknown => OutcomeUnknown,
        WaitReason::Approval => Approval,
        WaitReason::Question => Question,
        WaitReason::UnknownKind => UnknownKind,
        WaitReason::ClientTool => ClientTool,
        WaitReason::Budget => Budget,
    }
    pub(super) termination_reason(TerminationReason) -> RunEndReason {
        TerminationReason::FinalAnswer => FinalAnswer,
        TerminationReason::Cancelled => Cancelled,
        TerminationReason::Interrupted => Interrupted,
        TerminationReason::TimeLimit => TimeLimit,
        TerminationReason::TurnLimit => TurnLimit,
        TerminationReason::ToolLimit => ToolLimit,
        TerminationReason::ProviderError => ProviderError,
        TerminationReason::ContextExhausted => ContextExhausted,
        TerminationReason::ContentPolicy => ContentPolicy,
        TerminationReason::LoopStopped => LoopStopped,
        TerminationReason::InternalError => InternalError,
        TerminationReason::OverBudget => OverBudget,
    }
    pub(super) output_rest(OutputRest) -> OutputRest {
        OutputRest::Follows => Follows,
        OutputRest::InOutcome => InOutcome,
    }
    pub(super) cancel_reason(CancelReason) -> CancelReason {
        CancelReason::User => User,
        CancelReason::TimeLimit => TimeLimit,
        CancelReason::Interrupted => Interrupted,
        CancelReason::ClientToolExpired => ClientToolExpired,
    }
    pub(super) input_delivery(InputDelivery) -> InputDelivery {
        InputDelivery::Queue => Queue,
        InputDelivery::Steer => Steer,
        InputDelivery::Interrupt => Interrupt,
    }
    pub(super) recall_switch(Option<RecallSwitch>) -> RecallSwitch {
        Some(RecallSwitch::On) => On,
        Some(RecallSwitch::Off) => Off,
        None => Inherit,
    }
    pub(super) recall_level(RecallLevel) -> RecallLevel {
        RecallLevel::Session => Session,
        RecallLevel::Channel => Channel,
        RecallLevel::Agent => Agent,
        RecallLevel::Configuration => Configuration,
    }
    pub(super) next_attempt(NextAttempt) -> NextAttempt {
        NextAttempt::None => None,
        NextAttempt::SameModel => SameModel,
        NextAttempt::NextModel => NextModel,
        NextAttempt::ShorterContext => ShorterContext,
    }
    pub(crate) decision_reason(DecisionReason) -> DecisionReason {
        DecisionReason::Permitted => Permitted,
        DecisionReason::NoRulePermits => NoRulePermits,
        DecisionReason::UnknownTool => UnknownTool,
        DecisionReason::InvalidArguments => InvalidArguments,
        DecisionReason::BudgetExhausted => BudgetExhausted,
        DecisionReason::NeedsApproval => NeedsApproval,
        DecisionReason::NoApprovalChannel => NoApprovalChannel,
        DecisionReason::Forbidden => Forbidden,
        DecisionReason::Disabled => Disabled,
        DecisionReason::SkillForbids => SkillForbids,
        DecisionReason::PolicyError => PolicyError,
        DecisionReason::SecretInArguments => SecretInArguments,
        DecisionReason::PlaceholderInArguments => PlaceholderInArguments,
        DecisionReason::Granted => Granted,
        DecisionReason::Approved => Approved,
        DecisionReason::ApprovalDenied => ApprovalDenied,
        DecisionReason::ApprovalExpired => ApprovalExpired,
        DecisionReason::Drifted => Drifted,
        DecisionReason::NotPossible => NotPossible,
    }
    pub(super) decided_by(DecidedBy) -> DecisionSource {
        DecidedBy::Policy => Policy,
        DecidedBy::Budget => Budget,
        DecidedBy::Grant(_) => Grant,
        DecidedBy::Approval(_) => Approval,
    }
    pub(crate) risk(ApprovalRiskLevel) -> RiskLevel {
        ApprovalRiskLevel::Low => Low,
        ApprovalRiskLevel::Medium => Medium,
        ApprovalRiskLevel::High => High,
        ApprovalRiskLevel::Critical => Critical,
    }
    pub(super) separation(SeparationRule) -> ApprovalSeparation {
        SeparationRule::AnyPerson => AnyPerson,
        SeparationRule::AnotherPerson => AnotherPerson,
    }
    pub(super) effect_resolution(EffectResolution) -> EffectResolution {
        EffectResolution::Happened => Happened,
        EffectResolution::DidNotHappen => DidNotHappen,
        EffectResolution::Retry => Retry,
    }
    pub(crate) effect_contract(EffectContract) -> EffectContract {
        EffectContract::Pure => Pure,
        EffectContract::Keyed => Keyed,
        EffectContract::Probe => Probe,
        EffectContract::Local => Local,
        EffectContract::Opaque => Opaque,
    }
    pub(super) tool_executor(ToolExecutor) -> ToolExecutor {
        ToolExecutor::Internal => Internal,
        ToolExecutor::Process => Process,
        ToolExecutor::Wasm => Wasm,
    }
    pub(super) isolation(Isolation) -> ToolIsolation {
        Isolation::DescriptorRelative => DescriptorRelative,
        Isolation::ConfinedWithoutNamespaces => ConfinedWithoutNamespaces,
        Isolation::ConfinedUncounted => ConfinedUncounted,
        Isolation::Confined => Confined,
        Isolation::IsolatedUncounted => IsolatedUncounted,
        Isolation::Isolated => Isolated,
        Isolation::Component => Component,
    }
    pub(super) unknown_outcome_cause(UnknownOutcomeCause) -> UnknownOutcomeCause {
        UnknownOutcomeCause::Restart => Restart,
        UnknownOutcomeCause::Deadline => Deadline,
        UnknownOutcomeCause::Cancelled => Cancelled,
        UnknownOutcomeCause::ExecutorLost => ExecutorLost,
    }
    pub(super) loop_guard(LoopGuard) -> LoopGuard {
        LoopGuard::SameResult => SameResult,
        LoopGuard::SameFailure => SameFailure,
        LoopGuard::Restarts => Restarts,
    }
    pub(super) held_cause(HeldCause) -> HoldCause {
        HeldCause::LogReopened => LogReopened,
    }
    pub(super) abandon_cause(AbandonCause) -> AbandonCause {
        AbandonCause::Restart => Restart,
        AbandonCause::Cancelled => Cancelled,
        AbandonCause::Failure(ModelFailureClass::Auth) => Auth,
        AbandonCause::Failure(ModelFailureClass::Permission) => Permission,
        AbandonCause::Failure(ModelFailureClass::RateLimit) => RateLimit,
        AbandonCause::Failure(ModelFailureClass::Quota) => Quota,
        AbandonCause::Failure(ModelFailureClass::Transient) => Transient,
        AbandonCause::Failure(ModelFailureClass::Permanent) => Permanent,
        AbandonCause::Failure(ModelFailureClass::ContextExceeded) => ContextExceeded,
        AbandonCause::Failure(ModelFailureClass::ContentPolicy) => ContentPolicy,
        AbandonCause::Failure(ModelFailureClass::Malformed) => Malformed,
        AbandonCause::Failure(ModelFailureClass::Network) => Network,
        AbandonCause::Failure(ModelFailureClass::Timeout) => Timeout,
    }
}

/// Returns phase and, of a waiting run, what it waits for.
pub(super) fn run_phase(phase: RunPhase) -> (i32, i32) {
    let (phase, reason) = match phase {
        RunPhase::Queued => (v1::RunPhase::Queued, 0),
        RunPhase::Running => (v1::RunPhase::Running, 0),
        RunPhase::Waiting(reason) => (v1::RunPhase::Waiting, wait_reason(reason)),
        RunPhase::Finished => (v1::RunPhase::Finished, 0),
    };
    (phase.into(), reason)
}

/// Reads which runs a list is about.
pub(crate) fn run_filter(only: i32) -> Result<RunFilter, InvalidValue> {
    match v1::RunFilter::try_from(only) {
        Ok(v1::RunFilter::Unspecified) => Ok(RunFilter::All),
        Ok(v1::RunFilter::Open) => Ok(RunFilter::Open),
        Ok(v1::RunFilter::Finished) => Ok(RunFilter::Finished),
        Err(_) => Err(InvalidValue { field: "only", wanted: "empty, open or finished" }),
    }
}

/// Reads which approvals a list is about.
pub(crate) fn approval_filter(only: i32) -> Result<ApprovalFilter, InvalidValue> {
    match v1::ApprovalFilter::try_from(only) {
        Ok(v1::ApprovalFilter::Unspecified | v1::ApprovalFilter::Pending) => Ok(ApprovalFilter::Pending),
        Ok(v1::ApprovalFilter::Decided) => Ok(ApprovalFilter::Decided),
        Ok(v1::ApprovalFilter::All) => Ok(ApprovalFilter::All),
        Err(_) => Err(InvalidValue { field: "only", wanted: "empty, decided or all" }),
    }
}

/// Reads which effects a list is about.
pub(crate) fn effect_filter(only: i32) -> Result<EffectFilter, InvalidValue> {
    match v1::EffectFilter::try_from(only) {
        Ok(v1::EffectFilter::Unspecified) => Ok(EffectFilter::All),
        Ok(v1::EffectFilter::Unknown) => Ok(EffectFilter::Unknown),
        Ok(v1::EffectFilter::Changing) => Ok(EffectFilter::Changing),
        Err(_) => Err(InvalidValue { field: "only", wanted: "empty, unknown or changing" }),
    }
}

/// Reads whether a person can approve the calls of a run.
pub(crate) fn approvers(approve: i32) -> Result<ApproverPresence, InvalidValue> {
    match v1::ApproverChoice::try_from(approve) {
        Ok(v1::ApproverChoice::Unspecified | v1::ApproverChoice::Inbox) => Ok(ApproverPresence::Inbox),
        Ok(v1::ApproverChoice::Never) => Ok(ApproverPresence::Nobody),
        Err(_) => Err(InvalidValue { field: "approve", wanted: "empty, inbox or never" }),
    }
}

/// Reads what a level says about recall; `None` where the request says nothing.
pub(crate) fn recall_change(recall: i32) -> Result<Option<Option<RecallSwitch>>, InvalidValue> {
    match v1::RecallSwitch::try_from(recall) {
        Ok(v1::RecallSwitch::Unspecified) => Ok(None),
        Ok(v1::RecallSwitch::On) => Ok(Some(Some(RecallSwitch::On))),
        Ok(v1::RecallSwitch::Off) => Ok(Some(Some(RecallSwitch::Off))),
        Ok(v1::RecallSwitch::Inherit) => Ok(Some(None)),
        Err(_) => Err(InvalidValue { field: "recall", wanted: "on, off or inherit" }),
    }
}

/// Reads which sessions a list is about.
pub(crate) fn session_filter(only: i32) -> Result<SessionFilter, InvalidValue> {
    match v1::SessionFilter::try_from(only) {
        Ok(v1::SessionFilter::Unspecified | v1::SessionFilter::Current) => Ok(SessionFilter::Current),
        Ok(v1::SessionFilter::Archived) => Ok(SessionFilter::Archived),
        Ok(v1::SessionFilter::All) => Ok(SessionFilter::All),
        Err(_) => Err(InvalidValue { field: "only", wanted: "empty, archived or all" }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_value_of_an_enumeration_is_used_once() {
        for (function, values, is_known) in ENUMERATIONS {
            let distinct: BTreeSet<_> = values.iter().collect();
            assert_eq!(distinct.len(), values.len(), "{function}");
            let known = (1..).take_while(|number| is_known(*number)).count();
            assert_eq!((values.len(), values.contains(&0)), (known, false), "{function}");
        }
    }

    /// A newer client may send a number that this program does not know.
    #[test]
    fn a_filter_is_one_of_its_values() {
        assert_eq!(run_filter(0), Ok(RunFilter::All));
        assert_eq!(run_filter(v1::RunFilter::Open.into()), Ok(RunFilter::Open));
        assert_eq!(run_filter(v1::RunFilter::Finished.into()), Ok(RunFilter::Finished));
        let refused = "`only` must be empty, open or finished";
        assert_eq!(run_filter(77).unwrap_err().to_string(), refused);
        for refused in [approval_filter(77).is_err(), effect_filter(-1).is_err(), session_filter(9).is_err()]
        {
            assert!(refused);
        }
        assert_eq!(approvers(3).unwrap_err().to_string(), "`approve` must be empty, inbox or never");
    }
}
