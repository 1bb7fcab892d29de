//! Turns what a call returned into its outcome, by the tool's contract.
//!
//! Owns the rules for a call that a restart interrupted. Invariant: both contracts count, the one that was recorded with
//! the decision and the one that the tool declares now, so a call is never repeated because of what only one of them says.

use palyra_ports::ExecuteToolError;
use palyra_run_core::ExecutionAttempt;
use palyra_types::tool::{EffectContract, RawToolOutcome, ToolExecutionOutcome, ToolName};
use palyra_types::{Content, ErrorCode};

use crate::invocation::ToolInvocation;
use crate::result::{CallError, CallFailure, CallResult, ExecutionSite, ToolResult};
use crate::truncate::truncate;

/// Returns whether a call may run now: for the first time always, again only where that changes nothing twice.
pub(crate) fn may_run(declared: EffectContract, invocation: &ToolInvocation) -> bool {
    let is_repeatable = |contract| match contract {
        // What changes only records of the daemon finds what an interrupted execution recorded.
        EffectContract::Pure | EffectContract::Keyed | EffectContract::Probe | EffectContract::Local => true,
        EffectContract::Opaque => false,
    };
    match invocation.execution {
        ExecutionAttempt::First => true,
        ExecutionAttempt::Again => is_repeatable(declared) && is_repeatable(invocation.contract),
    }
}

/// Returns the end of a call that panicked: a tool that changes nothing has failed; the outcome of any other is not known.
#[must_use]
pub fn panic_of(tool: &ToolName, declared: EffectContract) -> CallError {
    if declared != EffectContract::Pure {
        return CallError::InDoubt;
    }
    let message = format!("`{tool}` hit a bug in itself; try another way");
    CallError::Failed(CallFailure::new(ErrorCode::ToolFailed, message))
}

/// Returns the outcome of a call.
///
/// # Errors
/// [`ExecuteToolError::OutcomeUnknown`] when it is not known what the call did, now or before a restart.
pub fn conclude(
    declared: EffectContract,
    invocation: &ToolInvocation,
    result: CallResult,
) -> Result<RawToolOutcome, ExecuteToolError> {
    let in_doubt = || Err(ExecuteToolError::OutcomeUnknown { tool: invocation.tool.clone() });
    let is_pure = declared == EffectContract::Pure && invocation.contract == EffectContract::Pure;
    let result = match result {
        Ok(result) => result,
        Err(CallError::NotStarted(_)) if invocation.execution == ExecutionAttempt::Again && !is_pure => {
            return in_doubt();
        }
        Err(CallError::NotStarted(failure) | CallError::Failed(failure)) => failed(failure),
        Err(CallError::InDoubt) => return in_doubt(),
    };
    let ExecutionSite { executor, isolation } = result.site;
    Ok(ToolExecutionOutcome {
        failure: result.failure,
        output_bytes_total: result.bytes_total.max(result.text.len() as u64),
        output: Content::new(truncate(result.text, invocation.limits.output_bytes_max)),
        executor,
        isolation,
        taints: result.taints,
    })
}

fn failed(failure: CallFailure) -> ToolResult {
    ToolResult {
        text: failure.message,
        failure: Some(failure.code),
        site: failure.site,
        ..ToolResult::default()
    }
}
