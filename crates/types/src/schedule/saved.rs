//! A schedule as a person saved it: its times, rules, action and texts, and where it comes from.

use crate::content_walk::ContentClass::{Fixed, Identity, Prose};
use crate::content_walk::content_rows;
use crate::digest::ContentDigest;
use crate::schedule::ScheduleRules;
use crate::tool::Taints;
use crate::{AgentId, PrincipalId, Redacted, RunId, ScheduleId, Timestamp};

/// Characters of the name of a schedule, at most.
pub const SCHEDULE_NAME_CHARS_MAX: usize = 100;
/// Bytes of the prompt or the text of a schedule, at most.
pub const SCHEDULE_TEXT_BYTES_MAX: usize = 16 * 1024;

/// A schedule as a person approved it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleSaved {
    /// Its id.
    pub schedule: ScheduleId,
    /// When it was saved; its occurrences are later.
    pub at: Timestamp,
    /// When it is due.
    pub times: SavedTimes,
    /// What becomes of missed and overlapping occurrences.
    pub rules: ScheduleRules,
    /// What an occurrence does.
    pub action: SavedAction,
    /// Where it comes from.
    pub provenance: ScheduleProvenance,
    /// Its name for people; empty once erased.
    pub name: Redacted<String>,
    /// The prompt of its runs, or the text of the reminder; empty once erased.
    pub text: Redacted<String>,
}

impl ScheduleSaved {
    /// Returns what the run of an occurrence has read by its prompt alone: the taints of the run that made the schedule, unless
    /// a person has edited it since. An occurrence that began before the edit has the text from before it.
    #[must_use]
    pub fn taints_of_occurrence(&self, planned: Timestamp) -> Taints {
        let provenance = &self.provenance;
        let is_of_person = provenance.made_by_run.is_none();
        let was_edited_before = provenance.edited_by_person && planned > self.at;
        if is_of_person || was_edited_before { Taints::NONE } else { provenance.taints }
    }
}

/// When a schedule is due. Texts are empty once erased, and then it is never due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SavedTimes {
    /// At the times of a cron line.
    Cron {
        /// Minute, hour, day of month, month, day of week.
        line: Redacted<String>,
        /// The IANA name of the zone.
        zone: Redacted<String>,
    },
    /// Each time an interval has passed.
    Every {
        /// The interval in minutes.
        minutes: u32,
        /// The first occurrence; the others follow it in elapsed time.
        anchor: Timestamp,
    },
    /// Once.
    At {
        /// The local time, like `2027-03-14T02:30`.
        local: Redacted<String>,
        /// The IANA name of the zone.
        zone: Redacted<String>,
    },
}

/// What an occurrence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedAction {
    /// The text is delivered; no model is asked.
    Reminder,
    /// A run starts.
    Run(SavedRun),
}

/// The parts of a run that were approved, beside its prompt. Digests are zeros once erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedRun {
    /// The agent.
    pub agent: AgentId,
    /// Digest of the agent's profile.
    pub agent_profile: ContentDigest,
    /// Digest of the place that answers go to.
    pub target: ContentDigest,
}

/// Where a schedule comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleProvenance {
    /// The principal it belongs to.
    pub creator: PrincipalId,
    /// The run that made it; `None` if a person did.
    pub made_by_run: Option<RunId>,
    /// The taints of that run when it made the schedule.
    pub taints: Taints,
    /// Whether a person has edited the schedule since that run.
    pub edited_by_person: bool,
}

impl ScheduleProvenance {
    /// Returns whether runs of the schedule may use stored grants of the principal. Grants of a session never apply.
    #[must_use]
    pub fn may_use_principal_grants(&self) -> bool {
        self.made_by_run.is_none() || self.taints == Taints::NONE || self.edited_by_person
    }
}

content_rows! {
    fn schedule_saved(walk, saved: ScheduleSaved) {
        let ScheduleSaved { schedule: _, at: _, times, rules: _, action, provenance: _, name, text } = saved;
        walk.saved_times(times);
        match action {
            // Their key is not erased with them, so they are content.
            SavedAction::Run(SavedRun {
                agent: _,
                agent_profile: ContentDigest(profile),
                target: ContentDigest(target),
            }) => {
                walk.opaque(Fixed, "run.agent_profile", profile);
                walk.opaque(Fixed, "run.target", target);
            }
            SavedAction::Reminder => {}
        }
        walk.text(Prose, "name", name);
        walk.text(Prose, "text", text);
    }

    fn saved_times(walk, times: SavedTimes) {
        match times {
            // The times are computed from them, so they are never rewritten.
            SavedTimes::Cron { line, zone } => {
                walk.text(Identity, "times.line", line);
                walk.text(Identity, "times.zone", zone);
            }
            SavedTimes::At { local, zone } => {
                walk.text(Identity, "times.local", local);
                walk.text(Identity, "times.zone", zone);
            }
            SavedTimes::Every { minutes: _, anchor: _ } => {}
        }
    }
}
