//! The border to what starts runs.

use futures::future::BoxFuture;
use palyra_admin::occurrence_key;
use palyra_types::schedule::OccurrenceOutcome;
use palyra_types::{Content, PrincipalId, Redacted, RunId, ScheduleId, Timestamp};

/// Starts runs of schedules and follows them to their end.
pub trait StartScheduledRuns: Send + Sync + 'static {
    /// Starts the run of an occurrence, or finds the one that was started for it before.
    fn start(&self, run: ScheduledRun) -> BoxFuture<'_, Result<StartedRun, RunNotStarted>>;

    /// Cancels a run; one that has ended stays as it is.
    fn cancel(&self, principal: PrincipalId, run: RunId) -> BoxFuture<'_, Result<(), RunNotStarted>>;
}

/// The run of an occurrence.
#[derive(Debug, Clone)]
pub struct ScheduledRun {
    /// On whose behalf.
    pub principal: PrincipalId,
    /// The schedule.
    pub schedule: ScheduleId,
    /// The planned instant of the occurrence.
    pub planned: Timestamp,
    /// The name of the agent.
    pub agent: String,
    /// The name of the schedule, as a title of its session.
    pub name: Redacted<String>,
    /// The prompt.
    pub prompt: Redacted<String>,
}

impl ScheduledRun {
    /// Returns the key of the session of the schedule.
    #[must_use]
    pub fn session_key(&self) -> Content<String> {
        Content::new(session_key(self.schedule))
    }

    /// Returns the key under which the run is started at most once.
    #[must_use]
    pub fn idempotency_key(&self) -> Content<String> {
        occurrence_key(self.schedule, self.planned)
    }
}

/// Returns the key of the session of a schedule.
pub(crate) fn session_key(schedule: ScheduleId) -> String {
    format!("sched:{schedule}")
}

/// A run that was started.
pub struct StartedRun {
    /// Its id.
    pub run: RunId,
    /// Resolves when it has ended; with `None` when the daemon stops before.
    pub end: BoxFuture<'static, Option<OccurrenceOutcome>>,
}

/// Why a run was not started.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RunNotStarted {
    /// It will not be started by a repetition either.
    #[error("{what}")]
    Refused {
        /// Why, in words.
        what: String,
    },
    /// It may be started later.
    #[error("{what}")]
    Later {
        /// Why, in words.
        what: String,
    },
}
