//! Asks a tool what a call would do, cleans what it says, and binds it.
//!
//! Nothing is changed by it, so it may be asked as often as anybody likes; what it found is in the binding, so that a
//! call that would do something else by now is noticed. Invariant: what is recorded of a plan passed the redactor.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use palyra_ports::{PreparedCall, SecretFound};
use palyra_run_core::{Intent, PrepareRefusal, PreparedEffect, RunInput};
use palyra_types::effect::{
    EffectPlan, FileBefore, PRE_IMAGE_BYTES_MAX, PREVIEW_BYTES_MAX, PreImage, RawPreImage,
};
use palyra_types::session::SessionRef;
use palyra_types::{ErrorCode, Redacted, RunId};
use tokio_util::sync::CancellationToken;

use crate::run::call_evaluator::fresh_approval;
use crate::run::mailbox::{RunCommand, RunMailbox};
use crate::run_context::RunContext;

/// How long a tool may take to say what a call would do.
const PREPARE_SPAN_MAX: Duration = Duration::from_secs(30);
/// Bytes of a tool's own record of a plan, at most.
const BODY_BYTES_MAX: usize = 256 * 1024;
/// Bytes of the line that says what a call does, at most.
const SUMMARY_BYTES_MAX: usize = 2 * 1024;

/// What a binding covers beside the call itself.
#[derive(Clone)]
pub(in crate::run) struct BindingScope {
    pub(in crate::run) run: RunId,
    pub(in crate::run) session: SessionRef,
    pub(in crate::run) salt: Redacted<[u8; 32]>,
    /// Raised when the run stops.
    pub(in crate::run) stop: CancellationToken,
}

/// Starts to prepare a call; what it would do comes back as a command with the same effect number.
pub(in crate::run) fn prepare_run_stream_tool_proposal(
    run_context: Arc<RunContext>,
    intent: Intent,
    bound: BindingScope,
    mailbox: RunMailbox,
) {
    tokio::spawn(async move {
        let effect = intent.effect();
        let prepared = prepare_tool_call(&run_context, intent, &bound).await;
        let input =
            RunInput::ToolPrepared { effect, prepared, judged: None, fresh: fresh_approval(&run_context) };
        // A run that is gone was cancelled or broken; its tape says so.
        let _ = mailbox.send(RunCommand::without_reply(input)).await;
    });
}

/// Prepares a call until the tool has answered, the run stops, or it takes too long.
pub(in crate::run) async fn prepare_tool_call(
    run_context: &RunContext,
    intent: Intent,
    bound: &BindingScope,
) -> Result<PreparedEffect, PrepareRefusal> {
    let effect = intent.effect();
    let preparing = AssertUnwindSafe(prepare(run_context, intent, bound)).catch_unwind();
    let clock = &run_context.ports.clock;
    tokio::select! {
        biased;
        prepared = preparing => prepared.unwrap_or_else(|_panic| {
            tracing::error!(%effect, "a tool panicked while it prepared a call; this is a bug");
            Err(refusal(ErrorCode::Internal, "the tool failed while it prepared the call; this is a bug of its own"))
        }),
        () = bound.stop.cancelled() => {
            Err(refusal(ErrorCode::ToolCancelled, "the run was stopped before this call began"))
        }
        () = clock.sleep_until(clock.boot().after(PREPARE_SPAN_MAX)) => {
            tracing::warn!(%effect, "a tool did not say in time what a call would do");
            Err(refusal(ErrorCode::ToolTimedOut, "the tool did not say in time what the call would do"))
        }
    }
}

async fn prepare(
    run_context: &RunContext,
    intent: Intent,
    bound: &BindingScope,
) -> Result<PreparedEffect, PrepareRefusal> {
    let (effect, tool, arguments) = (intent.effect(), intent.tool().clone(), intent.arguments().clone());
    let read_only = intent.read_only().to_vec();
    let version = run_context.views.policy.snapshot().catalog().get(&tool).map_or(0, |spec| spec.version);
    let prepared = run_context.ports.tools.prepare(intent).await;
    let prepared = prepared.map_err(|refused| {
        let message = run_context.ports.redactor.redact(refused.message).text;
        PrepareRefusal { code: refused.code, message }
    })?;
    check_sizes(&prepared)?;
    if prepared.read_only != read_only {
        let message = "rules forbid writing to some folders, and the tool cannot keep its program from that";
        return Err(refusal(ErrorCode::SandboxMissing, message));
    }
    let parts = [
        tool.as_str().as_bytes(),
        &version.to_be_bytes(),
        arguments.expose().as_bytes(),
        prepared.body.expose().as_bytes(),
        &bound.session.principal.to_bytes(),
        &bound.session.id.to_bytes(),
        &bound.run.to_bytes(),
        &effect.0.to_be_bytes(),
    ];
    // Over what the tool found, not over what is left of it once it is cleaned.
    let binding = palyra_ledger::binding_digest(&bound.salt, &parts);
    cleaned(run_context, bound, prepared, binding)
}

fn cleaned(
    run_context: &RunContext,
    bound: &BindingScope,
    prepared: PreparedCall,
    binding: palyra_types::event::ContentDigest,
) -> Result<PreparedEffect, PrepareRefusal> {
    let redactor = &run_context.ports.redactor;
    let PreparedCall {
        body,
        pre_images,
        summary,
        preview,
        unbound,
        unchanged,
        programs,
        read_only,
        secrets: _,
    } = prepared;
    let pre_images: Option<_> = pre_images.into_iter().map(|image| kept(run_context, bound, image)).collect();
    let plan = EffectPlan {
        binding,
        body: redactor.redact_json(body).text,
        pre_images: pre_images.ok_or_else(secret_in_path)?,
        ..EffectPlan::default()
    };
    Ok(PreparedEffect {
        plan,
        summary: cut(redactor.redact(summary).text, SUMMARY_BYTES_MAX),
        preview: cut(redactor.redact(preview).text, PREVIEW_BYTES_MAX),
        unbound: cut(redactor.redact(unbound).text, SUMMARY_BYTES_MAX),
        unchanged: cut(redactor.redact(unchanged).text, SUMMARY_BYTES_MAX),
        programs,
        read_only,
    })
}

/// Keeps what a file was, unless a secret is in it: then only that there was one; `None` where its path holds one.
fn kept(run_context: &RunContext, bound: &BindingScope, image: RawPreImage) -> Option<PreImage> {
    let PreImage { path, before, after_sha256 } = image;
    let before = match before {
        FileBefore::File { bytes, mode } => match run_context.ports.redactor.check(bytes) {
            Ok(bytes) => FileBefore::File { bytes, mode },
            Err(SecretFound { .. }) => FileBefore::Withheld { mode },
        },
        FileBefore::Absent => FileBefore::Absent,
        FileBefore::Withheld { mode } => FileBefore::Withheld { mode },
    };
    let path = run_context.ports.recorder.check(bound.session.principal, path).ok()?;
    Some(PreImage { path, before, after_sha256 })
}

/// The path of a changed file is recorded as it is, to take the change back by it.
fn secret_in_path() -> PrepareRefusal {
    let message = "the path of a file that the call changes looks like it holds a secret, and paths are recorded as they \
                are; rename the file";
    refusal(ErrorCode::InvalidArgument, message)
}

fn check_sizes(prepared: &PreparedCall) -> Result<(), PrepareRefusal> {
    let bytes_of = |image: &RawPreImage| match &image.before {
        FileBefore::File { bytes, .. } => bytes.expose().len(),
        FileBefore::Absent | FileBefore::Withheld { .. } => 0,
    };
    let images: usize = prepared.pre_images.iter().map(bytes_of).sum();
    if images > PRE_IMAGE_BYTES_MAX {
        let message = "the files that the call would change have more than 8 MiB together, which could not be taken back";
        return Err(refusal(ErrorCode::FileUnsuitable, message));
    }
    if prepared.body.expose().len() > BODY_BYTES_MAX {
        return Err(refusal(ErrorCode::FileUnsuitable, "the call would change too much at once"));
    }
    Ok(())
}

fn cut(text: Redacted<String>, bytes_max: usize) -> Redacted<String> {
    if text.expose().len() <= bytes_max {
        return text;
    }
    const CUT_OFF: &str = "\n(the rest is not shown)";
    let (mut kept, _) = text.split_at(bytes_max - CUT_OFF.len());
    kept.push(&CUT_OFF.into());
    kept
}

fn refusal(code: ErrorCode, message: &'static str) -> PrepareRefusal {
    PrepareRefusal { code, message: message.into() }
}
