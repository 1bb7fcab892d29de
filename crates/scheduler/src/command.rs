//! What callers ask of the loop, and what is reported to it.

use palyra_ports::CredentialUser;
use palyra_types::access::ActorIdentity;
use palyra_types::schedule::{OccurrenceOutcome, PauseScope};
use palyra_types::tool::Taints;
use palyra_types::{Content, PrincipalId, RunId, ScheduleId, Timestamp};
use tokio::sync::oneshot;

use crate::draft::ScheduleDraft;
use crate::error::ScheduleError;

/// Who makes a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScheduleRequester {
    /// A caller; recorded with what the request changes.
    Caller(ActorIdentity),
    /// A call of a run that works for a principal.
    Run(CallOrigin),
}

impl ScheduleRequester {
    /// Returns whose schedules it is about.
    pub(crate) fn principal(self) -> PrincipalId {
        match self {
            Self::Caller(actor) => actor.principal,
            Self::Run(origin) => origin.call.principal,
        }
    }

    /// Returns who acts, as it is recorded; a run has no identity but its principal's.
    pub(crate) fn actor(self) -> Option<ActorIdentity> {
        match self {
            Self::Caller(actor) => Some(actor),
            Self::Run(_) => None,
        }
    }
}

/// The call of a run, and what that run has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallOrigin {
    pub(crate) call: CredentialUser,
    pub(crate) taints: Taints,
}

/// A request with the place for its answer.
pub(crate) struct ScheduleCommand {
    pub(crate) requester: ScheduleRequester,
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
