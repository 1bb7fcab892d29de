//! Schedules, their occurrences and their pauses by a naive fold.

use palyra_journal_core::families::schedule_pauses::SchedulePauseRow;
use palyra_journal_core::families::schedules::{ScheduleProgress, ScheduleRecord, ScheduleRow};
use palyra_types::event::JournalEvent;
use palyra_types::schedule::{
    OccurrenceCause, OccurrenceOutcome, OccurrenceRecord, OccurrenceStage, PauseScope, ScheduleEvent,
    ScheduleSaved,
};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{PrincipalId, Redacted, ScheduleId, Timestamp};

/// Schedules in the order in which they were made, also those that are gone.
#[derive(Debug, Default)]
pub struct ScheduleOracle {
    schedules: Vec<ScheduleRecord>,
    occurrences: Vec<OccurrenceRecord>,
    pauses: Vec<SchedulePauseRow>,
}

impl ScheduleOracle {
    pub(super) fn fold(&mut self, entry: &JournalEventRecord) {
        let JournalEvent::Schedule(event) = &entry.event else { return };
        match event {
            ScheduleEvent::ManyPaused { scope, at } => self.fold_pause(entry, *scope, *at, true),
            ScheduleEvent::ManyResumed { scope, at } => self.fold_pause(entry, *scope, *at, false),
            _ => {
                self.fold_schedule(entry, event);
                self.fold_occurrence(entry, event);
            }
        }
    }

    /// Returns the schedules of a principal that are not gone, those with the highest ids first.
    #[must_use]
    pub fn of_principal(&self, principal: PrincipalId) -> Vec<&ScheduleRecord> {
        let own =
            |record: &&ScheduleRecord| record.row.principal == principal && record.row.removed.is_none();
        let mut found: Vec<_> = self.schedules.iter().filter(own).collect();
        found.sort_by_key(|record| std::cmp::Reverse(record.row.schedule));
        found
    }

    /// Returns the schedules that are not gone or still run, oldest first.
    #[must_use]
    pub fn live(&self) -> Vec<&ScheduleRecord> {
        let is_live =
            |record: &&ScheduleRecord| record.row.removed.is_none() || record.row.progress.running.is_some();
        self.schedules.iter().filter(is_live).collect()
    }

    /// Returns the occurrences of a schedule, the latest first.
    #[must_use]
    pub fn occurrences(&self, schedule: ScheduleId) -> Vec<&OccurrenceRecord> {
        let mut found: Vec<_> = self.occurrences.iter().filter(|one| one.schedule == schedule).collect();
        found.sort_by_key(|one| std::cmp::Reverse(one.planned));
        found
    }

    /// Returns the pauses: that of all, then by principal.
    #[must_use]
    pub fn pauses(&self) -> Vec<SchedulePauseRow> {
        let mut pauses = self.pauses.clone();
        pauses.sort_by_key(|pause| match pause.scope {
            PauseScope::Everyone => None,
            PauseScope::Principal(principal) => Some(principal),
        });
        pauses
    }

    fn fold_pause(&mut self, entry: &JournalEventRecord, scope: PauseScope, at: Timestamp, is_paused: bool) {
        let known = self.pauses.iter().position(|pause| pause.scope == scope);
        let before = known.map(|index| self.pauses.remove(index).settled_up_to);
        let settled_up_to = before.map_or(at, |before| before.max(at));
        self.pauses.push(SchedulePauseRow { scope, is_paused, settled_up_to, changed: entry.seq });
    }

    fn fold_schedule(&mut self, entry: &JournalEventRecord, event: &ScheduleEvent) {
        let known = self.schedules.iter_mut().find(|known| Some(known.row.schedule) == event.schedule());
        match (known, event) {
            (None, ScheduleEvent::Created(saved)) => self.schedules.push(created(entry, saved)),
            (None, _) | (Some(_), ScheduleEvent::Created(_)) => {}
            (Some(known), ScheduleEvent::OccurrenceFinished(_)) => fold_row(known, entry, event),
            (Some(known), _) if known.row.removed.is_none() => fold_row(known, entry, event),
            (Some(_), _) => {}
        }
    }

    fn fold_occurrence(&mut self, entry: &JournalEventRecord, event: &ScheduleEvent) {
        let Some(schedule) = event.schedule() else { return };
        let (planned, made) = match event {
            ScheduleEvent::OccurrenceCreated { planned, .. } => (*planned, Some(OccurrenceStage::Waiting)),
            ScheduleEvent::OccurrenceSkipped { planned, reason, .. } => {
                (*planned, Some(OccurrenceStage::Skipped(*reason)))
            }
            ScheduleEvent::OccurrencesSkipped { first, last, count, .. } => {
                (*first, Some(OccurrenceStage::SkippedMany { last: *last, count: *count }))
            }
            ScheduleEvent::OccurrenceStarted { planned, .. } => (*planned, None),
            ScheduleEvent::OccurrenceFinished(finished) => (finished.planned, None),
            _ => return,
        };
        let known =
            self.occurrences.iter_mut().find(|one| one.schedule == schedule && one.planned == planned);
        let Some(known) = known else {
            let Some(stage) = made else { return };
            let cause = match event {
                ScheduleEvent::OccurrenceCreated { cause, .. } => Some(*cause),
                _ => None,
            };
            self.occurrences.push(OccurrenceRecord {
                schedule,
                planned,
                cause,
                stage,
                started: None,
                changed: entry.time,
                run: None,
                explanation: Redacted::default(),
            });
            return;
        };
        if !matches!(known.stage, OccurrenceStage::Waiting | OccurrenceStage::Running) {
            return;
        }
        match event {
            ScheduleEvent::OccurrenceStarted { at, .. } => {
                known.stage = OccurrenceStage::Running;
                known.started = Some(*at);
            }
            ScheduleEvent::OccurrenceSkipped { reason, .. } => {
                known.stage = OccurrenceStage::Skipped(*reason);
            }
            ScheduleEvent::OccurrenceFinished(finished) => {
                known.stage = OccurrenceStage::Finished(finished.outcome);
                known.run = finished.run;
                known.explanation = finished.explanation.clone();
            }
            _ => return,
        }
        known.changed = entry.time;
    }
}

fn created(entry: &JournalEventRecord, saved: &ScheduleSaved) -> ScheduleRecord {
    let progress = ScheduleProgress { settled_up_to: saved.at, ..ScheduleProgress::default() };
    let row = ScheduleRow {
        schedule: saved.schedule,
        principal: entry.principal,
        created: entry.time,
        changed: entry.time,
        saved: entry.seq,
        removed: None,
        paused_at: None,
        progress,
    };
    ScheduleRecord { seq: entry.seq, row, saved: saved.clone() }
}

fn fold_row(record: &mut ScheduleRecord, entry: &JournalEventRecord, event: &ScheduleEvent) {
    let ScheduleRecord { row, saved, .. } = record;
    row.changed = entry.time;
    let how_far = &mut row.progress;
    let mut settled = None;
    match event {
        ScheduleEvent::Edited(edited) => {
            settled = Some(edited.at);
            how_far.failures = 0;
            row.saved = entry.seq;
            *saved = edited.clone();
        }
        ScheduleEvent::Paused { cause, at, .. } => {
            settled = Some(*at);
            row.paused_at = Some(*at);
            how_far.paused = Some(*cause);
        }
        ScheduleEvent::Resumed { at, .. } => {
            settled = Some(*at);
            row.paused_at = None;
            how_far.paused = None;
            how_far.failures = 0;
        }
        ScheduleEvent::Removed { at, .. } => {
            row.removed = Some(*at);
            how_far.waiting = Vec::new();
        }
        ScheduleEvent::OccurrenceCreated { planned, cause, .. } => {
            settled = (*cause != OccurrenceCause::Manual).then_some(*planned);
            how_far.waiting.push(*planned);
        }
        ScheduleEvent::OccurrenceStarted { planned, .. } => {
            how_far.waiting.retain(|one| one != planned);
            how_far.running = Some(*planned);
            how_far.cancel_requested = false;
        }
        ScheduleEvent::OccurrenceCancelRequested { planned, .. } => {
            how_far.cancel_requested = how_far.running == Some(*planned);
        }
        ScheduleEvent::OccurrenceSkipped { planned, .. } => {
            settled = Some(*planned);
            how_far.waiting.retain(|one| one != planned);
        }
        ScheduleEvent::OccurrencesSkipped { last, .. } => settled = Some(*last),
        ScheduleEvent::OccurrenceFinished(finished) => {
            if how_far.running == Some(finished.planned) {
                how_far.running = None;
                how_far.cancel_requested = false;
            }
            match finished.outcome {
                OccurrenceOutcome::Succeeded => how_far.failures = 0,
                OccurrenceOutcome::Failed => how_far.failures += 1,
                OccurrenceOutcome::Cancelled | OccurrenceOutcome::Replaced => {}
            }
        }
        ScheduleEvent::Created(_) | ScheduleEvent::ManyPaused { .. } | ScheduleEvent::ManyResumed { .. } => {}
    }
    if let Some(instant) = settled {
        how_far.settled_up_to = how_far.settled_up_to.max(instant);
    }
}
