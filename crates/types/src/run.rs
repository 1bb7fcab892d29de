//! One execution on behalf of a session: what it is asked, what it may spend, and where it stands.

use std::time::Duration;

pub use crate::surface::Surface;

use crate::attachment::Attachment;
use crate::model::TokenUsage;
use crate::{AgentId, ErrorCode, PrincipalId, Redacted, RunId, Seq, SessionId, TapeSeq, Timestamp};

/// The life of a run. Terminal states are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunLifecycleState {
    /// Accepted, and not begun.
    Pending,
    /// Begun; a run that waits is in progress too.
    InProgress,
    /// Ended with a final answer.
    Done,
    /// Ended by somebody's wish, or by its time limit.
    Cancelled,
    /// Ended by an error.
    Failed,
}

impl RunLifecycleState {
    /// Returns whether nothing can follow.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Pending | Self::InProgress => false,
            Self::Done | Self::Cancelled | Self::Failed => true,
        }
    }
}

/// What moves a run from one lifecycle state to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunTransition {
    /// Recorded with the first model request.
    StartStreaming,
    /// A final answer.
    Complete,
    /// Somebody's wish, or the time limit.
    Cancel,
    /// An error.
    Fail,
}

/// What a waiting run waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitReason {
    /// It repeated itself: an input lets it go on.
    LoopCheck,
    /// A tool may or may not have taken effect: an input lets it go on.
    OutcomeUnknown,
    /// A call waits for an approval.
    Approval,
    /// The model asked the person something: an input answers it.
    Question,
    /// Its tape holds an entry that this version does not know: it can only be cancelled here.
    UnknownKind,
    /// The program that asked for it performs functions of its own: their results let it go on.
    ClientTool,
    /// Its next model request does not fit under a budget.
    Budget,
}

/// What clients see of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunPhase {
    /// Pending.
    Queued,
    /// Something is being done.
    Running,
    /// Nothing can be done until somebody answers.
    Waiting(WaitReason),
    /// Over.
    Finished,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TerminationReason {
    /// The model gave its final answer.
    FinalAnswer,
    /// Somebody cancelled it.
    Cancelled,
    /// Somebody said something more urgent.
    Interrupted,
    /// It used all its active time.
    TimeLimit,
    /// It used all its turns.
    TurnLimit,
    /// It used all its tool calls.
    ToolLimit,
    /// The model provider failed.
    ProviderError,
    /// The input does not fit the window.
    ContextExhausted,
    /// A content policy cut the answer off.
    ContentPolicy,
    /// It repeated itself and was stopped.
    LoopStopped,
    /// An invariant did not hold.
    InternalError,
    /// A budget refused its model request.
    OverBudget,
}

impl TerminationReason {
    /// Returns the transition it causes.
    #[must_use]
    pub fn transition(self) -> RunTransition {
        match self {
            Self::FinalAnswer => RunTransition::Complete,
            Self::Cancelled | Self::Interrupted | Self::TimeLimit => RunTransition::Cancel,
            Self::TurnLimit
            | Self::ToolLimit
            | Self::ProviderError
            | Self::ContextExhausted
            | Self::ContentPolicy
            | Self::LoopStopped
            | Self::InternalError
            | Self::OverBudget => RunTransition::Fail,
        }
    }

    /// Returns the terminal state it leads to.
    #[must_use]
    pub fn state(self) -> RunLifecycleState {
        match self.transition() {
            RunTransition::Complete => RunLifecycleState::Done,
            RunTransition::Cancel => RunLifecycleState::Cancelled,
            RunTransition::Fail => RunLifecycleState::Failed,
            RunTransition::StartStreaming => RunLifecycleState::InProgress,
        }
    }
}

/// Why a cancel was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CancelReason {
    /// A person asked.
    User,
    /// The active time is used up.
    TimeLimit,
    /// An interrupting input was accepted.
    Interrupted,
    /// The client did not bring the results of its functions in time.
    ClientToolExpired,
}

/// How an input meets a session whose run is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum InputDelivery {
    /// It waits for its turn.
    #[default]
    Queue,
    /// It joins the active run at its next model request.
    Steer,
    /// The active run is cancelled, then it runs, before whatever waits.
    Interrupt,
}

/// What a run may spend. Waiting for a human costs nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunLimits {
    /// Model requests with their answers.
    pub turns_max: u32,
    /// Tool calls proposed.
    pub tool_calls_max: u32,
    /// Time in which something was being done.
    pub active_time_max: Duration,
    /// Tools running at once.
    pub parallel_tools_max: u32,
    /// Tokens written by the model over all turns.
    pub output_tokens_max: u64,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            turns_max: 50,
            tool_calls_max: 200,
            active_time_max: Duration::from_secs(30 * 60),
            parallel_tools_max: 4,
            output_tokens_max: 1_000_000,
        }
    }
}

/// What a person typed: one or several messages taken together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserInput<T = Redacted<String>> {
    /// The words.
    pub text: T,
    /// Files that came with them, at most [`crate::attachment::ATTACHMENTS_MAX`].
    pub attachments: Vec<Attachment>,
}

impl<T> UserInput<T> {
    /// Makes an input without files.
    #[must_use]
    pub fn text(text: T) -> Self {
        Self { text, attachments: Vec::new() }
    }
}

/// A client's idempotency key, digested together with its principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdempotencyDigest(pub [u8; 32]);

/// A run as lists show it: a projection of its tape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Its id.
    pub run: RunId,
    /// Its session.
    pub session: SessionId,
    /// Who asked.
    pub principal: PrincipalId,
    /// The agent.
    pub agent: AgentId,
    /// How its input met the session.
    pub delivery: InputDelivery,
    /// Its lifecycle state.
    pub state: RunLifecycleState,
    /// What clients see.
    pub phase: RunPhase,
    /// Why it ended.
    pub reason: Option<TerminationReason>,
    /// The error behind the end.
    pub error: Option<ErrorCode>,
    /// The last number on its tape.
    pub last_tape_seq: TapeSeq,
    /// The journal seq of its first entry.
    pub first_seq: Seq,
    /// When it was accepted.
    pub created: Timestamp,
    /// When its last entry was written.
    pub updated: Timestamp,
    /// Turns used.
    pub turns: u32,
    /// Tool calls used.
    pub tool_calls: u32,
    /// Calls that have to be prepared before they start, or before they are asked about, and are not: at least those
    /// at which somebody has to work, though the run waits for a person.
    pub unprepared: u32,
    /// Tokens used.
    pub usage: TokenUsage,
    /// The first characters of the input, at most 120; empty once erased.
    pub input_preview: Redacted<String>,
}
