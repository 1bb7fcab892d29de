//! Runs a granted call under its deadline, and reports how it ended.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_ports::{CancelFlag, ExecuteToolError};
use palyra_run_core::{Grant, RunInput};
use palyra_types::event::UnknownOutcomeCause;
use palyra_types::tool::{EffectContract, Isolation, ToolExecutionOutcome, ToolExecutor};
use palyra_types::{EffectId, ErrorCode, Redacted};
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;
use crate::run::mailbox::{RunCommand, RunMailbox};

/// How long a tool may take to notice that it should stop.
const STOP_SPAN_MAX: Duration = Duration::from_secs(5);

/// Starts a call; its outcome comes back as a command with the same effect number.
pub(in crate::run) fn execute_run_stream_tool_proposal(
    engine: Arc<Engine>,
    grant: Grant,
    stop: CancellationToken,
    salt: Redacted<[u8; 32]>,
    mailbox: RunMailbox,
) {
    tokio::spawn(async move {
        let effect = grant.effect();
        let started = engine.ports.clock.boot();
        let ended = execute_tool_call(&engine, grant, stop).await;
        let duration = engine.ports.clock.boot().since(started);
        let input = match ended {
            Ok(outcome) => {
                let output = engine.ports.redactor.redact(outcome.output);
                let output_digest = palyra_ledger::content_digest(&salt, output.expose().as_bytes());
                let outcome = ToolExecutionOutcome { output, ..outcome };
                RunInput::ToolFinished { effect, outcome, output_digest, duration }
            }
            Err(cause) => RunInput::ToolOutcomeLost { effect, cause },
        };
        // A run that is gone was cancelled or broken; its tape says so.
        let _ = mailbox.send(RunCommand::told(input)).await;
    });
}

async fn execute_tool_call(
    engine: &Engine,
    grant: Grant,
    stop: CancellationToken,
) -> Result<ToolExecutionOutcome, UnknownOutcomeCause> {
    let clock = &engine.ports.clock;
    let contract = grant.contract();
    let effect: EffectId = grant.effect();
    let deadline = clock.boot().after(grant.deadline());
    let flag = CancelFlag::default();
    let mut work = AssertUnwindSafe(engine.ports.tools.execute(grant, flag.clone())).catch_unwind();
    let cause = tokio::select! {
        biased;
        finished = &mut work => return settle(finished, contract),
        () = stop.cancelled() => UnknownOutcomeCause::Cancelled,
        () = clock.sleep_until(deadline) => UnknownOutcomeCause::Deadline,
    };
    tracing::warn!(%effect, ?cause, "a tool is told to stop");
    flag.cancel();
    let late = tokio::select! {
        biased;
        finished = work => Some(finished),
        () = clock.sleep_until(clock.boot().after(STOP_SPAN_MAX)) => None,
    };
    match (late, contract, cause) {
        (Some(finished), EffectContract::Opaque, _) => settle(finished, contract),
        (None, EffectContract::Opaque, _) => Err(cause),
        (_, EffectContract::Pure, UnknownOutcomeCause::Cancelled) => {
            Ok(failed(ErrorCode::ToolCancelled, "stopped because the run was cancelled"))
        }
        (_, EffectContract::Pure, _) => {
            Ok(failed(ErrorCode::ToolTimedOut, "the tool did not finish before its deadline"))
        }
    }
}

type Finished = Result<Result<ToolExecutionOutcome, ExecuteToolError>, Box<dyn std::any::Any + Send>>;

fn settle(finished: Finished, contract: EffectContract) -> Result<ToolExecutionOutcome, UnknownOutcomeCause> {
    match (finished, contract) {
        (Ok(Ok(outcome)), _) => Ok(outcome),
        (Ok(Err(error @ ExecuteToolError::Unknown { .. })), _) => {
            Ok(failed(ErrorCode::ToolUnknown, &error.to_string()))
        }
        (Ok(Err(ExecuteToolError::OutcomeUnknown { .. })) | Err(_), EffectContract::Pure) => Ok(failed(
            ErrorCode::ToolFailed,
            "the tool was lost while it ran; it changes nothing, so ask again",
        )),
        (Ok(Err(ExecuteToolError::OutcomeUnknown { .. })) | Err(_), EffectContract::Opaque) => {
            Err(UnknownOutcomeCause::ExecutorLost)
        }
    }
}

fn failed(code: ErrorCode, output: &str) -> ToolExecutionOutcome {
    ToolExecutionOutcome {
        failure: Some(code),
        output: output.into(),
        output_bytes_total: 0,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
    }
}
