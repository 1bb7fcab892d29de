//! Whether schedules need a daemon that goes on: one has a time to come, or a reminder was delivered and no person has acted.
//!
//! Invariant: everything here is read from what is recorded, so it does not depend on how far the loop is.

use jiff::tz::TimeZoneDatabase;
use palyra_admin::attention::delivered_reminder;
use palyra_journal_core::families::schedules;
use palyra_journal_core::family::QueryFamilies;

use crate::error::ScheduleError;
use crate::ports::SchedulePorts;
use crate::store;

/// Returns whether there is such a schedule.
pub(crate) async fn exist(ports: &SchedulePorts, zones: &TimeZoneDatabase) -> Result<bool, ScheduleError> {
    let plan = store::restore(ports, zones).await?.plan;
    if plan.next_wake().is_some() {
        return Ok(true);
    }
    let read = ports.families.query(move |rows, log| {
        for record in schedules::live(rows, log)? {
            let is_counted = record.row.progress.paused.is_none() && record.row.removed.is_none();
            if is_counted
                && !plan.is_principal_paused(record.row.principal)
                && delivered_reminder(rows, log, &record)?.is_some()
            {
                return Ok(true);
            }
        }
        Ok(false)
    });
    Ok(read.await?)
}
