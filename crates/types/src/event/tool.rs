//! Events of tool calls.
//!
//! Owns the variants, their fields and the class of each content field; stored numbers are in the registry of kinds, not here.

use std::time::Duration;

use crate::approval::ApprovalTerms;
use crate::content_walk::ContentClass::{Bytes, Fixed, Identity, Prose};
use crate::content_walk::content_rows;
use crate::digest::ContentDigest;
use crate::effect::{EffectPlan, EffectResolution, FileBefore, PreImage, ToolOutput};
use crate::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, Parallelism, Taints, ToolConduct,
    ToolExecutor, ToolVerdict,
};
use crate::{ApprovalId, Attempt, EffectId, ErrorCode, PrincipalId, Redacted, StoredGrantId};

/// A call of a tool, from its proposal to its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolEvent {
    /// The model wants a tool.
    Proposed(ToolProposed),
    /// Policy (or a grant, or a human) decided.
    Decided(ToolDecided),
    /// The tool is about to act: committed before its first effect.
    Started(ToolStarted),
    /// The tool printed something while it ran.
    Output(ToolOutput),
    /// The tool's outcome is known.
    Finished(ToolFinished),
    /// Nobody knows whether the tool took effect.
    OutcomeUnknown {
        /// Which effect.
        effect: EffectId,
        /// Why.
        cause: UnknownOutcomeCause,
    },
    /// A person said what became of an effect whose outcome nobody knew.
    EffectResolved {
        /// Which effect.
        effect: EffectId,
        /// What became of it.
        resolution: EffectResolution,
        /// Who said so.
        by: PrincipalId,
        /// What they said with it.
        note: Redacted<String>,
    },
}

/// The model wants a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolProposed {
    /// The runtime's number for this effect.
    pub effect: EffectId,
    /// The answer it came with.
    pub attempt: Attempt,
    /// Keyed digest of tool and arguments.
    pub call_digest: ContentDigest,
    /// The tool, as the model named it.
    pub tool: Redacted<String>,
    /// The arguments, as the model wrote them.
    pub arguments: Redacted<String>,
    /// The model's own id of the call.
    pub model_call_id: Redacted<String>,
}

/// Who decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecidedBy {
    /// The policy snapshot.
    Policy,
    /// The run's own budget.
    Budget,
    /// A stored grant, without asking anybody.
    Grant(StoredGrantId),
    /// The approval of this call.
    Approval(ApprovalId),
}

/// A call was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDecided {
    /// Which effect.
    pub effect: EffectId,
    /// The verdict.
    pub verdict: ToolVerdict,
    /// Why, for programs.
    pub reason: DecisionReason,
    /// Who.
    pub decided_by: DecidedBy,
    /// Digest of the policy snapshot.
    pub policy_digest: [u8; 32],
    /// The tool's contract.
    pub contract: EffectContract,
    /// Whether it may run beside others.
    pub parallelism: Parallelism,
    /// How long it may take.
    pub deadline: Duration,
    /// How much output is kept, in bytes.
    pub output_bytes_max: u64,
    /// How the call is conducted.
    pub conduct: ToolConduct,
    /// The tool's version; 0 where it is unknown.
    pub tool_version: u32,
    /// The risk of this very call.
    pub risk: ApprovalRiskLevel,
    /// What the run will have read once it has seen the output.
    pub taints: Taints,
    /// What is wanted of the approval; `None` unless the verdict is to ask.
    pub ask: Option<ApprovalAsk>,
    /// Why, for people and the model.
    pub explanation: Redacted<String>,
    /// What policy was asked, verbatim: canonical JSON; empty where it was not.
    pub request: Redacted<String>,
}

/// An approval that a decision wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ApprovalAsk {
    /// The id it will have.
    pub approval: ApprovalId,
    /// What the rule wants of it.
    pub terms: ApprovalTerms,
}

/// The tool is about to act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStarted {
    /// Which effect.
    pub effect: EffectId,
    /// What may be done if no outcome follows.
    pub contract: EffectContract,
    /// How long it may take.
    pub deadline: Duration,
    /// What it will do; empty for a call that is not prepared.
    pub plan: EffectPlan,
}

/// The tool's outcome, and the attestation of what ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFinished {
    /// Which effect.
    pub effect: EffectId,
    /// What it ran under.
    pub attested: CallAttestation,
    /// `None` for success.
    pub failure: Option<ErrorCode>,
    /// Keyed digest of the output.
    pub output_digest: ContentDigest,
    /// Bytes the tool produced before truncation.
    pub output_bytes_total: u64,
    /// How long it took.
    pub duration: Duration,
    /// Where it ran.
    pub executor: ToolExecutor,
    /// What isolated it.
    pub isolation: Isolation,
    /// What the output brings beside what was decided of it; none in older entries.
    pub taints: Taints,
    /// What the model reads.
    pub output: Redacted<String>,
}

/// What a call ran under; with executor and isolation of its outcome, the attestation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CallAttestation {
    /// The tool's version.
    pub tool_version: u32,
    /// Keyed digest of tool and arguments as they ran.
    pub call_digest: ContentDigest,
    /// Digest of the policy snapshot that let it run.
    pub policy_digest: [u8; 32],
    /// The approval that let it run.
    pub approval: Option<ApprovalId>,
    /// The stored grant that let it run.
    pub grant: Option<StoredGrantId>,
}

/// Why an outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnknownOutcomeCause {
    /// The daemon stopped while the tool ran.
    Restart,
    /// The tool did not finish in time and could not be observed further.
    Deadline,
    /// The tool was cut off by a cancel.
    Cancelled,
    /// The executor lost it.
    ExecutorLost,
}

content_rows! {
    fn tool_event(walk, event: ToolEvent) {
        match event {
            ToolEvent::Proposed(ToolProposed {
                effect: _, attempt: _, call_digest: _, tool, arguments, model_call_id,
            }) => {
                walk.text(Identity, "tool", tool);
                walk.json(Prose, "arguments", arguments);
                walk.text(Identity, "model_call_id", model_call_id);
            }
            ToolEvent::Decided(ToolDecided {
                effect: _, verdict: _, reason: _, decided_by: _, policy_digest: _, contract: _,
                parallelism: _, deadline: _, output_bytes_max: _, conduct: _, tool_version: _, risk: _,
                taints: _, ask: _, explanation, request,
            }) => {
                walk.text(Prose, "explanation", explanation);
                walk.json(Prose, "request", request);
            }
            ToolEvent::Started(ToolStarted { effect: _, contract: _, deadline: _, plan }) => {
                let EffectPlan { binding: _, body, pre_images, preview } = plan;
                walk.json(Bytes, "plan.body", body);
                walk.each(pre_images, |walk, image| walk.pre_image(image));
                walk.text(Prose, "plan.preview", preview);
            }
            ToolEvent::Output(ToolOutput { effect: _, shown_bytes: _, rest: _, text }) => {
                walk.text(Prose, "text", text);
            }
            ToolEvent::Finished(ToolFinished {
                effect: _, attested: _, failure: _, output_digest: _, output_bytes_total: _, duration: _,
                executor: _, isolation: _, taints: _, output,
            }) => walk.text(Prose, "output", output),
            ToolEvent::OutcomeUnknown { effect: _, cause: _ } => {}
            ToolEvent::EffectResolved { effect: _, resolution: _, by: _, note } => {
                walk.text(Prose, "note", note);
            }
        }
    }

    fn pre_image(walk, image: PreImage) {
        let PreImage { path, before, after_sha256 } = image;
        walk.text(Identity, "plan.pre_images.path", path);
        match before {
            FileBefore::File { bytes, mode: _ } => walk.bytes(Bytes, "plan.pre_images.before", bytes),
            FileBefore::Absent | FileBefore::Withheld { mode: _ } => {}
        }
        walk.maybe(after_sha256, |walk, digest| walk.opaque(Fixed, "plan.pre_images.after_sha256", digest));
    }
}
