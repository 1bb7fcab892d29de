//! Schedules as callers look at them.

use jiff::tz::{TimeZone, TimeZoneDatabase};
use palyra_journal_core::families::schedules::ScheduleRecord;
use palyra_journal_core::families::{schedule_occurrences, schedule_pauses, schedules};
use palyra_journal_core::family::QueryFamilies;
use palyra_schedule::{PlannedTimes, SCHEDULES_PER_PRINCIPAL_MAX, ScheduleSpec, find_zone, spec_of};
use palyra_types::schedule::{OccurrenceRecord, PauseScope};
use palyra_types::{PrincipalId, ScheduleId};

use crate::draft::{PlannedTime, next_times};
use crate::error::ScheduleError;
use crate::ports::SchedulePorts;
use crate::scheduled_run::session_key;

/// Planned times and occurrences that the details of a schedule have.
const SHOWN_TIMES: usize = 10;

/// A schedule of a list.
#[derive(Debug, Clone)]
pub struct ListedSchedule {
    /// The schedule.
    pub record: ScheduleRecord,
    /// When it is due, in words.
    pub times: String,
    /// The zone in which its times are shown.
    pub zone: String,
    /// The next planned time; `None` if there is none, or while it is paused.
    pub next: Option<PlannedTime>,
    /// Whether it is paused together with others.
    pub is_paused_with_others: bool,
    /// Why the recorded times cannot be read.
    pub unreadable: Option<String>,
    /// The name of its agent; `None` for a reminder.
    pub agent: Option<String>,
    /// The key of the session of its runs.
    pub session_key: String,
}

/// A schedule with its next and latest occurrences.
#[derive(Debug, Clone)]
pub struct ScheduleDetails {
    /// The schedule.
    pub listed: ListedSchedule,
    /// The next planned times, also while it is paused.
    pub next: Vec<PlannedTime>,
    /// The latest occurrences, the latest first.
    pub occurrences: Vec<OccurrenceRecord>,
}

/// Lists the schedules of a principal, the newest first.
pub(crate) async fn list(
    ports: &SchedulePorts,
    zones: &TimeZoneDatabase,
    principal: PrincipalId,
) -> Result<Vec<ListedSchedule>, ScheduleError> {
    let read = ports.families.query(move |rows, log| {
        let found = schedules::of_principal(rows, log, principal, SCHEDULES_PER_PRINCIPAL_MAX)?;
        Ok((found, schedule_pauses::all(rows)?))
    });
    let (found, pauses) = read.await?;
    let is_paused = pauses.iter().any(|pause| pause.is_paused && is_about(pause.scope, principal));
    Ok(found.into_iter().map(|record| shown(ports, zones, record, is_paused).listed).collect())
}

/// Returns a schedule of a principal; another's is reported like one that does not exist.
pub(crate) async fn details(
    ports: &SchedulePorts,
    zones: &TimeZoneDatabase,
    principal: PrincipalId,
    schedule: ScheduleId,
) -> Result<ScheduleDetails, ScheduleError> {
    let read = ports.families.query(move |rows, log| {
        let record = schedules::record(rows, log, schedule)?;
        let occurrences = schedule_occurrences::latest(rows, log, schedule, SHOWN_TIMES)?;
        Ok((record, occurrences, schedule_pauses::all(rows)?))
    });
    let (record, occurrences, pauses) = read.await?;
    let is_own = |record: &ScheduleRecord| record.row.principal == principal && record.row.removed.is_none();
    let record = record.filter(is_own).ok_or(ScheduleError::NotFound)?;
    let is_paused = pauses.iter().any(|pause| pause.is_paused && is_about(pause.scope, principal));
    Ok(ScheduleDetails { occurrences, ..shown(ports, zones, record, is_paused) })
}

fn is_about(scope: PauseScope, principal: PrincipalId) -> bool {
    match scope {
        PauseScope::Everyone => true,
        PauseScope::Principal(of) => of == principal,
    }
}

fn shown(
    ports: &SchedulePorts,
    zones: &TimeZoneDatabase,
    record: ScheduleRecord,
    is_paused_with_others: bool,
) -> ScheduleDetails {
    let spec = spec_of(&record.saved.times);
    let zone = zone_of(ports, zones, &spec, record.row.principal);
    let after = ports.clock.wall().max(record.row.progress.settled_up_to);
    let planned_times = PlannedTimes::new(&spec, zones);
    let next = match &planned_times {
        Ok(planned_times) => next_times(planned_times, &zone, after, SHOWN_TIMES),
        Err(_) => Vec::new(),
    };
    let is_paused = is_paused_with_others || record.row.progress.paused.is_some();
    let agent = match record.saved.action {
        palyra_types::schedule::SavedAction::Reminder => None,
        palyra_types::schedule::SavedAction::Run(run) => {
            Some(ports.facts.agent(run.agent).map(|agent| agent.name).unwrap_or_default())
        }
    };
    let listed = ListedSchedule {
        times: spec.to_string(),
        zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        next: next.first().filter(|_| !is_paused).cloned(),
        is_paused_with_others,
        unreadable: planned_times.err().map(|cause| cause.to_string()),
        agent,
        session_key: session_key(record.row.schedule),
        record,
    };
    ScheduleDetails { listed, next, occurrences: Vec::new() }
}

fn zone_of(
    ports: &SchedulePorts,
    zones: &TimeZoneDatabase,
    spec: &ScheduleSpec,
    principal: PrincipalId,
) -> TimeZone {
    let own = match spec {
        ScheduleSpec::Cron { zone, .. } | ScheduleSpec::At { zone, .. } => find_zone(zone, zones).ok(),
        ScheduleSpec::Every { .. } => None,
    };
    own.unwrap_or_else(|| (ports.zone_of)(principal))
}
