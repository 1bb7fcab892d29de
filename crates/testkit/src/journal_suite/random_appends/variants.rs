//! The variants that chance picks from.

use palyra_types::event::UnknownOutcomeCause;
use palyra_types::model::{FinishReason, ModelFailureClass};
use palyra_types::run::TerminationReason;
use palyra_types::tool::{DecisionReason, EffectContract};

pub(super) const REASONS: [TerminationReason; 11] = [
    TerminationReason::FinalAnswer,
    TerminationReason::Cancelled,
    TerminationReason::TimeLimit,
    TerminationReason::TurnLimit,
    TerminationReason::ToolLimit,
    TerminationReason::ProviderError,
    TerminationReason::ContextExhausted,
    TerminationReason::ContentPolicy,
    TerminationReason::LoopStopped,
    TerminationReason::InternalError,
    TerminationReason::OverBudget,
];

pub(super) const FINISHES: [FinishReason; 5] = [
    FinishReason::Stop,
    FinishReason::Length,
    FinishReason::ToolCalls,
    FinishReason::ContentFilter,
    FinishReason::Other,
];

pub(super) const FAILURES: [ModelFailureClass; 11] = [
    ModelFailureClass::Auth,
    ModelFailureClass::Permission,
    ModelFailureClass::RateLimit,
    ModelFailureClass::Quota,
    ModelFailureClass::Transient,
    ModelFailureClass::Permanent,
    ModelFailureClass::ContextExceeded,
    ModelFailureClass::ContentPolicy,
    ModelFailureClass::Malformed,
    ModelFailureClass::Network,
    ModelFailureClass::Timeout,
];

pub(super) const CONTRACTS: [EffectContract; 5] = [
    EffectContract::Opaque,
    EffectContract::Pure,
    EffectContract::Keyed,
    EffectContract::Probe,
    EffectContract::Local,
];

pub(super) const DECISIONS: [DecisionReason; 19] = [
    DecisionReason::Permitted,
    DecisionReason::NoRulePermits,
    DecisionReason::UnknownTool,
    DecisionReason::InvalidArguments,
    DecisionReason::BudgetExhausted,
    DecisionReason::NeedsApproval,
    DecisionReason::NoApprovalChannel,
    DecisionReason::Forbidden,
    DecisionReason::Disabled,
    DecisionReason::SkillForbids,
    DecisionReason::PolicyError,
    DecisionReason::SecretInArguments,
    DecisionReason::PlaceholderInArguments,
    DecisionReason::Granted,
    DecisionReason::Approved,
    DecisionReason::ApprovalDenied,
    DecisionReason::ApprovalExpired,
    DecisionReason::Drifted,
    DecisionReason::NotPossible,
];

pub(super) const UNKNOWN: [UnknownOutcomeCause; 4] = [
    UnknownOutcomeCause::Restart,
    UnknownOutcomeCause::Deadline,
    UnknownOutcomeCause::Cancelled,
    UnknownOutcomeCause::ExecutorLost,
];
