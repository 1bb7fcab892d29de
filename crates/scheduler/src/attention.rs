//! Schedules that wait for a person: those that paused themselves, and reminders that were delivered.
//!
//! Invariant: everything here is read from what is recorded anyway. A pause ends by `resume`, an edit or a removal. A delivered
//! reminder is the newest instant that is settled; each act of a person settles a later one, and so does the next occurrence.

use palyra_journal_core::families::schedules::ScheduleRecord;
use palyra_journal_core::families::{schedule_occurrences, schedules};
use palyra_journal_core::family::{LogView, QueryFamilies, RowStore, StoreFault};
use palyra_schedule::SCHEDULES_PER_PRINCIPAL_MAX;
use palyra_types::schedule::{OccurrenceOutcome, OccurrenceRecord, OccurrenceStage, PauseCause, SavedAction};
use palyra_types::{PrincipalId, Redacted, ScheduleId, Timestamp};

use crate::error::ScheduleError;
use crate::ports::SchedulePorts;

/// What a person is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleAttentionKind {
    /// It paused itself, after failures or because an edit is needed.
    Paused,
    /// Its reminder was delivered.
    Reminder,
}

/// A schedule that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleAttention {
    /// The schedule.
    pub schedule: ScheduleId,
    /// What the person is wanted for.
    pub kind: ScheduleAttentionKind,
    /// Its name, or the text of the reminder; empty once erased.
    pub about: Redacted<String>,
    /// Since when it waits.
    pub since: Timestamp,
}

/// Lists the schedules of a principal that wait for a person.
pub(crate) async fn list(
    ports: &SchedulePorts,
    principal: PrincipalId,
) -> Result<Vec<ScheduleAttention>, ScheduleError> {
    let read = ports.families.query(move |rows, log| {
        let found = schedules::of_principal(rows, log, principal, SCHEDULES_PER_PRINCIPAL_MAX)?;
        let mut waiting = Vec::new();
        for record in found {
            waiting.extend(attention_of(rows, log, record)?);
        }
        Ok(waiting)
    });
    Ok(read.await?)
}

/// Returns whether a reminder of the schedule was delivered and no person has acted on the schedule since.
pub(crate) async fn has_delivered_reminder(
    ports: &SchedulePorts,
    schedule: ScheduleId,
) -> Result<bool, ScheduleError> {
    let read = ports.families.query(move |rows, log| {
        let Some(record) = schedules::record(rows, log, schedule)? else { return Ok(false) };
        Ok(delivered_reminder(rows, log, &record)?.is_some())
    });
    Ok(read.await?)
}

fn attention_of(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    record: ScheduleRecord,
) -> Result<Option<ScheduleAttention>, StoreFault> {
    let schedule = record.row.schedule;
    match record.row.progress.paused {
        Some(PauseCause::Failures | PauseCause::Refused) => {
            let kind = ScheduleAttentionKind::Paused;
            let since = record.row.changed;
            Ok(Some(ScheduleAttention { schedule, kind, about: record.saved.name, since }))
        }
        Some(PauseCause::Person) | None => {
            let delivered = delivered_reminder(rows, log, &record)?;
            Ok(delivered.map(|delivered| ScheduleAttention {
                schedule,
                kind: ScheduleAttentionKind::Reminder,
                about: record.saved.text,
                since: delivered.changed,
            }))
        }
    }
}

/// Returns the delivery of a reminder on which no person has acted since.
pub(crate) fn delivered_reminder(
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
