//! Events of a run as a whole.
//!
//! Owns the variants, their fields and the class of each content field; stored numbers are in the registry of kinds, not here.

use std::path::PathBuf;
use std::time::Duration;

use crate::approval::ApproverPresence;
use crate::attachment::{Attachment, AttachmentBody};
use crate::client_tool::{ClientCallSpan, ClientTool, ClientToolCall, ClientToolOffer, ClientToolsCalled};
use crate::compaction::CompactionRead;
use crate::content_walk::ContentClass::{Fixed, Identity, Prose};
use crate::content_walk::content_rows;
use crate::context_reference::ReferencesExpanded;
use crate::memory::RecalledMemory;
use crate::model::{ModelRef, ResponseFormat, TokenUsage};
use crate::project_file::ProjectFile;
use crate::recall::RecallSetting;
use crate::run::{
    CancelReason, IdempotencyDigest, InputDelivery, RunLifecycleState, RunLimits, Surface, TerminationReason,
    UserInput,
};
use crate::sampling::SamplingOptions;
use crate::skill::ActivatedSkill;
use crate::tool::Taints;
use crate::{AgentId, ErrorCode, PrincipalId, Redacted, Timestamp};

/// A run as a whole: its start, what people say to it, what stops it, its end.
#[expect(clippy::large_enum_variant, reason = "an entry of a tape is as large as its largest kind already")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEvent {
    /// The run was accepted.
    Started(RunStarted),
    /// A person answered a waiting run, or steered a running one.
    InputReceived {
        /// What was said.
        input: UserInput,
        /// `Steer` when the run did not wait for it; the next model request shows it.
        delivery: InputDelivery,
        /// Digest of the client's idempotency key.
        idempotency: Option<IdempotencyDigest>,
    },
    /// The run repeats itself and waits for a person.
    LoopDetected {
        /// Which guard.
        guard: LoopGuard,
        /// How often it happened.
        repeats: u32,
    },
    /// The run was held until a person looks at it: what it was doing may have happened or not.
    Held {
        /// Why.
        cause: HeldCause,
    },
    /// Somebody wants the run to stop.
    CancelRequested {
        /// Who.
        actor: PrincipalId,
        /// Why.
        reason: CancelReason,
    },
    /// What the client offers from here on: functions that it performs itself, in place of tools of the daemon.
    ClientToolsOffered(ClientToolOffer),
    /// The model calls functions of the client; it follows the answer that makes the calls.
    ClientToolsCalled(ClientToolsCalled),
    /// The client brought the results of all calls of the last answer.
    ClientToolsAnswered(ClientToolsAnswered),
    /// The references of an input became proposals, before the first model request that shows it.
    ReferencesExpanded(ReferencesExpanded),
    /// The next model request does not fit under a budget, and the run waits.
    BudgetReached {
        /// When every account that is in the way begins again; `None` when only a person can let the run go on.
        resumes: Option<Timestamp>,
        /// Which limits are in the way, and the ways to go on.
        explanation: Redacted<String>,
    },
    /// A model request of the run took a budget above a soft limit.
    SoftLimitNoted {
        /// Which limit.
        explanation: Redacted<String>,
    },
    /// The run is over.
    Finished(RunFinished),
}

/// The run was accepted, with all that defines it (run, session and principal are in the envelope).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunStarted {
    /// The agent.
    pub agent: AgentId,
    /// Where the input came from.
    pub surface: Surface,
    /// What it may spend.
    pub limits: RunLimits,
    /// Digest of the configuration snapshot.
    pub config_digest: [u8; 32],
    /// Digest of the client's idempotency key.
    pub idempotency: Option<IdempotencyDigest>,
    /// How the input met its session.
    pub delivery: InputDelivery,
    /// Whether somebody could approve its calls.
    pub approvers: ApproverPresence,
    /// What its conversation has read before it.
    pub taints: Taints,
    /// The skills at work in it: each narrows what it may use.
    pub skills: Vec<ActivatedSkill>,
    /// What was typed.
    pub input: UserInput,
    /// The folder its tools may see.
    pub workspace_root: Redacted<PathBuf>,
    /// What the project of that folder says about work on it, from the root down; empty once erased.
    pub project_files: Vec<ProjectFile>,
    /// What is remembered for its person and may have to do with the input, best first; empty once erased.
    pub recalled: Vec<RecalledMemory>,
    /// Whether items of memory were looked for, and who says so; `None` in runs of older versions.
    pub recall: Option<RecallSetting>,
    /// The summary of older runs of its session that it reads.
    pub compaction: Option<CompactionRead>,
    /// The model it starts with.
    pub model: Redacted<Option<ModelRef>>,
    /// The models that may be asked instead when that one fails, in order.
    pub fallbacks: Redacted<Vec<ModelRef>>,
    /// What the final answer has to look like.
    pub response_format: Option<ResponseFormat>,
    /// How the words of its answers are chosen.
    pub sampling: Box<SamplingOptions>,
    /// Key of this run's content digests.
    pub run_salt: Redacted<[u8; 32]>,
}

/// The client brought the results of its functions: what they say is the client's, so the run is tainted by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientToolsAnswered {
    /// The calls.
    pub span: ClientCallSpan,
    /// Digest of the key of the request that brought them.
    pub idempotency: Option<IdempotencyDigest>,
    /// The outputs of the functions, in the order of the calls; empty once erased.
    pub outputs: Vec<Redacted<String>>,
}

/// Which loop guard spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoopGuard {
    /// The same call with the same arguments and the same result.
    SameResult,
    /// The same failure.
    SameFailure,
    /// The same model request, each time caught by a restart of the daemon.
    Restarts,
}

/// Why a run was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeldCause {
    /// The end of the log is lost, and with it perhaps the end of the run.
    LogReopened,
}

/// The run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFinished {
    /// The terminal state.
    pub state: RunLifecycleState,
    /// Why.
    pub reason: TerminationReason,
    /// The error behind it.
    pub error: Option<ErrorCode>,
    /// Turns used.
    pub turns: u32,
    /// Tool calls used.
    pub tool_calls: u32,
    /// Tokens used.
    pub usage: TokenUsage,
    /// Active time used.
    pub active_time: Duration,
    /// What to tell the person; empty when the answer says it.
    pub message: Redacted<String>,
}

content_rows! {
    fn run_event(walk, event: RunEvent) {
        match event {
            RunEvent::Started(started) => walk.run_started(started),
            RunEvent::InputReceived { input, delivery: _, idempotency: _ } => walk.user_input(input),
            RunEvent::LoopDetected { guard: _, repeats: _ }
            | RunEvent::Held { cause: _ }
            | RunEvent::CancelRequested { actor: _, reason: _ } => {}
            RunEvent::ClientToolsOffered(ClientToolOffer {
                tools, choice: _, answer_tokens_max: _, answer_within: _,
            }) => walk.each(tools, |walk, tool| walk.client_tool(tool)),
            RunEvent::ClientToolsCalled(ClientToolsCalled { attempt: _, span: _, expires: _, calls }) => {
                walk.each(calls, |walk, call| walk.client_tool_call(call));
            }
            RunEvent::ClientToolsAnswered(ClientToolsAnswered { span: _, idempotency: _, outputs }) => {
                walk.each(outputs, |walk, output| walk.text(Prose, "outputs", output));
            }
            RunEvent::ReferencesExpanded(expanded) => walk.references_expanded(expanded),
            RunEvent::BudgetReached { resumes: _, explanation } | RunEvent::SoftLimitNoted { explanation } => {
                walk.text(Prose, "explanation", explanation);
            }
            RunEvent::Finished(finished) => {
                let RunFinished {
                    state: _, reason: _, error: _, turns: _, tool_calls: _, usage: _, active_time: _, message,
                } = finished;
                walk.text(Prose, "message", message);
            }
        }
    }

    fn run_started(walk, started: RunStarted) {
        let RunStarted {
            agent: _, surface: _, limits: _, config_digest: _, idempotency: _, delivery: _, approvers: _,
            taints: _, skills: _, input, workspace_root, project_files, recalled, recall: _, compaction: _, model,
            fallbacks, response_format, sampling, run_salt,
        } = started;
        walk.user_input(input);
        walk.path(Identity, "workspace_root", workspace_root);
        walk.each(project_files, |walk, file| walk.project_file(file));
        walk.each(recalled, |walk, item| walk.recalled_memory(item));
        walk.within(model, |walk, model| {
            walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
        });
        walk.within(fallbacks, |walk, fallbacks| {
            walk.each(fallbacks, |walk, model| walk.model(Identity, "fallbacks", model));
        });
        walk.maybe(response_format, |walk, ResponseFormat { schema }| {
            walk.json(Identity, "response_format.schema", schema);
        });
        walk.sampling(sampling);
        walk.within(run_salt, |walk, salt| walk.opaque(Fixed, "run_salt", salt));
    }

    fn project_file(walk, file: ProjectFile) {
        let ProjectFile { path, sha256, text, standing: _ } = file;
        walk.text(Identity, "project_files.path", path);
        walk.within(sha256, |walk, digest| walk.opaque(Fixed, "project_files.sha256", digest));
        walk.text(Prose, "project_files.text", text);
    }

    fn recalled_memory(walk, item: RecalledMemory) {
        let RecalledMemory { memory: _, created: _, taints: _, role: _, text } = item;
        walk.text(Prose, "recalled.text", text);
    }

    fn sampling(walk, options: SamplingOptions) {
        let SamplingOptions {
            temperature: _, top_p: _, stop, seed: _, reasoning_effort: _, verbosity: _, calls_per_answer: _,
        } = options;
        walk.each(stop, |walk, text| walk.text(Identity, "sampling.stop", text));
    }

    fn client_tool(walk, tool: ClientTool) {
        let ClientTool { name, description, parameters, strict: _ } = tool;
        // The model calls it by this name, and the client knows no other.
        walk.text(Identity, "tools.name", name);
        walk.text(Prose, "tools.description", description);
        walk.json(Identity, "tools.parameters", parameters);
    }

    fn client_tool_call(walk, call: ClientToolCall) {
        let ClientToolCall { name, arguments, model_call } = call;
        walk.text(Identity, "calls.name", name);
        walk.json(Prose, "calls.arguments", arguments);
        walk.text(Identity, "calls.model_call", model_call);
    }

    fn user_input(walk, input: UserInput) {
        let UserInput { text, attachments } = input;
        walk.text(Prose, "input.text", text);
        walk.each(attachments, |walk, attachment| walk.attachment(attachment));
    }

    fn attachment(walk, attachment: Attachment) {
        let Attachment { name, media_type, bytes: _, sha256, body } = attachment;
        walk.text(Prose, "input.attachments.name", name);
        walk.text(Identity, "input.attachments.media_type", media_type);
        walk.within(sha256, |walk, digest| walk.opaque(Fixed, "input.attachments.sha256", digest));
        match body {
            AttachmentBody::Text(text) => walk.text(Prose, "input.attachments.text", text),
            AttachmentBody::Blob { index: _ } => {}
        }
    }
}
