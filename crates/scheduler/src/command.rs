//! What callers ask of the loop, and what is reported to it.

use palyra_types::access::ActorIdentity;
use palyra_types::schedule::{OccurrenceOutcome, PauseScope};
use palyra_types::{Content, RunId, ScheduleId, Timestamp};
use tokio::sync::oneshot;

use crate::draft::ScheduleDraft;
use crate::error::ScheduleError;

/// A request with the place for its answer.
pub(crate) struct ScheduleCommand {
    pub(crate) actor: ActorIdentity,
    pub(crate) request: ScheduleRequest,
    pub(crate) reply_tx: oneshot::Sender<Result<CommandReceipt, ScheduleError>>,
}

/// A request.
pub(crate) enum ScheduleRequest {
    Create(Box<ScheduleDraft>),
    Edit { schedule: ScheduleId, draft: Box<ScheduleDraft> },
    Pause(ScheduleId),
    PauseMany(PauseScope),
    Resume(ScheduleId),
    ResumeMany(PauseScope),
    Remove(ScheduleId),
    RunNow(ScheduleId),
}

/// What became of a request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CommandReceipt {
    /// The schedule that was made.
    pub(crate) schedule: Option<ScheduleId>,
    /// The planned instant of the occurrence that was started.
    pub(crate) planned: Option<Timestamp>,
}

/// What happened to an occurrence.
#[derive(Debug, Clone)]
pub(crate) struct OccurrenceReport {
    pub(crate) schedule: ScheduleId,
    pub(crate) planned: Timestamp,
    pub(crate) step: OccurrenceStep,
}

/// A step of an occurrence.
#[derive(Debug, Clone)]
pub(crate) enum OccurrenceStep {
    /// Its run was started.
    Started(RunId),
    /// Its run has ended.
    Ended { run: RunId, outcome: OccurrenceOutcome },
    /// No run was started, for this reason.
    NotStarted(Content<String>),
}
