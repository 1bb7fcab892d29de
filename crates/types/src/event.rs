//! What can happen, as recorded facts.
//!
//! Every entry of the journal is a [`JournalEvent`]. Fields wrapped in [`Redacted`] are content: they go
//! to the erasable payload of the entry. All other fields are facts: ids, enums, counts, times and keyed
//! digests, which stay for ever and suffice to rebuild the run machine and every projection.
//!
//! After an erasure an entry's content fields are empty and [`crate::tape::ContentState`] says so.

use std::path::PathBuf;
use std::time::Duration;

pub use crate::digest::ContentDigest;

use crate::agent::AgentProfile;
use crate::approval::{
    ApprovalRequested, ApprovalResolved, ApprovalTerms, ApprovalVoted, Approvers, StoredGrant,
};
use crate::component::ComponentEvent;
use crate::effect::{EffectPlan, EffectResolution, EffectSettled, ToolOutput, UndoRequested, UndoneFile};
use crate::job::JobEvent;
use crate::model::{
    FinishReason, ModelFailureClass, ModelRef, ProviderContinuation, ResponseFormat, TokenUsage,
};
use crate::posture::PostureChanged;
use crate::proof::{ErasureReason, ReopenReason, SeqRange, TreeHead};
use crate::run::{
    CancelReason, IdempotencyDigest, InputDelivery, RunLifecycleState, RunLimits, Surface, TerminationReason,
    UserInput,
};
use crate::session::BranchPoint;
use crate::shadow::ShadowCounts;
use crate::skill::{ActivatedSkill, SkillEvent};
use crate::tool::{
    ApprovalRiskLevel, DecisionReason, EffectContract, Isolation, Parallelism, Taints, ToolConduct,
    ToolExecutor, ToolVerdict,
};
use crate::vault::VaultEvent;
use crate::{
    AgentId, ApprovalId, Attempt, EffectId, Epoch, ErrorCode, LogId, PrincipalId, Redacted, RunId, Seq,
    SessionId, StoredGrantId, TapeSeq, Timestamp, TokenId, UndoId,
};

/// Whether the payloads of an epoch are sealed. It is in the tree, so nobody can mark a payload as sealed afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochSealing {
    /// None is.
    Off,
    /// They are.
    On,
}

/// Anything the journal records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalEvent {
    /// The log's first entry.
    LogOpened {
        /// The log's id.
        log_id: LogId,
        /// The nonce behind it.
        nonce: [u8; 32],
        /// The first epoch's public key (Ed25519).
        first_key: [u8; 32],
    },
    /// A daemon started writing.
    EpochStarted {
        /// Its number.
        epoch: Epoch,
        /// Its public key (Ed25519).
        key: [u8; 32],
        /// Whether its payloads are sealed; `None` where an older daemon did not say.
        sealing: Option<EpochSealing>,
    },
    /// The content of earlier entries was erased; the entries themselves stay.
    Erased {
        /// Who wanted it.
        authoriser: PrincipalId,
        /// Why.
        reason: ErasureReason,
        /// Which entries, ascending, apart, all below this one; at most
        /// [`crate::proof::ERASURE_RANGES_MAX`].
        ranges: Vec<SeqRange>,
    },
    /// The log ended and another one begins over the same entries.
    LogReopened {
        /// The new log's id (also in the envelope).
        log_id: LogId,
        /// The nonce behind it.
        nonce: [u8; 32],
        /// The new log's first public key (Ed25519).
        key: [u8; 32],
        /// The newest known head of the old log, given up with this.
        abandoned: TreeHead,
        /// Why.
        reason: ReopenReason,
    },
    /// Somebody became known.
    PrincipalRegistered {
        /// The id (also in the envelope).
        principal: PrincipalId,
        /// The name.
        name: Redacted<String>,
    },
    /// An access token was made.
    TokenCreated {
        /// Its id.
        token: TokenId,
        /// SHA-256 of the token's text.
        sha256: [u8; 32],
        /// When it ends.
        expires: Option<Timestamp>,
        /// What it is for.
        label: Redacted<String>,
    },
    /// An access token was revoked.
    TokenRevoked {
        /// Its id.
        token: TokenId,
    },
    /// An agent was made or changed; the latest profile counts.
    AgentSaved {
        /// Its id.
        agent: AgentId,
        /// The whole profile.
        profile: AgentProfile,
    },
    /// An agent was archived.
    AgentArchived {
        /// Its id.
        agent: AgentId,
    },
    /// A conversation began.
    SessionOpened {
        /// Its id (also in the envelope).
        session: SessionId,
        /// The agent it is bound to.
        agent: AgentId,
        /// The client's name for it.
        key: Option<Redacted<String>>,
        /// A title.
        label: Option<Redacted<String>>,
        /// Where it branched off another one.
        branched_from: Option<BranchPoint>,
    },
    /// A conversation got another title.
    SessionRenamed {
        /// Its id (also in the envelope).
        session: SessionId,
        /// The title; `None` for none.
        label: Option<Redacted<String>>,
    },
    /// A conversation is put away: it takes no new input.
    SessionArchived {
        /// Its id (also in the envelope).
        session: SessionId,
    },
    /// A conversation is taken up again.
    SessionRestored {
        /// Its id (also in the envelope).
        session: SessionId,
    },
    /// A conversation starts afresh; history before this entry is not shown to models.
    SessionReset {
        /// Its id (also in the envelope).
        session: SessionId,
    },
    /// A stored grant no longer holds.
    GrantRevoked {
        /// The grant.
        grant: StoredGrantId,
        /// Who revoked it.
        by: PrincipalId,
    },
    /// What a person says became of an effect, beside the tape of its run.
    EffectSettled(EffectSettled),
    /// What a run changed is about to be taken back.
    UndoRequested(UndoRequested),
    /// What became of taking it back.
    UndoFinished {
        /// Which one.
        undo: UndoId,
        /// The run.
        run: RunId,
        /// Its files.
        files: Vec<UndoneFile>,
    },
    /// What became of an installed skill; who did it is in the envelope, nil for the daemon itself.
    Skill(SkillEvent),
    /// What became of a component; who did it is in the envelope.
    Component(ComponentEvent),
    /// What becomes of a job.
    Job(JobEvent),
    /// A standing setting of a tool was made, replaced or taken back.
    PostureChanged(PostureChanged),
    /// What policies that are tried out would have decided so far.
    ShadowCounted(ShadowCounts),
    /// Something was done with the vault; who did it is in the envelope.
    Vault(VaultEvent),
    /// An entry of a run's tape.
    Tape(TapeEvent),
    /// A kind that this version does not know.
    Unknown {
        /// Its number in the registry of kinds.
        kind: u16,
    },
}

/// Anything that happens in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TapeEvent {
    /// The run was accepted.
    RunStarted(RunStarted),
    /// A person answered a waiting run, or steered a running one.
    InputReceived {
        /// What was said.
        input: UserInput,
        /// `Steer` when the run did not wait for it; the next model request shows it.
        delivery: InputDelivery,
        /// Digest of the client's idempotency key.
        idempotency: Option<IdempotencyDigest>,
    },
    /// A model was asked.
    ModelRequested(ModelRequested),
    /// The model said something.
    ModelText {
        /// The attempt it belongs to.
        attempt: Attempt,
        /// The words; never empty unless erased.
        text: Redacted<String>,
    },
    /// The model's provider showed some of its reasoning; never part of an answer or of later requests.
    ModelReasoning {
        /// The attempt it belongs to.
        attempt: Attempt,
        /// The words; never empty unless erased.
        text: Redacted<String>,
    },
    /// The model's answer is complete.
    ModelMessage(ModelMessage),
    /// An attempt ended without an answer; its text does not count.
    ModelAttemptAbandoned {
        /// The attempt.
        attempt: Attempt,
        /// First text entry superseded; zero when it had none.
        text_from: TapeSeq,
        /// Last text entry superseded.
        text_to: TapeSeq,
        /// Why.
        cause: AbandonCause,
        /// What comes instead.
        next: NextAttempt,
        /// When it comes; `None` for at once.
        retry_at: Option<Timestamp>,
        /// What the provider said.
        detail: Redacted<String>,
    },
    /// The model wants a tool.
    ToolProposed(ToolProposed),
    /// Policy (or a grant, or a human) decided.
    ToolDecided(ToolDecided),
    /// The tool is about to act: committed before its first effect.
    ToolStarted(ToolStarted),
    /// The tool printed something while it ran.
    ToolOutput(ToolOutput),
    /// The tool's outcome is known.
    ToolFinished(ToolFinished),
    /// Nobody knows whether the tool took effect.
    ToolOutcomeUnknown {
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
    /// A person is asked whether a call may run.
    ApprovalRequested(Box<ApprovalRequested>),
    /// One of several people whose yes is needed said yes.
    ApprovalVoted(ApprovalVoted),
    /// An approval is decided.
    ApprovalResolved(ApprovalResolved),
    /// A permission that outlives its call was given with an approval.
    GrantStored(StoredGrant),
    /// The run repeats itself and waits for a person.
    LoopDetected {
        /// Which guard.
        guard: LoopGuard,
        /// How often it happened.
        repeats: u32,
    },
    /// The run was held until a person looks at it: what it was doing may have happened or not.
    RunHeld {
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
    /// The run is over.
    RunFinished(RunFinished),
    /// A kind that this version does not know; critical ones park the run.
    Unknown {
        /// Its number in the registry of kinds.
        kind: u16,
    },
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
    pub approvers: Approvers,
    /// What its conversation has read before it.
    pub taints: Taints,
    /// The skills at work in it: each narrows what it may use.
    pub skills: Vec<ActivatedSkill>,
    /// What was typed.
    pub input: UserInput,
    /// The folder its tools may see.
    pub workspace_root: Redacted<PathBuf>,
    /// The model it starts with.
    pub model: Redacted<Option<ModelRef>>,
    /// The models that may be asked instead when that one fails, in order.
    pub fallbacks: Redacted<Vec<ModelRef>>,
    /// What the final answer has to look like.
    pub response_format: Option<ResponseFormat>,
    /// Key of this run's content digests.
    pub run_salt: Redacted<[u8; 32]>,
}

/// What of the conversation a model was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContextPlan {
    /// Messages sent.
    pub messages_kept: u32,
    /// Messages left out, oldest first.
    pub messages_dropped: u32,
    /// Why they were left out.
    pub dropped_because: Option<DropReason>,
    /// Journal seq of the oldest entry shown; `None` when only this run is.
    pub oldest_seq: Option<Seq>,
    /// Estimated tokens of the whole request.
    pub tokens_estimated: u64,
    /// SHA-256 of the instructions (body in the journal's static texts).
    pub instructions_digest: [u8; 32],
    /// SHA-256 of the tool catalogue (body in the journal's static texts).
    pub catalog_digest: [u8; 32],
}

/// Why a message was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// The window is too small for all of it.
    Window,
}

/// A model was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRequested {
    /// The request's number within the run.
    pub attempt: Attempt,
    /// The turn it serves, from 1; a repetition serves the same turn.
    pub turn: u32,
    /// What it was shown.
    pub context: ContextPlan,
    /// Which model.
    pub model: Redacted<Option<ModelRef>>,
}

/// The model's answer is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelMessage {
    /// The request it answers.
    pub attempt: Attempt,
    /// First entry of its text; zero when it said nothing.
    pub text_from: TapeSeq,
    /// Last entry of its text.
    pub text_to: TapeSeq,
    /// Calls proposed right after this entry.
    pub proposals: u32,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it used.
    pub usage: TokenUsage,
    /// Which model answered.
    pub model: Redacted<Option<ModelRef>>,
    /// The provider's id of the response.
    pub response_id: Redacted<String>,
    /// What the provider wants back with this message in later requests.
    pub continuation: Option<ProviderContinuation>,
}

/// What comes after an attempt that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NextAttempt {
    /// None that this entry announces: the run ends, stops, or goes on by its recovery.
    #[default]
    None,
    /// The same model is asked again.
    SameModel,
    /// The next model of the run's chain is asked.
    NextModel,
    /// The same model is asked with less of the conversation.
    ShorterContext,
}

/// Why an attempt was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AbandonCause {
    /// The daemon stopped while the model was answering.
    Restart,
    /// The provider failed.
    Failure(ModelFailureClass),
    /// The run was cancelled.
    Cancelled,
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
    pub ask: Option<Ask>,
    /// Why, for people and the model.
    pub explanation: Redacted<String>,
    /// What policy was asked, verbatim: canonical JSON; empty where it was not.
    pub request: Redacted<String>,
}

/// An approval that a decision wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ask {
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
    pub attested: Attested,
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
    /// What the model reads.
    pub output: Redacted<String>,
}

/// What a call ran under; with executor and isolation of its outcome, the attestation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Attested {
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
