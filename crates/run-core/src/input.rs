//! What enters a run and what leaves it, as values.

use std::time::Duration;

use palyra_types::event::{ContentDigest, ContextPlan, RunStarted, TapeEvent, UnknownOutcomeCause};
use palyra_types::model::{ModelAnswer, ModelFailureClass, ModelRef, ToolProposal};
use palyra_types::run::{CancelReason, IdempotencyDigest, UserInput};
use palyra_types::tool::{ToolDecision, ToolExecutionOutcome};
use palyra_types::{Attempt, EffectId, PrincipalId, Redacted, Timestamp};

use crate::grant::Grant;

/// A wish or a piece of news for a run: from a person, a model, a tool, a timer, or the runtime itself.
#[derive(Debug, Clone)]
pub enum RunInput {
    /// The run is accepted.
    Start(Box<RunStarted>),
    /// Its turn in the session has come.
    Begin,
    /// Answers [`Effect::AssembleContext`].
    ContextReady {
        /// What the model will be shown.
        plan: ContextPlan,
        /// Which model.
        model: ModelRef,
    },
    /// Answers [`Effect::AssembleContext`]: the input alone is larger than the window of every model
    /// that may be asked.
    ContextTooLarge,
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
        /// Its proposals with the verdicts on them, in order.
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
    /// A person answers a waiting run. One that this run took before, by its digest, changes nothing.
    Input {
        /// What was said.
        input: UserInput,
        /// Digest of the client's idempotency key.
        idempotency: Option<IdempotencyDigest>,
    },
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

/// A proposal with its verdict.
#[derive(Debug, Clone)]
pub struct JudgedCall {
    /// What the model wants.
    pub proposal: ToolProposal,
    /// Keyed digest of tool and arguments.
    pub digest: ContentDigest,
    /// What policy says.
    pub decision: ToolDecision,
}

/// Work for the runtime, in order. All but [`Effect::AssembleContext`] wait for the commit.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Inline and pure: assemble the next request and answer with [`RunInput::ContextReady`] within the step.
    AssembleContext {
        /// The attempt it is for.
        attempt: Attempt,
        /// Which model will be asked; `None` for the default one.
        model: Option<ModelRef>,
        /// Who may be asked instead, in order, when the run is too large for the model's window.
        instead: Vec<ModelRef>,
        /// How many estimated tokens the request should hold at most, if possible; `None` for the model's window.
        tokens_wished: Option<u64>,
    },
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
    /// Run a tool. Later results with the same effect number belong to it.
    Execute(Grant),
    /// Stop every running tool; each still reports how it ended.
    AbortTools,
    /// The run is over; nothing more will be asked.
    End,
}

/// What to record and what to do, for one input.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Facts to append, in order, in one commit.
    pub events: Vec<TapeEvent>,
    /// Work to do after the commit.
    pub effects: Vec<Effect>,
}
