//! What enters a run and what leaves it, as values.

use std::time::Duration;

use palyra_types::client_tool::{ClientCallSpan, ClientToolOffer};
use palyra_types::context_reference::{ReferenceError, ReferenceKind, ReferenceLimits};
use palyra_types::effect::{EffectPlan, EffectResolution, OutputRest};
use palyra_types::event::{
    ContentDigest, ContextPlan, ModelRouting, RunStarted, TapeEvent, UnknownOutcomeCause,
};
use palyra_types::model::{ModelAnswer, ModelFailureClass, ModelRef, ToolProposal};
use palyra_types::run::{CancelReason, IdempotencyDigest, UserInput};
use palyra_types::tool::{Isolation, Taints, ToolDecision, ToolExecutionOutcome, ToolExecutor};
use palyra_types::{
    ApprovalId, Attempt, Content, EffectId, ErrorCode, PrincipalId, Redacted, TapeSeq, Timestamp,
};

use crate::grant::{Grant, Intent};

mod approval_answer;
mod content_bytes;

pub use approval_answer::{AnswerStage, ApprovalAnswer, JudgedAnswer, PreparedAnswer};

/// A wish or a piece of news for a run: from a person, a model, a tool, a timer, or the runtime itself.
#[derive(Debug, Clone)]
pub enum RunInput {
    /// The run is accepted.
    Start(Box<RunStarted>),
    /// Its client performs functions of its own, in place of tools; between the start and the beginning.
    OfferClientTools(Box<ClientToolOffer>),
    /// Its turn in the session has come.
    Begin,
    /// Answers [`Effect::AssembleContext`].
    ContextReady {
        /// What the model will be shown.
        plan: ContextPlan,
        /// Which model.
        model: ModelRef,
        /// Why this one.
        routing: ModelRouting,
    },
    /// Answers [`Effect::AssembleContext`]: the input alone is larger than the window of every model
    /// that may be asked.
    ContextTooLarge,
    /// Answers [`Effect::AssembleContext`]: the request is assembled, and budgets do not allow it.
    OverBudget(BudgetRefusal),
    /// The request of this step takes budgets above these soft limits.
    SoftLimitsPassed(Vec<Redacted<String>>),
    /// The request that did not fit under a budget may fit by now: it is assembled again.
    BudgetDue(BudgetWake),
    /// Answers [`Effect::AssembleContext`] where inputs have references that nothing has resolved: these become calls
    /// first. Each input comes once, in order.
    ReferencesExpanded(Vec<ExpandedInput>),
    /// The model said something.
    Text {
        /// The attempt it belongs to.
        attempt: Attempt,
        /// The words; never empty.
        text: Redacted<String>,
    },
    /// The model showed some of its reasoning.
    Reasoning {
        /// The attempt it belongs to.
        attempt: Attempt,
        /// The words; never empty.
        text: Redacted<String>,
    },
    /// The model's answer is complete, and its proposals are judged.
    Answered {
        /// The attempt it ends.
        attempt: Attempt,
        /// The answer.
        answer: ModelAnswer,
        /// The model that was asked.
        model: ModelRef,
        /// Its proposals with the verdicts on them, in order; none where they are calls of functions of the client.
        calls: Vec<JudgedCall>,
    },
    /// The model failed.
    ModelFailed {
        /// The attempt it ends.
        attempt: Attempt,
        /// How.
        class: ModelFailureClass,
        /// What the provider said, for the person.
        detail: Redacted<String>,
        /// The pause it asked for.
        retry_after: Option<Duration>,
    },
    /// Answers [`Effect::RetryAt`]: the pause is over.
    RetryDue {
        /// The attempt after whose failure it was.
        attempt: Attempt,
    },
    /// A running tool printed something.
    ToolPrinted {
        /// Which effect.
        effect: EffectId,
        /// The words.
        text: Redacted<String>,
        /// Whether more of it may be shown, as far as the caller knows.
        rest: OutputRest,
    },
    /// A tool's outcome is known.
    ToolFinished {
        /// Which effect.
        effect: EffectId,
        /// What came of it.
        outcome: ToolExecutionOutcome,
        /// Keyed digest of the output.
        output_digest: ContentDigest,
        /// How long it took.
        duration: Duration,
    },
    /// A tool's outcome will not become known. Of a pure call that is a failure; of any other a question to a
    /// person.
    ToolOutcomeLost {
        /// Which effect.
        effect: EffectId,
        /// Why.
        cause: UnknownOutcomeCause,
    },
    /// Answers [`Effect::Prepare`]: what the call would do, or why it cannot work.
    ToolPrepared {
        /// Which effect.
        effect: EffectId,
        /// What it would do.
        prepared: Result<PreparedEffect, PrepareRefusal>,
        /// What policy says to it now; `None` only for a refusal.
        judged: Option<Box<ToolDecision>>,
        /// The id of the approval, should it have to be asked for again.
        fresh: ApprovalId,
    },
    /// Answers [`Effect::Judge`]: what policy says now to each call that it named.
    Judged(Vec<RejudgedCall>),
    /// A person answers an approval. A yes that may let a call run is [`AnswerStage::Judged`].
    ApprovalAnswered(AnswerStage),
    /// An approval's time is over.
    ApprovalExpired {
        /// Which one.
        approval: ApprovalId,
    },
    /// A person says what became of an effect whose outcome nobody knew.
    EffectResolved {
        /// Which effect.
        effect: EffectId,
        /// What became of it.
        resolution: EffectResolution,
        /// Who says so.
        by: PrincipalId,
        /// What they say with it.
        note: Redacted<String>,
    },
    /// A person answers a waiting run. One that this run took before, by its digest, changes nothing.
    Input {
        /// What was said.
        input: UserInput,
        /// Digest of the client's idempotency key.
        idempotency: Option<IdempotencyDigest>,
    },
    /// The client brings the results of all calls of the last answer.
    ClientToolsAnswered(Box<ClientResults>),
    /// The client has not brought them in time.
    ClientWaitExpired,
    /// A person says something to a run that works: the next model request shows it. A waiting run takes it as
    /// the answer; one that is over or about to stop refuses it as finished, one that has not begun as not
    /// waiting.
    Steer {
        /// What was said.
        input: UserInput,
        /// Digest of the client's idempotency key.
        idempotency: Option<IdempotencyDigest>,
    },
    /// Somebody wants it to stop.
    Cancel {
        /// Who.
        actor: PrincipalId,
        /// Why.
        reason: CancelReason,
    },
    /// The tape was replayed after a start of the daemon: go on from the last recorded step.
    Recovered,
    /// The runtime broke an invariant while working for this run.
    Broken,
}

impl RunInput {
    /// Ends a call that its caller does not make.
    #[must_use]
    pub fn not_made(effect: EffectId) -> Self {
        Self::ToolFinished {
            effect,
            outcome: ToolExecutionOutcome {
                failure: Some(ErrorCode::ToolCancelled),
                output: Redacted::default(),
                output_bytes_total: 0,
                executor: ToolExecutor::Internal,
                isolation: Isolation::DescriptorRelative,
                taints: Taints::NONE,
            },
            output_digest: ContentDigest::default(),
            duration: Duration::ZERO,
        }
    }
}

/// Why budgets do not allow a model request, and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetRefusal {
    /// What follows.
    pub outcome: BudgetOutcome,
    /// Which limits are in the way, and the ways to go on.
    pub explanation: Redacted<String>,
}

/// Why a run that waits for a budget tries again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetWake {
    /// A window began, or there is more room.
    Check,
    /// A person lets its request go on once.
    GoOnOnce,
}

/// What follows when budgets do not allow a model request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetOutcome {
    /// The run waits, until this time if the accounts in the way begin again.
    Wait {
        /// When they do; `None` when only a person can let the run go on.
        resumes: Option<Timestamp>,
    },
    /// The run ends.
    Refuse(ErrorCode),
}

/// What a client brings for the calls of functions that it performs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientResults {
    /// The calls: exactly those that are awaited.
    pub span: ClientCallSpan,
    /// What the functions returned, in the order of the calls.
    pub outputs: Vec<Redacted<String>>,
    /// What the client offers from here on, if it is not what it offered before.
    pub offer: Option<ClientToolOffer>,
    /// Digest of the key of the request. Results that this run took before, by it, change nothing.
    pub idempotency: Option<IdempotencyDigest>,
}

/// The references of one input, as proposals with the verdicts on them.
#[derive(Debug, Clone)]
pub struct ExpandedInput {
    /// The entry of the input.
    pub input: TapeSeq,
    /// The items, in the order in which they are written.
    pub items: Vec<ExpandedItem>,
    /// How many further references stay plain text.
    pub surplus: u32,
    /// How much of the items a model is shown.
    pub limits: ReferenceLimits,
}

/// One reference of an input.
#[derive(Debug, Clone)]
pub struct ExpandedItem {
    /// Its kind.
    pub kind: ReferenceKind,
    /// The reference as it is written.
    pub written: Redacted<String>,
    /// How it is resolved.
    pub means: ItemMeans,
}

/// How one reference of an input is resolved.
#[derive(Debug, Clone)]
pub enum ItemMeans {
    /// By a call.
    Call(Box<JudgedCall>),
    /// By the call of an earlier item, by its place from 0.
    SameAs(u32),
    /// Not at all.
    Refused(ReferenceError),
}

/// A proposal with its verdict.
#[derive(Debug, Clone)]
pub struct JudgedCall {
    /// What the model wants.
    pub proposal: ToolProposal,
    /// Keyed digest of tool and arguments.
    pub digest: ContentDigest,
    /// What policy says.
    pub decision: ToolDecision,
    /// The id of the approval, should one be needed.
    pub approval: ApprovalId,
}

/// What policy says, right before it would start, to a call that waited for its turn.
#[derive(Debug, Clone)]
pub struct RejudgedCall {
    /// Which effect.
    pub effect: EffectId,
    /// What policy says now.
    pub decision: ToolDecision,
    /// The id of the approval, should one be needed by now.
    pub fresh: ApprovalId,
}

/// What a call would do, worked out by its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedEffect {
    /// What goes on the record with its start.
    pub plan: EffectPlan,
    /// One line that says what it does.
    pub summary: Redacted<String>,
    /// What it would change, as a unified diff where there is one.
    pub preview: Redacted<String>,
    /// What an approval does not bind; empty when all is bound.
    pub unbound: Redacted<String>,
    /// What the model reads of a call that would change nothing; empty when it would change something.
    pub unchanged: Redacted<String>,
    /// Digest of the workspace's files that the call runs; `None` when it runs none.
    pub programs: Option<[u8; 32]>,
    /// Folders to which it cannot write, from the workspace root.
    pub read_only: Vec<String>,
}

/// Why a call cannot work, found while it was prepared: nothing was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrepareRefusal<T = Redacted<String>> {
    /// The code.
    pub code: ErrorCode,
    /// What the model reads.
    pub message: T,
}

/// Why a call cannot work, as its tool says it.
pub type RawPrepareRefusal = PrepareRefusal<Content<String>>;

/// Work for the runtime, in order. All but [`Effect::AssembleContext`] and [`Effect::Judge`] wait for the commit.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Inline and pure: assemble the next request and answer with [`RunInput::ContextReady`] within the step; or, where
    /// an input of the request has references that nothing has resolved, with [`RunInput::ReferencesExpanded`].
    AssembleContext {
        /// The attempt it is for.
        attempt: Attempt,
        /// Which model will be asked; `None` for the default one.
        model: Option<ModelRef>,
        /// Who may be asked instead, in order, when the run is too large for the model's window.
        instead: Vec<ModelRef>,
        /// How many estimated tokens the request should hold at most, if possible; `None` for the model's window.
        tokens_wished: Option<u64>,
        /// How many tokens the run may still write.
        output_tokens_left: u64,
    },
    /// Inline and pure: judge these calls with the policy of now, and answer with [`RunInput::Judged`] within the step.
    /// Each was allowed in an earlier step and waited for its turn, which has come.
    Judge(Vec<EffectId>),
    /// Ask the model, with the request assembled in this step.
    CallModel {
        /// The attempt.
        attempt: Attempt,
    },
    /// Drop the model request.
    AbortModel {
        /// The attempt.
        attempt: Attempt,
    },
    /// Wait until then, and answer with [`RunInput::RetryDue`].
    RetryAt {
        /// The attempt that failed.
        attempt: Attempt,
        /// When the pause is over.
        at: Timestamp,
    },
    /// Ask a tool what a call would do, and answer with [`RunInput::ToolPrepared`]. Changes nothing.
    Prepare(Intent),
    /// Run a tool. Later results with the same effect number belong to it.
    Execute(Grant),
    /// Stop every running tool; each still reports how it ended.
    AbortTools,
    /// The run is over; nothing more will be asked.
    End,
}

/// What to record and what to do, for one input.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MachineDecision {
    /// Facts to append, in order, in one commit.
    pub events: Vec<TapeEvent>,
    /// Work to do after the commit.
    pub effects: Vec<Effect>,
}
