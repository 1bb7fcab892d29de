//! One thing that waits for a person, without any words about it.

use palyra_types::incident::IncidentSeverity;
use palyra_types::tool::ApprovalRiskLevel;
use palyra_types::{
    ApprovalId, CandidateId, EffectId, IncidentId, QueuedTaskId, RunId, ScheduleId, Timestamp,
};

/// What sort of thing waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AttentionKind {
    /// A call waits for a decision.
    Approval,
    /// A run asked a question.
    Question,
    /// It is not known whether a call took effect.
    UnknownOutcome,
    /// A run repeats itself.
    Loop,
    /// A run has an entry that this version does not know.
    UnknownEntry,
    /// A budget is used up.
    Budget,
    /// A task of the background queue failed too often, or may be done or not.
    FailedTask,
    /// Self-healing found something that it does not mend by itself.
    Incident,
    /// A schedule paused itself.
    SchedulePaused,
    /// A reminder is due.
    Reminder,
    /// Something that was learned waits for a review.
    Review,
}

impl AttentionKind {
    /// Every kind with its word and what a person reads.
    const ALL: [(Self, &'static str, &'static str); 11] = [
        (Self::Approval, "approval", "A call waits for your approval"),
        (Self::Question, "question", "A run asked a question"),
        (Self::UnknownOutcome, "unknown_outcome", "It is not known whether a call took effect"),
        (Self::Loop, "loop", "A run repeats itself and waits"),
        (Self::UnknownEntry, "unknown_entry", "A run waits for a newer version"),
        (Self::Budget, "budget", "A run waits for its budget"),
        (Self::FailedTask, "failed_task", "A background task failed"),
        (Self::Incident, "incident", "Something of the daemon is stuck"),
        (Self::SchedulePaused, "schedule_paused", "A schedule paused itself"),
        (Self::Reminder, "reminder", "A reminder is due"),
        (Self::Review, "review", "Something that was learned waits for a review"),
    ];

    /// Returns its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, word, _)| word)
    }

    /// Returns the sentence for a person of a kind with this word.
    pub(crate) fn sentence_of(word: &str) -> Option<&'static str> {
        Self::ALL.iter().find(|(_, known, _)| *known == word).map(|(.., sentence)| *sentence)
    }
}

/// What waits, and which of its waits it is: a run that asks a second question is another item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionSubject {
    /// An approval.
    Approval(ApprovalId),
    /// A run, after so many turns and calls.
    Run {
        /// The run.
        run: RunId,
        /// Its turns so far.
        turns: u32,
        /// Its calls so far.
        tool_calls: u32,
    },
    /// A call.
    Effect {
        /// Its run.
        run: RunId,
        /// The call.
        effect: EffectId,
    },
    /// A task, after so many leases.
    Task {
        /// The task.
        task: QueuedTaskId,
        /// Its leases so far.
        leases: u32,
    },
    /// An incident.
    Incident(IncidentId),
    /// A schedule that paused itself.
    PausedSchedule {
        /// The schedule.
        schedule: ScheduleId,
        /// When it paused itself.
        at: Timestamp,
    },
    /// A reminder that was delivered.
    Reminder {
        /// The schedule.
        schedule: ScheduleId,
        /// The instant that it was planned for.
        planned: Timestamp,
    },
    /// Something that was learned.
    Review(CandidateId),
}

impl AttentionSubject {
    /// Returns the id that a person finds it by.
    pub(crate) fn id(self) -> String {
        match self {
            Self::Approval(approval) => approval.to_string(),
            Self::Run { run, .. } | Self::Effect { run, .. } => run.to_string(),
            Self::Task { task, .. } => task.to_string(),
            Self::Incident(incident) => incident.to_string(),
            Self::PausedSchedule { schedule, .. } | Self::Reminder { schedule, .. } => schedule.to_string(),
            Self::Review(candidate) => candidate.to_string(),
        }
    }

    /// Returns where the console shows it.
    pub(crate) fn console_path(self) -> String {
        match self {
            Self::Approval(approval) => format!("/console/approvals/{approval}"),
            Self::Run { run, .. } | Self::Effect { run, .. } => format!("/console/runs/{run}"),
            Self::Task { .. } | Self::Incident(_) => "/console/status".to_owned(),
            // The first screen lists both.
            Self::PausedSchedule { .. } | Self::Reminder { .. } | Self::Review(_) => "/console".to_owned(),
        }
    }

    /// Returns bytes that no other item has.
    pub(crate) fn identity(self) -> Vec<u8> {
        match self {
            Self::Approval(approval) => [&[1][..], &approval.to_bytes()].concat(),
            Self::Run { run, turns, tool_calls } => {
                [&[2][..], &run.to_bytes(), &turns.to_be_bytes(), &tool_calls.to_be_bytes()].concat()
            }
            Self::Effect { run, effect } => [&[3][..], &run.to_bytes(), &effect.0.to_be_bytes()].concat(),
            Self::Task { task, leases } => [&[4][..], &task.to_bytes(), &leases.to_be_bytes()].concat(),
            Self::Incident(incident) => [&[5][..], &incident.to_bytes()].concat(),
            Self::PausedSchedule { schedule, at } => {
                [&[6][..], &schedule.to_bytes(), &at.0.to_be_bytes()].concat()
            }
            Self::Reminder { schedule, planned } => {
                [&[7][..], &schedule.to_bytes(), &planned.0.to_be_bytes()].concat()
            }
            Self::Review(candidate) => [&[8][..], &candidate.to_bytes()].concat(),
        }
    }
}

/// One thing that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionItem {
    /// What sort of thing it is.
    pub kind: AttentionKind,
    /// What it is.
    pub subject: AttentionSubject,
    /// The name of the agent at work; empty where there is none.
    pub agent: String,
    /// The risk of the call, where one waits for a decision.
    pub risk: Option<ApprovalRiskLevel>,
    /// How much an incident matters.
    pub severity: Option<IncidentSeverity>,
    /// Since when it waits.
    pub since: Timestamp,
}

impl AttentionItem {
    /// Returns whether a person is notified of it in quiet hours too.
    #[must_use]
    pub fn is_critical(&self) -> bool {
        self.risk == Some(ApprovalRiskLevel::Critical) || self.severity == Some(IncidentSeverity::Critical)
    }
}
