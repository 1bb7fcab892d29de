//! Occurrences of schedules: why they run, why they do not, and how they end.

use crate::{PrincipalId, Redacted, RunId, ScheduleId, Timestamp};

/// Why a schedule is paused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PauseCause {
    /// A person paused it.
    Person,
    /// Too many occurrences in a row failed.
    Failures,
    /// The occurrence check refused it in a way that does not mend itself.
    Refused,
}

impl PauseCause {
    /// Every cause with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Person, "person"), (Self::Failures, "failures"), (Self::Refused, "refused")];
}

crate::words::words_of_table!(PauseCause);

/// Whose schedules a pause of many is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PauseScope {
    /// Those of one principal.
    Principal(PrincipalId),
    /// All.
    Everyone,
}

/// Why an occurrence runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OccurrenceCause {
    /// Its time has come.
    Due,
    /// Its time has passed, and the missed rule runs it.
    Missed,
    /// A person starts it now; it is named by that instant.
    Manual,
}

impl OccurrenceCause {
    /// Every cause with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Due, "due"), (Self::Missed, "missed"), (Self::Manual, "manual")];
}

crate::words::words_of_table!(OccurrenceCause);

/// How an occurrence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OccurrenceOutcome {
    /// Its run completed, or its reminder was delivered.
    Succeeded,
    /// Its run failed.
    Failed,
    /// A person cancelled it.
    Cancelled,
    /// The next occurrence replaced it.
    Replaced,
}

impl OccurrenceOutcome {
    /// Every outcome with its word.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Succeeded, "succeeded"),
        (Self::Failed, "failed"),
        (Self::Cancelled, "cancelled"),
        (Self::Replaced, "replaced"),
    ];
}

crate::words::words_of_table!(OccurrenceOutcome);

/// Why an occurrence does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// The missed rule skips it.
    Missed,
    /// Another one was running, and the overlap rule forbids a second.
    Overlap,
    /// Too many wait already.
    LineFull,
    /// It waited, and a later one replaced it.
    Replaced,
    /// It waited, and the schedule was paused.
    Paused,
    /// It waited, and the schedule was removed.
    Removed,
    /// It waited, and the schedule was changed.
    Edited,
    /// The occurrence check refused it.
    Refused(OccurrenceRefusal),
}

impl SkipReason {
    /// Every reason with its word.
    pub const ALL: [(Self, &'static str); 13] = [
        (Self::Missed, "missed"),
        (Self::Overlap, "overlap"),
        (Self::LineFull, "line_full"),
        (Self::Replaced, "replaced"),
        (Self::Paused, "paused"),
        (Self::Removed, "removed"),
        (Self::Edited, "edited"),
        (Self::Refused(OccurrenceRefusal::Creator), "refused_creator"),
        (Self::Refused(OccurrenceRefusal::AgentGone), "refused_agent_gone"),
        (Self::Refused(OccurrenceRefusal::AgentChanged), "refused_agent_changed"),
        (Self::Refused(OccurrenceRefusal::PromptChanged), "refused_prompt_changed"),
        (Self::Refused(OccurrenceRefusal::TargetChanged), "refused_target_changed"),
        (Self::Refused(OccurrenceRefusal::Policy), "refused_policy"),
    ];
}

crate::words::words_of_table!(SkipReason);

/// Why the occurrence check refuses an occurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OccurrenceRefusal {
    /// The person who made the schedule is gone or may not start runs any more.
    Creator,
    /// The agent is gone.
    AgentGone,
    /// The agent is not the one that was approved.
    AgentChanged,
    /// The prompt is not the one that was approved, or was erased.
    PromptChanged,
    /// The target is not the one that was approved.
    TargetChanged,
    /// The policy of now does not allow it.
    Policy,
}

impl OccurrenceRefusal {
    /// Returns whether only a new approval, which is an edit, ends the refusal.
    #[must_use]
    pub fn needs_edit(self) -> bool {
        match self {
            Self::Creator | Self::Policy => false,
            Self::AgentGone | Self::AgentChanged | Self::PromptChanged | Self::TargetChanged => true,
        }
    }
}

/// The end of an occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccurrenceFinished {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The planned instant.
    pub planned: Timestamp,
    /// How it ended.
    pub outcome: OccurrenceOutcome,
    /// The run that it started; `None` for a reminder, and where none could be started.
    pub run: Option<RunId>,
    /// Why no run could be started, in words; empty where one was, and once erased.
    pub explanation: Redacted<String>,
}

/// Where an occurrence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OccurrenceStage {
    /// It waits for its start.
    Waiting,
    /// It has started.
    Running,
    /// It has ended.
    Finished(OccurrenceOutcome),
    /// It does not run.
    Skipped(SkipReason),
    /// With others up to the last one it does not run; `None` where they were not counted.
    SkippedMany {
        /// The planned instant of the last.
        last: Timestamp,
        /// How many.
        count: Option<u32>,
    },
}

/// An occurrence, as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OccurrenceRecord {
    /// The schedule.
    pub schedule: ScheduleId,
    /// The planned instant.
    pub planned: Timestamp,
    /// Why it runs; `None` for one that was skipped at once.
    pub cause: Option<OccurrenceCause>,
    /// Where it is.
    pub stage: OccurrenceStage,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When its latest entry was written.
    pub changed: Timestamp,
    /// The run that it started, once it has ended.
    pub run: Option<RunId>,
    /// Why no run could be started, in words.
    pub explanation: Redacted<String>,
}
