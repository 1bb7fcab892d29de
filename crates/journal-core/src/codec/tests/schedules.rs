//! One event of each kind about schedules.

use palyra_types::digest::ContentDigest;
use palyra_types::event::JournalEvent;
use palyra_types::schedule::{
    MissedRule, OccurrenceCause, OccurrenceFinished, OccurrenceOutcome, OccurrenceRefusal, OverlapRule,
    PauseCause, PauseScope, SavedAction, SavedRun, SavedTimes, ScheduleEvent, ScheduleProvenance,
    ScheduleRules, ScheduleSaved, SkipReason,
};
use palyra_types::tool::Taints;
use palyra_types::{AgentId, PrincipalId, RunId, ScheduleId, Timestamp};

pub(super) fn schedule_events() -> Vec<JournalEvent> {
    let schedule = ScheduleId::from_parts(14, 1);
    let at = Timestamp(1_735_776_000_000_000);
    let planned = Timestamp(1_735_776_060_000_000);
    let finished = OccurrenceFinished {
        schedule,
        planned,
        outcome: OccurrenceOutcome::Failed,
        run: Some(RunId::from_parts(14, 4)),
        explanation: "the agent is archived".into(),
    };
    let scope = PauseScope::Principal(PrincipalId::from_parts(14, 2));
    let reason = SkipReason::Refused(OccurrenceRefusal::AgentChanged);
    let (last, count) = (Timestamp(planned.0 + 60_000_000), Some(2));
    let created = saved();
    let edited = ScheduleSaved {
        times: SavedTimes::Every { minutes: 90, anchor: planned },
        action: SavedAction::Reminder,
        ..saved()
    };
    let events = [
        ScheduleEvent::Created(created),
        ScheduleEvent::Edited(edited),
        ScheduleEvent::Paused { schedule, cause: PauseCause::Failures, at },
        ScheduleEvent::Resumed { schedule, at },
        ScheduleEvent::Removed { schedule, at },
        ScheduleEvent::OccurrenceCreated { schedule, planned, cause: OccurrenceCause::Missed },
        ScheduleEvent::OccurrenceStarted { schedule, planned, at },
        ScheduleEvent::OccurrenceCancelRequested { schedule, planned },
        ScheduleEvent::OccurrenceFinished(finished),
        ScheduleEvent::OccurrenceSkipped { schedule, planned, reason },
        ScheduleEvent::OccurrencesSkipped { schedule, first: planned, last, count },
        ScheduleEvent::ManyPaused { scope, at },
        ScheduleEvent::ManyResumed { scope: PauseScope::Everyone, at },
    ];
    events.map(JournalEvent::from).into()
}

/// Schedules with the content fields that one example of each kind does not have.
pub(super) fn every_form_of_times() -> Vec<JournalEvent> {
    let at = SavedTimes::At { local: "2026-05-01T08:00".into(), zone: "Europe/Prague".into() };
    let once = ScheduleSaved { times: at, ..saved() };
    let events =
        [ScheduleEvent::Created(once.clone()), ScheduleEvent::Edited(once), ScheduleEvent::Edited(saved())];
    events.map(JournalEvent::from).into()
}

fn saved() -> ScheduleSaved {
    ScheduleSaved {
        schedule: ScheduleId::from_parts(14, 1),
        at: Timestamp(1_735_776_000_000_000),
        times: SavedTimes::Cron { line: "0 8 * * 1-5".into(), zone: "Europe/Prague".into() },
        rules: ScheduleRules {
            missed: MissedRule::CatchUp { count_max: 3 },
            overlap: OverlapRule::Queue,
            jitter_seconds: 30,
        },
        action: SavedAction::Run(SavedRun {
            agent: AgentId::from_parts(14, 3),
            agent_profile: ContentDigest([3; 32]),
            target: ContentDigest([4; 32]),
        }),
        provenance: ScheduleProvenance {
            creator: PrincipalId::from_parts(14, 2),
            made_by_run: Some(RunId::from_parts(14, 5)),
            taints: Taints::WEB,
            edited_by_person: true,
        },
        name: "weekday mail".into(),
        text: "Read my mail and sum it up.".into(),
    }
}
