//! Whether a reminder waits for a person.

use palyra_admin::attention::delivered_reminder;
use palyra_journal_core::families::schedules;
use palyra_journal_core::family::QueryFamilies;
use palyra_types::ScheduleId;

use crate::error::ScheduleError;
use crate::ports::SchedulePorts;

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
