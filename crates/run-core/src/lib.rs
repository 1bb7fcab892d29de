//! Decides what a run does, without a clock, a disk, a network or chance.
//!
//! Everything arrives as a value and leaves as a value; ordered maps only. Replaying a tape rebuilds the
//! machine, so what it needs to stay right is in the facts of the events, never only in memory.
//!
//! Calls that ask: of [`Effect::Prepare`] a runtime makes [`RunInput::ToolPrepared`]. Before it feeds
//! [`RunInput::ApprovalAnswered`] it asks [`approval_needs_judgement`](RunStateMachine::approval_needs_judgement); when
//! a judgement is needed it judges the call of [`call_of`](RunStateMachine::call_of) anew (with the edited arguments
//! and [`taints`](RunStateMachine::taints), [`counts`](RunStateMachine::counts) of now) and prepares
//! [`intent_for_answer`](RunStateMachine::intent_for_answer), if there is one. Of
//! [`pending_approvals`](RunStateMachine::pending_approvals) it knows when to feed [`RunInput::ApprovalExpired`]. A run
//! that waits for an approval needs nobody in memory: its replayed machine takes [`RunInput::Recovered`] without an
//! event or effect.
//!
//! Begin at [`machine::RunStateMachine::decide`].

#![warn(clippy::wildcard_enum_match_arm)]

pub mod input;

pub mod machine;

pub mod tool_calls;

pub mod client_tools;

pub mod approvals;

pub mod effects;

pub mod model_call;

pub mod failure_table;

pub mod budget;

pub mod loop_guard;

pub mod grant;

pub mod coalesce;
pub mod text_entries;

#[cfg(test)]
mod scenario;

pub use approvals::PendingApproval;
pub use grant::{ExecutionAttempt, Grant, Intent};
pub use input::{
    AnswerStage, ApprovalAnswer, BudgetOutcome, BudgetRefusal, BudgetWake, ClientResults, Effect,
    ExpandedInput, ExpandedItem, ItemMeans, JudgedAnswer, JudgedCall, MachineDecision, PrepareRefusal,
    PreparedAnswer, PreparedEffect, RawPrepareRefusal, RejudgedCall, RunInput,
};
pub use machine::{JudgementNeed, RunConsumption, RunError, RunStateMachine};
pub use tool_calls::ToolCallState;
