//! Runs a granted call under its deadline, and reports how it ended.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_ports::{CancelFlag, EffectKey, ExecuteToolError, OutputSink, Supervision};
use palyra_run_core::{ExecutionAttempt, Grant, RunInput};
use palyra_types::event::UnknownOutcomeCause;
use palyra_types::tool::{
    EffectContract, Isolation, RawToolOutcome, Taints, ToolExecutionOutcome, ToolExecutor,
};
use palyra_types::{EffectId, ErrorCode, Redacted};
use tokio_util::sync::CancellationToken;

use crate::run::mailbox::{RunCommand, RunMailbox};
use crate::run_context::RunContext;

/// How long a tool may take to notice that it should stop.
const STOP_SPAN_MAX: Duration = Duration::from_secs(5);

/// Starts a call; its outcome comes back as a command with the same effect number.
pub(in crate::run) fn execute_run_stream_tool_proposal(
    run_context: Arc<RunContext>,
    grant: Grant,
    stop: CancellationToken,
    salt: Redacted<[u8; 32]>,
    output: OutputSink,
    mailbox: RunMailbox,
) {
    tokio::spawn(async move {
        let effect = grant.effect();
        let reported =
            AssertUnwindSafe(report(&run_context, grant, stop, output, &salt)).catch_unwind().await;
        let input = reported.unwrap_or_else(|_panic| {
            tracing::error!(%effect, "a tool panicked; this is a bug");
            RunInput::ToolOutcomeLost { effect, cause: UnknownOutcomeCause::ExecutorLost }
        });
        // A run that is gone was cancelled or broken; its tape says so.
        let _ = mailbox.send(RunCommand::without_reply(input)).await;
    });
}

/// Runs a call; returns what is to be said of it to its run.
pub(in crate::run) async fn report(
    run_context: &RunContext,
    grant: Grant,
    stop: CancellationToken,
    output: OutputSink,
    salt: &Redacted<[u8; 32]>,
) -> RunInput {
    let effect = grant.effect();
    let started = run_context.ports.clock.boot();
    let ended = execute_tool_call(run_context, grant, stop, output).await;
    let duration = run_context.ports.clock.boot().since(started);
    match ended {
        Ok(outcome) => {
            let output = run_context.ports.redactor.redact(outcome.output).text;
            let output_digest = palyra_ledger::content_digest(salt, output.expose().as_bytes());
            let RawToolOutcome { failure, output_bytes_total, executor, isolation, taints, .. } = outcome;
            let outcome =
                ToolExecutionOutcome { failure, output, output_bytes_total, executor, isolation, taints };
            RunInput::ToolFinished { effect, outcome, output_digest, duration }
        }
        Err(cause) => RunInput::ToolOutcomeLost { effect, cause },
    }
}

/// Runs a call until it ends, is stopped, or is over its deadline. What the loss of an outcome means is the
/// machine's to say.
async fn execute_tool_call(
    run_context: &RunContext,
    grant: Grant,
    stop: CancellationToken,
    output: OutputSink,
) -> Result<RawToolOutcome, UnknownOutcomeCause> {
    let execution = grant.execution();
    if stop.is_cancelled() {
        let stopped = failed(ErrorCode::ToolCancelled, "the run was stopped before this call began");
        return never_begun(execution, stopped, UnknownOutcomeCause::Cancelled);
    }
    let clock = &run_context.ports.clock;
    let contract = grant.contract();
    let effect: EffectId = grant.effect();
    let deadline = clock.boot().after(grant.deadline());
    let flag = CancelFlag::default();
    let key = EffectKey(palyra_ledger::effect_key(run_context.log_id(), grant.run(), effect));
    let supervision = Supervision { cancel: flag.clone(), key, output };
    let mut work = run_context.ports.tools.execute(grant, supervision);
    let cause = tokio::select! {
        biased;
        finished = &mut work => return settle(finished, execution),
        () = stop.cancelled() => UnknownOutcomeCause::Cancelled,
        () = clock.sleep_until(deadline) => UnknownOutcomeCause::Deadline,
    };
    tracing::warn!(%effect, ?cause, "stopping a tool");
    flag.cancel();
    let late = tokio::select! {
        biased;
        finished = work => Some(finished),
        () = clock.sleep_until(clock.boot().after(STOP_SPAN_MAX)) => None,
    };
    match (late, contract) {
        (
            Some(finished),
            EffectContract::Opaque | EffectContract::Keyed | EffectContract::Probe | EffectContract::Local,
        ) => settle(finished, execution),
        // What a pure call says after it was told to stop is not what was asked for.
        (Some(_), EffectContract::Pure) | (None, _) => Err(cause),
    }
}

/// What a call that did not begin now comes to: one that began before a restart may have been done then.
fn never_begun(
    execution: ExecutionAttempt,
    outcome: RawToolOutcome,
    cause: UnknownOutcomeCause,
) -> Result<RawToolOutcome, UnknownOutcomeCause> {
    match execution {
        ExecutionAttempt::First => Ok(outcome),
        ExecutionAttempt::Again => Err(cause),
    }
}

fn settle(
    finished: Result<RawToolOutcome, ExecuteToolError>,
    execution: ExecutionAttempt,
) -> Result<RawToolOutcome, UnknownOutcomeCause> {
    match finished {
        Ok(outcome) => Ok(outcome),
        Err(error @ ExecuteToolError::Unknown { .. }) => {
            let unknown = failed(ErrorCode::ToolUnknown, &error.to_string());
            never_begun(execution, unknown, UnknownOutcomeCause::ExecutorLost)
        }
        Err(ExecuteToolError::OutcomeUnknown { .. }) => Err(UnknownOutcomeCause::ExecutorLost),
    }
}

fn failed(code: ErrorCode, output: &str) -> RawToolOutcome {
    ToolExecutionOutcome {
        failure: Some(code),
        output: output.into(),
        output_bytes_total: 0,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
        taints: Taints::NONE,
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::tool::ToolName;

    use super::*;

    #[test]
    fn a_call_that_began_before_a_restart_is_not_said_to_have_done_nothing() {
        let stopped = || failed(ErrorCode::ToolCancelled, "stopped");
        let cause = UnknownOutcomeCause::Cancelled;
        assert_eq!(never_begun(ExecutionAttempt::First, stopped(), cause), Ok(stopped()));
        assert_eq!(never_begun(ExecutionAttempt::Again, stopped(), cause), Err(cause));

        let gone = || Err(ExecuteToolError::Unknown { tool: ToolName::new("gone") });
        let first = settle(gone(), ExecutionAttempt::First).unwrap();
        assert_eq!(first.failure, Some(ErrorCode::ToolUnknown));
        assert_eq!(settle(gone(), ExecutionAttempt::Again), Err(UnknownOutcomeCause::ExecutorLost));
    }
}
