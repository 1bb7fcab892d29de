//! What the loop reads from the journal and writes to it.

use std::collections::BTreeMap;

use jiff::tz::TimeZoneDatabase;
use palyra_journal_core::families::schedule_pauses::{self, SchedulePauseRow};
use palyra_journal_core::families::schedules::{self, ScheduleRecord};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::recorder::AttachedData;
use palyra_ports::{AppendClass, AppendError, EntryActor, NewEntry, ReadError};
use palyra_schedule::{ScheduleEffect, SchedulePlan, ScheduleSnapshot, definition_of};
use palyra_types::access::ActorIdentity;
use palyra_types::schedule::{PauseScope, ScheduleEvent};
use palyra_types::{PrincipalId, ScheduleId};

use crate::ports::SchedulePorts;

/// Entries of one append, at most.
pub(crate) const APPEND_ENTRIES_MAX: usize = 200;

/// An effect of a schedule, with whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnedEffect {
    pub(crate) schedule: ScheduleId,
    pub(crate) principal: PrincipalId,
    pub(crate) effect: ScheduleEffect,
}

/// An event to be recorded, with whose schedule it is about.
#[derive(Debug, Clone)]
pub(crate) struct OwnedEvent {
    pub(crate) principal: PrincipalId,
    pub(crate) event: ScheduleEvent,
}

/// The plan as the journal has it.
pub(crate) struct RestoredPlan {
    pub(crate) plan: SchedulePlan,
    pub(crate) owners: BTreeMap<ScheduleId, PrincipalId>,
    /// What a crash may have prevented.
    pub(crate) effects: Vec<OwnedEffect>,
}

/// Reads the plan.
pub(crate) async fn restore(
    ports: &SchedulePorts,
    zones: &TimeZoneDatabase,
) -> Result<RestoredPlan, ReadError> {
    let read = ports.families.query(|rows, log| {
        let pauses = schedule_pauses::all(rows)?;
        Ok((pauses, schedules::live(rows, log)?))
    });
    let (pauses, records) = read.await?;
    let mut plan = SchedulePlan::new(zones.clone());
    for pause in pauses.iter().filter(|pause| pause.is_paused) {
        plan.restore_pause(pause.scope);
    }
    let mut restored = RestoredPlan { plan, owners: BTreeMap::new(), effects: Vec::new() };
    for record in records {
        let schedule = record.row.schedule;
        let principal = record.row.principal;
        restored.plan.restore(schedule, &snapshot(&record, &pauses));
        restored.owners.insert(schedule, principal);
        let effects = restored.plan.schedule(schedule).map(|state| state.unfinished_effects());
        let owned = |effect| OwnedEffect { schedule, principal, effect };
        restored.effects.extend(effects.into_iter().flatten().map(owned));
    }
    Ok(restored)
}

fn snapshot(record: &ScheduleRecord, pauses: &[SchedulePauseRow]) -> ScheduleSnapshot {
    let mut progress = record.row.progress.clone();
    let creator = record.saved.provenance.creator;
    for pause in pauses.iter().filter(|pause| pause.changed > record.seq) {
        match pause.scope {
            PauseScope::Principal(principal) if principal != creator => {}
            PauseScope::Principal(_) | PauseScope::Everyone => progress.settle_up_to(pause.settled_up_to),
        }
    }
    let definition = record.row.removed.is_none().then(|| definition_of(&record.saved));
    ScheduleSnapshot { definition, progress }
}

/// Returns a schedule that is not gone.
pub(crate) async fn record(
    ports: &SchedulePorts,
    schedule: ScheduleId,
) -> Result<Option<ScheduleRecord>, ReadError> {
    ports.families.query(move |rows, log| schedules::record(rows, log, schedule)).await
}

/// Appends events in one commit.
pub(crate) async fn append(
    ports: &SchedulePorts,
    actor: Option<ActorIdentity>,
    events: &[OwnedEvent],
    class: AppendClass,
) -> Result<(), AppendError> {
    let time = ports.clock.wall();
    let entries = events.iter().map(|owned| NewEntry {
        time,
        principal: owned.principal,
        session: None,
        run: None,
        event: owned.event.clone().into(),
    });
    let actors =
        actor.into_iter().flat_map(|actor| (0..events.len()).map(move |entry| EntryActor { entry, actor }));
    let attached = AttachedData { actors: actors.collect(), ..AttachedData::default() };
    ports.recorder.record_with(entries.collect(), class, Vec::new(), attached).await?;
    Ok(())
}
