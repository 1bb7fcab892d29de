//! Schedules that wait for a person: those that paused themselves, and reminders that were delivered.
//!
//! Invariant: everything here is read from what is recorded anyway. A pause ends by `resume`, an edit or a removal. A delivered
//! reminder is the newest instant that is settled; each act of a person settles a later one, and so does the next occurrence.

use palyra_journal_core::families::schedules::{SCHEDULES_PER_PRINCIPAL_MAX, ScheduleRecord};
use palyra_journal_core::families::{schedule_occurrences, schedules};
use palyra_journal_core::family::{LogView, RowStore, StoreFault};
use palyra_types::schedule::{OccurrenceOutcome, OccurrenceRecord, OccurrenceStage, PauseCause, SavedAction};
use palyra_types::{AgentId, PrincipalId, Redacted, ScheduleId, Timestamp};

/// What a person is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleWait {
    /// It paused itself, after failures or because an edit is needed.
    Paused,
    /// Its reminder was delivered.
    Reminder {
        /// The instant that it was planned for.
        planned: Timestamp,
    },
}

/// A schedule that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingSchedule {
    /// The schedule.
    pub schedule: ScheduleId,
    /// What the person is wanted for.
    pub wait: ScheduleWait,
    /// The agent of its runs; a reminder has none.
    pub agent: Option<AgentId>,
    /// Its name, or the text of the reminder; empty once erased.
    pub about: Redacted<String>,
    /// Since when it waits.
    pub since: Timestamp,
}

/// Returns the schedules of a principal that wait for a person.
pub(super) fn of_principal(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    principal: PrincipalId,
) -> Result<Vec<WaitingSchedule>, StoreFault> {
    let found = schedules::of_principal(rows, log, principal, SCHEDULES_PER_PRINCIPAL_MAX)?;
    let mut waiting = Vec::new();
    for record in found {
        waiting.extend(wait_of(rows, log, record)?);
    }
    Ok(waiting)
}

fn wait_of(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    record: ScheduleRecord,
) -> Result<Option<WaitingSchedule>, StoreFault> {
    let schedule = record.row.schedule;
    let agent = match &record.saved.action {
        SavedAction::Run(run) => Some(run.agent),
        SavedAction::Reminder => None,
    };
    match record.row.progress.paused {
        Some(PauseCause::Failures | PauseCause::Refused) => {
            let since = record.row.paused_at.unwrap_or(record.row.changed);
            let about = record.saved.name;
            Ok(Some(WaitingSchedule { schedule, wait: ScheduleWait::Paused, agent, about, since }))
        }
        Some(PauseCause::Person) | None => {
            let delivered = delivered_reminder(rows, log, &record)?;
            Ok(delivered.map(|delivered| WaitingSchedule {
                schedule,
                wait: ScheduleWait::Reminder { planned: delivered.planned },
                agent,
                about: record.saved.text,
                since: delivered.changed,
            }))
        }
    }
}

/// Returns the occurrence by which a reminder was delivered, if no person has acted on the schedule since.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn delivered_reminder(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    record: &ScheduleRecord,
) -> Result<Option<OccurrenceRecord>, StoreFault> {
    let settled = record.row.progress.settled_up_to;
    if record.saved.action != SavedAction::Reminder || settled < record.saved.at {
        return Ok(None);
    }
    let latest = schedule_occurrences::latest(rows, log, record.row.schedule, 1)?.pop();
    let succeeded = OccurrenceStage::Finished(OccurrenceOutcome::Succeeded);
    Ok(latest.filter(|latest| latest.stage == succeeded && latest.planned >= settled))
}
