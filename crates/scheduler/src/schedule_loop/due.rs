//! Schedules whose time has come: reading the facts of now, deciding, recording.

use palyra_ports::AppendClass;
use palyra_schedule::{
    OccurrenceCheck, OccurrenceOutcome, PauseCause, ScheduleAction, ScheduleChange, ScheduleDecision,
    ScheduleEffect, ScheduleState, SkipReason, recorded,
};
use palyra_types::{PrincipalId, ScheduleId, Timestamp};

use super::ScheduleLoop;
use crate::error::ScheduleError;
use crate::occurrence_check::check_occurrence;
use crate::store::{self, APPEND_ENTRIES_MAX, OwnedEffect, OwnedEvent};

/// Schedules that one tick decides about; others that are due follow in the next.
const DUE_PER_TICK_MAX: usize = 256;

/// Decisions that are recorded together.
#[derive(Default)]
struct DueBatch {
    events: Vec<OwnedEvent>,
    effects: Vec<OwnedEffect>,
}

impl ScheduleLoop {
    /// Decides about the schedules that are due now.
    pub(super) async fn decide_due(&mut self) -> Result<(), ScheduleError> {
        let now = self.ports.clock.wall();
        let due: Vec<ScheduleId> = self.plan.due(now).take(DUE_PER_TICK_MAX).collect();
        let mut batch = DueBatch::default();
        for schedule in due {
            let Some(principal) = self.owners.get(&schedule).copied() else { continue };
            let Some(record) = store::record(&self.ports, schedule).await? else { continue };
            let check = check_occurrence(&*self.ports.facts, &record);
            let Some(state) = self.plan.schedule(schedule) else { continue };
            let decision = complete(state, state.decide(now, check), check, now);
            if batch.events.len() + decision.events.len() > APPEND_ENTRIES_MAX {
                self.record_batch(std::mem::take(&mut batch)).await?;
            }
            batch.add(schedule, principal, &decision);
        }
        self.record_batch(batch).await
    }

    async fn record_batch(&mut self, batch: DueBatch) -> Result<(), ScheduleError> {
        self.record(None, batch.events, AppendClass::Normal).await?;
        self.effects.extend(batch.effects);
        Ok(())
    }
}

impl DueBatch {
    fn add(&mut self, schedule: ScheduleId, principal: PrincipalId, decision: &ScheduleDecision) {
        let events = decision.events.iter().filter_map(|change| recorded(schedule, change));
        self.events.extend(events.map(|event| OwnedEvent { principal, event }));
        let owned = |effect: &ScheduleEffect| OwnedEffect { schedule, principal, effect: *effect };
        self.effects.extend(decision.effects.iter().map(owned));
    }
}

/// Completes a decision: a reminder is delivered by its record, so it ends in the same append; and a refusal that only an edit
/// ends pauses the schedule.
pub(super) fn complete(
    state: &ScheduleState,
    mut decision: ScheduleDecision,
    check: OccurrenceCheck,
    now: Timestamp,
) -> ScheduleDecision {
    let is_reminder = state
        .definition()
        .is_some_and(|definition| matches!(definition.action, ScheduleAction::Reminder { .. }));
    let mut after = state.clone();
    decision.events.iter().for_each(|event| after.evolve(event));
    let start = decision.effects.iter().find_map(|effect| match effect {
        ScheduleEffect::Start { planned } => Some(*planned),
        ScheduleEffect::Cancel { .. } => None,
    });
    if let Some(planned) = start.filter(|_| is_reminder) {
        decision.effects.retain(|effect| *effect != ScheduleEffect::Start { planned });
        let ended = after.decide_finish(planned, OccurrenceOutcome::Succeeded, now);
        ended.iter().for_each(|event| after.evolve(event));
        decision.events.extend(ended);
    }
    let was_refused = decision.events.iter().any(|event| {
        matches!(event, ScheduleChange::OccurrenceSkipped { reason: SkipReason::Refused(_), .. })
    });
    if was_refused && check.is_err_and(palyra_schedule::OccurrenceRefusal::needs_edit) {
        decision.events.extend(after.decide_pause(PauseCause::Refused, now));
    }
    decision
}
