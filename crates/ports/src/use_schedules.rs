//! What tools may do with the schedules of the principal for whom their run works.

use futures::future::BoxFuture;
use palyra_types::tool::Taints;
use palyra_types::{Content, ErrorCode, Redacted, ScheduleId};

use crate::bound_credential::CredentialUser;

/// What tools may do with schedules. Every method acts for the principal of the call and for no other one; the id of another
/// one's schedule behaves like an unknown one.
pub trait UseSchedules: Send + Sync {
    /// Says what a schedule would be, as a person looks at it before they approve it. Records nothing.
    fn plan(
        &self,
        call: CredentialUser,
        draft: ToolScheduleDraft,
    ) -> BoxFuture<'static, Result<PlannedSchedule, ScheduleRefusal>>;

    /// Makes a schedule that records which run made it and what that run had read. A repeated call of the same effect finds the
    /// schedule that it made before.
    fn create(
        &self,
        call: CredentialUser,
        taints: Taints,
        draft: ToolScheduleDraft,
    ) -> BoxFuture<'static, Result<ToolSchedule, ScheduleRefusal>>;

    /// Lists the schedules, the newest first.
    fn list(&self, call: CredentialUser) -> BoxFuture<'static, Result<Vec<ToolSchedule>, ScheduleRefusal>>;

    /// Returns a schedule.
    fn find(
        &self,
        call: CredentialUser,
        schedule: ScheduleId,
    ) -> BoxFuture<'static, Result<ToolSchedule, ScheduleRefusal>>;

    /// Removes a schedule; a running occurrence goes on.
    fn cancel(
        &self,
        call: CredentialUser,
        schedule: ScheduleId,
    ) -> BoxFuture<'static, Result<(), ScheduleRefusal>>;
}

/// When a schedule is to be due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftTimes {
    /// In plain words, such as `every weekday at 8`.
    Words(String),
    /// At the times of a cron line.
    Cron(String),
    /// Each time so many minutes have passed.
    EveryMinutes(u32),
    /// Once, at a local time such as `2027-03-14T02:30`.
    At(String),
}

/// What an occurrence is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolScheduleAction {
    /// A run of the agent of the call starts, with the text as its prompt.
    Run,
    /// The text is delivered.
    Reminder,
}

/// What a call asks a schedule to be.
#[derive(Debug, Clone)]
pub struct ToolScheduleDraft {
    /// Its name; `None` for the beginning of its text.
    pub name: Option<Content<String>>,
    /// When it is due.
    pub times: DraftTimes,
    /// The IANA name of the zone; `None` for that of the principal.
    pub zone: Option<String>,
    /// What an occurrence does.
    pub action: ToolScheduleAction,
    /// The prompt of its runs, or the text of the reminder.
    pub text: Content<String>,
}

/// What a draft means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedSchedule {
    /// When it is due, in words.
    pub words: String,
    /// The same without words that another day or another setting would change.
    pub times: DraftTimes,
    /// The IANA name of the zone.
    pub zone: String,
    /// The next planned times, as local times.
    pub next: Vec<String>,
    /// The name of the agent of its runs; `None` for a reminder.
    pub agent: Option<String>,
}

/// A schedule, as a tool shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSchedule {
    /// Its id.
    pub schedule: ScheduleId,
    /// Its name.
    pub name: Redacted<String>,
    /// When it is due, in words.
    pub words: String,
    /// The IANA name of the zone.
    pub zone: String,
    /// The next planned time, as a local time; `None` if there is none, or while it is paused.
    pub next: Option<String>,
    /// Whether nothing of it starts.
    pub is_paused: bool,
    /// The name of the agent of its runs; `None` for a reminder.
    pub agent: Option<String>,
    /// The prompt of its runs, or the text of the reminder; empty once erased.
    pub text: Redacted<String>,
    /// What the run that made it had read.
    pub taints: Taints,
}

/// Why schedules were not used as a call asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScheduleRefusal {
    /// The stable code.
    pub code: ErrorCode,
    /// Why, and what to do; without content.
    pub message: String,
}
