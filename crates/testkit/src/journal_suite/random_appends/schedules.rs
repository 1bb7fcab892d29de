//! Events about schedules, in all their forms; ids and instants are few, so that occurrences meet their ends.

use palyra_journal_core::families::{schedule_occurrences, schedule_pauses, schedules};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_ports::NewEntry;
use palyra_types::digest::ContentDigest;
use palyra_types::schedule::{
    MissedRule, OccurrenceCause, OccurrenceFinished, OccurrenceOutcome, OverlapRule, PauseCause, PauseScope,
    SavedAction, SavedRun, SavedTimes, ScheduleEvent, ScheduleProvenance, ScheduleRules, ScheduleSaved,
    SkipReason,
};
use palyra_types::tool::Taints;
use palyra_types::{AgentId, RunId, ScheduleId, Timestamp};

use super::{PRINCIPALS, RandomAppends, exposed};
use crate::journal_suite::samples;

/// Schedules that random events name.
pub const SCHEDULES: u64 = 12;
/// Planned instants that they have.
const INSTANTS: u64 = 9;

impl RandomAppends {
    /// Returns entries about schedules alone.
    pub fn schedule_entries(&mut self, count: usize) -> Vec<NewEntry> {
        let entry = |me: &mut Self| NewEntry {
            time: me.time(),
            principal: me.principal(),
            session: None,
            run: None,
            event: me.schedule_event().into(),
        };
        (0..count).map(|_| entry(self)).collect()
    }

    pub(super) fn schedule_event(&mut self) -> ScheduleEvent {
        let schedule = ScheduleId::from_parts(14, self.below(SCHEDULES).into());
        let planned = self.instant();
        let at = self.instant();
        match self.below(23) {
            0 => ScheduleEvent::Paused { schedule, cause: self.one_of(&PauseCause::ALL).0, at },
            1 => ScheduleEvent::Resumed { schedule, at },
            2 if self.below(3) == 0 => ScheduleEvent::Removed { schedule, at },
            3 => ScheduleEvent::Edited(self.saved_schedule(schedule)),
            4 => ScheduleEvent::ManyPaused { scope: self.pause_scope(), at },
            5 => ScheduleEvent::ManyResumed { scope: self.pause_scope(), at },
            6 | 20..=22 => ScheduleEvent::OccurrenceCancelRequested { schedule, planned },
            7 => {
                let count = self.maybe(|me| u32::try_from(me.below(9)).unwrap_or(0));
                ScheduleEvent::OccurrencesSkipped { schedule, first: planned, last: at, count }
            }
            8 | 9 => ScheduleEvent::OccurrenceSkipped {
                schedule,
                planned,
                reason: self.one_of(&SkipReason::ALL).0,
            },
            10..=12 => ScheduleEvent::OccurrenceStarted { schedule, planned, at },
            13 | 14 => ScheduleEvent::OccurrenceFinished(OccurrenceFinished {
                schedule,
                planned,
                outcome: self.one_of(&OccurrenceOutcome::ALL).0,
                run: self.maybe(|me| RunId::from_parts(14, me.below(5).into())),
                explanation: self.text(),
            }),
            15..=17 => {
                let cause = self.one_of(&OccurrenceCause::ALL).0;
                ScheduleEvent::OccurrenceCreated { schedule, planned, cause }
            }
            _ => ScheduleEvent::Created(self.saved_schedule(schedule)),
        }
    }

    fn instant(&mut self) -> Timestamp {
        Timestamp(i64::try_from(self.below(INSTANTS)).unwrap_or(0) * 60_000_000)
    }

    fn pause_scope(&mut self) -> PauseScope {
        self.maybe(Self::principal).map_or(PauseScope::Everyone, PauseScope::Principal)
    }

    fn saved_schedule(&mut self, schedule: ScheduleId) -> ScheduleSaved {
        let times = match self.below(3) {
            0 => SavedTimes::Cron { line: self.text(), zone: self.text() },
            1 => SavedTimes::Every { minutes: self.number(), anchor: self.instant() },
            _ => SavedTimes::At { local: self.text(), zone: self.text() },
        };
        let missed = match self.below(3) {
            0 => MissedRule::Skip,
            1 => MissedRule::RunOnce,
            _ => MissedRule::CatchUp { count_max: 3 },
        };
        let overlap = self.one_of(&[OverlapRule::Forbid, OverlapRule::Queue, OverlapRule::Replace]);
        let run = self.maybe(|me| SavedRun {
            agent: AgentId::from_parts(1, me.below(4).into()),
            agent_profile: ContentDigest(me.digest()),
            target: ContentDigest(me.digest()),
        });
        ScheduleSaved {
            schedule,
            at: self.instant(),
            times,
            rules: ScheduleRules { missed, overlap, jitter_seconds: self.number() },
            action: run.map_or(SavedAction::Reminder, SavedAction::Run),
            provenance: ScheduleProvenance {
                creator: self.principal(),
                made_by_run: self.maybe(|me| RunId::from_parts(14, me.below(5).into())),
                taints: Taints(u32::try_from(self.below(4)).unwrap_or(0)),
                edited_by_person: self.below(2) == 0,
            },
            name: self.text(),
            text: self.text(),
        }
    }
}

/// Adds the schedules, their occurrences and their pauses.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    for n in 0..PRINCIPALS {
        let principal = samples::principal(n.into());
        let reading = journal.query(move |rows, log| schedules::of_principal(rows, log, principal, 500));
        let found = reading.await.unwrap();
        // Texts of states that were written before there were schedules stay the same.
        if !found.is_empty() {
            all.push(exposed(&found, |one| one.saved.name.expose().clone() + one.saved.text.expose()));
        }
    }
    for number in 0..SCHEDULES {
        let schedule = ScheduleId::from_parts(14, number.into());
        let reading = journal.query(move |rows, log| schedule_occurrences::latest(rows, log, schedule, 500));
        let found = reading.await.unwrap();
        if !found.is_empty() {
            all.push(exposed(&found, |one| one.explanation.expose().clone()));
        }
    }
    let pauses = journal.query(|rows, _| schedule_pauses::all(rows)).await.unwrap();
    if !pauses.is_empty() {
        all.push(format!("{pauses:?}"));
    }
}
