//! Requests of callers to sessions, and the answers to them.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_types::approval::ApproverPresence;
use palyra_types::client_tool::{ClientCallSpan, ClientToolOffer};
use palyra_types::model::{ModelRef, ResponseFormat};
use palyra_types::recall::RecallSwitch;
use palyra_types::run::{InputDelivery, UserInput};
use palyra_types::sampling::SamplingOptions;
use palyra_types::session::OrchestratorSessionRecord;
use palyra_types::{Content, Redacted, RunId, SessionId, TapeSeq};

use crate::admit_files::IncomingFile;

/// Which session a request is for.
#[derive(Debug, Clone, Default)]
pub struct SessionSelector {
    /// By id.
    pub id: Option<SessionId>,
    /// By the client's own name for it.
    pub key: Option<Content<String>>,
    /// A title, if it is created.
    pub label: Option<Content<String>>,
    /// What to do when it does not exist.
    pub existing: ExistingSession,
    /// Whether to start afresh.
    pub reset: ResetMode,
}

/// What to do when a session does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistingSession {
    /// Open it.
    #[default]
    Optional,
    /// Refuse.
    Required,
}

/// Whether history is to be left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResetMode {
    /// Go on with what was said.
    #[default]
    Keep,
    /// Start a fresh context; nothing is deleted.
    Reset,
}

/// A place in a run where a new session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchRequest {
    /// The run, of any session of the caller.
    pub run: RunId,
    /// The last entry of it that the new session sees; `None` for all that is recorded.
    pub tape_seq: Option<TapeSeq>,
}

/// A change as it is recorded.
pub type RecordedChange = SessionChange<Redacted<String>>;

/// What is to become of a session as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionChange<T = Content<String>> {
    /// It gets another title, or none.
    Rename(Option<T>),
    /// It starts afresh; nothing is deleted.
    Reset,
    /// It takes no new input.
    Archive,
    /// It takes input again.
    Restore,
    /// It says itself whether its runs are given items of memory unasked; `None` leaves that to wider levels.
    SetRecall(Option<RecallSwitch>),
}

/// A new input.
#[derive(Debug, Clone)]
pub struct SubmitRequest {
    /// Where.
    pub session: SessionSelector,
    /// What was typed; its files come in `files`.
    pub input: UserInput<Content<String>>,
    /// Files that come with it.
    pub files: Vec<IncomingFile>,
    /// How it meets the session's active run.
    pub delivery: InputDelivery,
    /// Whether a person could approve its calls.
    pub approvers: ApproverPresence,
    /// Makes repeating it harmless.
    pub idempotency_key: Option<Content<String>>,
    /// The folder tools may see; of callers that are not local, one below a root of the agent, or `offered_root`.
    pub workspace_root: Option<Content<PathBuf>>,
    /// The folder in which a local caller is, at or below the root: what the project says there counts too.
    pub working_folder: Option<Content<PathBuf>>,
    /// A folder that the caller's credential may use, beside the roots of agents.
    pub offered_root: Option<Content<PathBuf>>,
    /// The model to use.
    pub model: Option<ModelRef>,
    /// The agent, by name.
    pub agent: Option<String>,
    /// What the final answer has to look like.
    pub response_format: Option<ResponseFormat<Content<Arc<str>>>>,
    /// How the words of its answers are chosen.
    pub sampling: SamplingOptions<Content<String>>,
    /// Functions that the caller performs itself: with them, the run offers no tools.
    pub client_tools: Option<ClientToolOffer<Content<String>>>,
    /// Tokens that the model may write over all turns; never more than the configured limit.
    pub output_tokens_max: Option<u64>,
}

impl SubmitRequest {
    /// Asks for nothing but a run for this input.
    #[must_use]
    pub fn new(session: SessionSelector, input: UserInput<Content<String>>) -> Self {
        Self {
            session,
            input,
            files: Vec::new(),
            delivery: InputDelivery::Queue,
            approvers: ApproverPresence::default(),
            idempotency_key: None,
            workspace_root: None,
            working_folder: None,
            offered_root: None,
            model: None,
            agent: None,
            response_format: None,
            sampling: SamplingOptions::default(),
            client_tools: None,
            output_tokens_max: None,
        }
    }
}

/// Where an input may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InputReach {
    /// Into the run, or into a new run of its session.
    #[default]
    RunOrNew,
    /// Into the run only.
    RunOnly,
}

/// What a person says to a run.
#[derive(Debug, Clone)]
pub struct InputRequest {
    /// The words.
    pub text: Content<String>,
    /// Files that come with them.
    pub files: Vec<IncomingFile>,
    /// How it meets the run when that does not wait for it.
    pub delivery: InputDelivery,
    /// Makes repeating it harmless.
    pub idempotency_key: Option<Content<String>>,
    /// Where it may go.
    pub reach: InputReach,
}

impl InputRequest {
    /// Says something that waits for its turn unless the run waits for it.
    #[must_use]
    pub fn text(text: Content<String>) -> Self {
        Self {
            text,
            files: Vec::new(),
            delivery: InputDelivery::Queue,
            idempotency_key: None,
            reach: InputReach::RunOrNew,
        }
    }
}

/// What a caller brings to a run that called functions which the caller performs.
#[derive(Debug, Clone)]
pub struct ClientResultsRequest {
    /// The calls: all of those that the run waits for.
    pub span: ClientCallSpan,
    /// What the functions returned, in the order of the calls.
    pub outputs: Vec<Content<String>>,
    /// What the caller offers from here on.
    pub offer: ClientToolOffer<Content<String>>,
    /// Makes repeating it harmless.
    pub idempotency_key: Option<Content<String>>,
}

/// How an input got in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdmissionKind {
    /// Its run began.
    Started,
    /// Its run waits for the one before it.
    Queued,
    /// The same input came before: this is its run.
    Attached,
    /// It joined the run that was active.
    Joined,
}

/// The receipt of a durable input.
#[derive(Debug, Clone)]
pub struct SubmitReceipt {
    /// Its run.
    pub run: RunId,
    /// The session.
    pub session: SessionId,
    /// Whether this call opened the session.
    pub session_created: bool,
    /// How it got in.
    pub admission: AdmissionKind,
    /// How it was taken, which may differ from the request: a note says why.
    pub delivered: InputDelivery,
    /// The model in force; `None` for a run that was there before.
    pub model: Option<ModelRef>,
    /// The last entry of the commit that began its run; `None` unless it begun with this.
    pub begun_upto: Option<TapeSeq>,
    /// What the person should know.
    pub notes: Vec<String>,
}

/// A session found or opened.
#[derive(Debug, Clone)]
pub struct ResolvedSession {
    /// The session.
    pub record: OrchestratorSessionRecord,
    /// Whether this call opened it.
    pub created: bool,
    /// Whether this call reset it.
    pub reset_applied: bool,
}

/// An archived session, with all its runs asked to stop.
#[derive(Debug, Clone)]
pub struct CleanedSession {
    /// The session.
    pub record: OrchestratorSessionRecord,
    /// Runs that were open.
    pub cancelled_runs: u32,
}
