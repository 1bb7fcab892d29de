//! What callers ask of sessions, and what they are told.

use std::path::PathBuf;

use palyra_types::model::ModelRef;
use palyra_types::run::{InputDelivery, UserInput};
use palyra_types::session::OrchestratorSessionRecord;
use palyra_types::{Redacted, RunId, SessionId};

/// Which session is meant.
#[derive(Debug, Clone, Default)]
pub struct SessionSelector {
    /// By id.
    pub id: Option<SessionId>,
    /// By the client's own name for it.
    pub key: Option<Redacted<String>>,
    /// A title, if it is created.
    pub label: Option<Redacted<String>>,
    /// What to do when it does not exist.
    pub existing: ExistingSession,
    /// Whether to start afresh.
    pub reset: ResetWish,
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
pub enum ResetWish {
    /// Go on with what was said.
    #[default]
    Keep,
    /// Start a fresh context; nothing is deleted.
    Reset,
}

/// A new input.
#[derive(Debug, Clone)]
pub struct SubmitRequest {
    /// Where.
    pub session: SessionSelector,
    /// What was typed.
    pub input: UserInput,
    /// How it meets the session's active run.
    pub delivery: InputDelivery,
    /// Makes repeating it harmless.
    pub idempotency_key: Option<Redacted<String>>,
    /// The folder tools may see; local callers only.
    pub workspace_root: Option<Redacted<PathBuf>>,
    /// The model to use.
    pub model: Option<ModelRef>,
    /// The agent, by name.
    pub agent: Option<String>,
}

/// How an input got in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Its run began.
    Begun,
    /// Its run waits for the one before it.
    Queued,
    /// The same input came before: this is its run.
    Attached,
}

/// The receipt of a durable input.
#[derive(Debug, Clone)]
pub struct Submitted {
    /// Its run.
    pub run: RunId,
    /// The session.
    pub session: SessionId,
    /// Whether this call opened the session.
    pub session_created: bool,
    /// How it got in.
    pub admission: Admission,
    /// The model in force; `None` for a run that was there before.
    pub model: Option<ModelRef>,
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
