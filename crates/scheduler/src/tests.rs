//! The loop over the memory journal: crashes, set clocks, checks, limits, and how often it wakes.

mod attention_items;
mod made_by_runs;
mod rig;

use std::time::Duration;

use palyra_ports::{AppendError, Clock};
use palyra_schedule::{OccurrenceRefusal, SCHEDULES_PER_PRINCIPAL_MAX};
use palyra_types::schedule::{
    MissedRule, OccurrenceCause, OccurrenceOutcome, OccurrenceStage, OverlapRule, PauseCause, SavedAction,
    SavedTimes, ScheduleEvent, ScheduleProvenance, ScheduleRules, ScheduleSaved, SkipReason,
};
use palyra_types::tool::Taints;
use palyra_types::{Content, ScheduleId, Timestamp};
use rig::{Rig, draft, hourly, me, minute, person};

use crate::scheduled_run::RunNotStarted;
use crate::{DraftAction, DraftTimes, ScheduleDraft, ScheduleError};
use palyra_admin::Caller;

const SUCCEEDED: OccurrenceStage = OccurrenceStage::Finished(OccurrenceOutcome::Succeeded);
const FAILED: OccurrenceStage = OccurrenceStage::Finished(OccurrenceOutcome::Failed);
const MISSED: OccurrenceStage = OccurrenceStage::Skipped(SkipReason::Missed);
const RUNNING: OccurrenceStage = OccurrenceStage::Running;

#[tokio::test]
async fn a_due_occurrence_starts_one_run_and_its_end_is_recorded() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.advance(59).await;
    assert!(rig.starts().is_empty());
    rig.advance(1).await;
    assert_eq!(rig.starts().len(), 1);
    assert_eq!(rig.stages(schedule).await, [(60, RUNNING)]);
    rig.end_latest(OccurrenceOutcome::Succeeded).await;
    let details = rig.schedules.get(me(), schedule).await.unwrap();
    assert_eq!(details.occurrences[0].stage, SUCCEEDED);
    assert!(details.occurrences[0].run.is_some());
    assert_eq!(details.next.iter().map(|next| minute(next.planned)).take(2).collect::<Vec<_>>(), [120, 180]);
}

#[tokio::test]
async fn a_reminder_is_delivered_by_its_record_alone() {
    let rig = Rig::start();
    let action = DraftAction::Remind(Content::from("drink"));
    let schedule = rig.create(ScheduleDraft { action, ..hourly() }).await;
    rig.advance(60).await;
    assert_eq!(rig.stages(schedule).await, [(60, SUCCEEDED)]);
    assert_eq!((rig.starts().len(), rig.schedule_entries().await.len()), (0, 4));
}

#[tokio::test]
async fn the_missed_rule_decides_about_occurrences_while_the_daemon_was_down() {
    let cases = [
        (MissedRule::Skip, vec![(60, MISSED), (120, MISSED), (180, MISSED)]),
        (MissedRule::RunOnce, vec![(60, MISSED), (120, MISSED), (180, RUNNING)]),
        (
            MissedRule::CatchUp { count_max: 2 },
            vec![(60, MISSED), (120, RUNNING), (180, OccurrenceStage::Waiting)],
        ),
    ];
    for (missed, expected) in cases {
        let rig = Rig::start();
        let times = DraftTimes::Cron("0 * * * *".to_owned());
        let schedule = rig.create(draft(times, missed, OverlapRule::Queue)).await;
        rig.pass_minutes(190);
        let rig = rig.restarted();
        rig.quiet().await;
        assert_eq!(rig.stages(schedule).await, expected, "{missed:?}");
    }
}

#[tokio::test]
async fn a_crash_between_record_and_start_starts_the_run_once() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    let planned = Timestamp(rig.clock.wall().0 + 3_600_000_000);
    let crashed = vec![
        ScheduleEvent::OccurrenceCreated { schedule, planned, cause: OccurrenceCause::Due },
        ScheduleEvent::OccurrenceStarted { schedule, planned, at: planned },
    ];
    rig.record(person(1), crashed).await;
    let mut rig = rig.restarted();
    rig.quiet().await;
    assert_eq!(rig.starts().len(), 1);
    // While the run goes on, each start of the daemon finds it by its key.
    for _ in 0..3 {
        rig = rig.restarted();
        rig.quiet().await;
    }
    let starts = rig.starts();
    assert!(starts.len() > 1 && starts.iter().all(|key| *key == starts[0]), "{starts:?}");
    assert_eq!(rig.stages(schedule).await, [(60, RUNNING)]);
    rig.end_latest(OccurrenceOutcome::Succeeded).await;
    assert_eq!(rig.stages(schedule).await, [(60, SUCCEEDED)]);
}

#[tokio::test]
async fn an_append_that_fails_changes_nothing_and_one_in_doubt_is_read_again() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.advance(59).await;
    rig.journal.fail_next(AppendError::DiskFull);
    rig.advance(1).await;
    rig.clock.advance(Duration::from_secs(5));
    rig.quiet().await;
    assert_eq!(rig.stages(schedule).await, [(60, RUNNING)]);
    rig.end_latest(OccurrenceOutcome::Succeeded).await;
    rig.journal.lose_next_answer();
    let paused = rig.schedules.pause(me(), schedule).await;
    assert!(paused.is_err(), "{paused:?}");
    rig.quiet().await;
    let listed = rig.schedules.list(me()).await.unwrap();
    assert_eq!(listed[0].record.row.progress.paused, Some(PauseCause::Person));
    rig.advance(120).await;
    assert_eq!(rig.starts().len(), 1, "the plan knows the pause");
}

#[tokio::test]
async fn a_clock_that_is_set_back_repeats_nothing_and_one_that_is_set_forth_misses() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.advance(60).await;
    rig.end_latest(OccurrenceOutcome::Succeeded).await;
    rig.clock.set_wall_ahead(-86_400_000_000);
    rig.quiet().await;
    rig.advance(65).await;
    assert_eq!(rig.stages(schedule).await, [(60, SUCCEEDED)], "settled once");
    // The wait of an hour is not over, but the clock is: only a signal of the clock tells.
    rig.clock.set_wall_ahead(3_600_000_000);
    rig.quiet().await;
    let stages = rig.stages(schedule).await;
    assert_eq!(stages, [(60, SUCCEEDED), (120, MISSED), (180, MISSED)]);
}

#[tokio::test]
async fn an_erased_text_pauses_the_schedule_and_an_edit_ends_the_pause() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    let created = rig.schedule_entries().await[0].0;
    rig.journal.erase(created);
    rig.advance(60).await;
    let refused = OccurrenceStage::Skipped(SkipReason::Refused(OccurrenceRefusal::PromptChanged));
    assert_eq!(rig.stages(schedule).await, [(60, refused)]);
    let listed = rig.schedules.list(me()).await.unwrap();
    assert_eq!(listed[0].record.row.progress.paused, Some(PauseCause::Refused));
    assert!(rig.starts().is_empty());
    rig.schedules.edit(me(), schedule, hourly()).await.unwrap();
    rig.advance(60).await;
    assert_eq!(rig.starts().len(), 1);
}

#[tokio::test]
async fn a_disabled_creator_starts_nothing_until_enabled_again() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.world.lock().disabled.insert(person(1));
    rig.advance(60).await;
    let refused = OccurrenceStage::Skipped(SkipReason::Refused(OccurrenceRefusal::Creator));
    assert_eq!(rig.stages(schedule).await, [(60, refused)]);
    rig.world.lock().disabled.clear();
    rig.advance(60).await;
    assert_eq!(rig.stages(schedule).await, [(60, refused), (120, RUNNING)]);
}

#[tokio::test]
async fn a_changed_agent_needs_a_new_approval() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.world.lock().instructions = "be rude".to_owned();
    let refused = rig.schedules.run_now(me(), schedule).await.unwrap_err();
    assert!(matches!(refused, ScheduleError::NotStarted(_)), "{refused}");
    rig.schedules.edit(me(), schedule, hourly()).await.unwrap();
    rig.schedules.run_now(me(), schedule).await.unwrap();
    rig.quiet().await;
    assert_eq!(rig.starts().len(), 1);
}

#[tokio::test]
async fn a_run_that_cannot_be_started_is_a_failure_and_five_pause_the_schedule() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.world.lock().refusal = Some(RunNotStarted::Refused { what: "the session is archived".to_owned() });
    rig.advance(6 * 60).await;
    let details = rig.schedules.get(me(), schedule).await.unwrap();
    assert_eq!(details.occurrences.len(), 5);
    assert!(details.occurrences.iter().all(|one| one.stage == FAILED));
    assert_eq!(details.occurrences[0].explanation.expose(), "the session is archived");
    assert_eq!(details.listed.record.row.progress.paused, Some(PauseCause::Failures));
    rig.world.lock().refusal = None;
    rig.schedules.resume(me(), schedule).await.unwrap();
    rig.advance(60).await;
    assert_eq!(rig.stages(schedule).await.last(), Some(&(420, RUNNING)));
}

#[tokio::test]
async fn a_later_occurrence_replaces_a_running_one() {
    let rig = Rig::start();
    let times = DraftTimes::Cron("0 * * * *".to_owned());
    let schedule = rig.create(draft(times, MissedRule::Skip, OverlapRule::Replace)).await;
    rig.advance(120).await;
    assert_eq!(rig.world.lock().cancelled.len(), 1);
    rig.end_latest(OccurrenceOutcome::Cancelled).await;
    let replaced = OccurrenceStage::Finished(OccurrenceOutcome::Replaced);
    assert_eq!(rig.stages(schedule).await, [(60, replaced), (120, RUNNING)]);
}

#[tokio::test]
async fn schedules_of_another_principal_behave_like_unknown_ones() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    let other = Caller::at_socket(person(2));
    assert!(rig.schedules.list(other).await.unwrap().is_empty());
    let unknown = ScheduleId::from_parts(1, 99);
    for id in [schedule, unknown] {
        let refusals = [
            rig.schedules.get(other, id).await.map(|_| ()),
            rig.schedules.edit(other, id, hourly()).await,
            rig.schedules.pause(other, id).await,
            rig.schedules.resume(other, id).await,
            rig.schedules.remove(other, id).await,
            rig.schedules.run_now(other, id).await.map(|_| ()),
        ];
        assert!(refusals.iter().all(|refusal| matches!(refusal, Err(ScheduleError::NotFound))));
    }
    rig.schedules.remove(me(), schedule).await.unwrap();
    assert!(matches!(rig.schedules.get(me(), schedule).await, Err(ScheduleError::NotFound)));
    rig.advance(60).await;
    assert!(rig.starts().is_empty());
}

#[tokio::test]
async fn a_pause_of_all_is_kept_over_a_restart_and_misses_nothing() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.schedules.pause_all(me()).await.unwrap();
    let rig = rig.restarted();
    rig.advance(90).await;
    assert!(rig.schedules.list(me()).await.unwrap()[0].is_paused_with_others);
    rig.schedules.resume_all(me()).await.unwrap();
    let rig = rig.restarted();
    rig.advance(30).await;
    assert_eq!(rig.stages(schedule).await, [(120, RUNNING)]);
}

#[tokio::test]
async fn drafts_that_are_not_possible_are_refused_and_the_limit_is_kept() {
    let rig = Rig::start();
    let of = |times| draft(times, MissedRule::Skip, OverlapRule::Forbid);
    for times in [
        DraftTimes::Words("when the moon is full".to_owned()),
        DraftTimes::Cron("61 * * * *".to_owned()),
        DraftTimes::At("2020-01-01T00:00".to_owned()),
        DraftTimes::EveryMinutes(0),
    ] {
        let refused = rig.schedules.create(me(), of(times.clone())).await;
        assert!(refused.is_err(), "{times:?}");
    }
    let empty = ScheduleDraft { action: DraftAction::Remind(Content::from(" ")), ..hourly() };
    assert!(rig.schedules.create(me(), empty).await.is_err());
    let stranger = DraftAction::Run { prompt: Content::from("go"), agent: Some("nobody".to_owned()) };
    assert!(rig.schedules.create(me(), ScheduleDraft { action: stranger, ..hourly() }).await.is_err());
    for _ in 0..SCHEDULES_PER_PRINCIPAL_MAX {
        rig.create(hourly()).await;
    }
    let full = rig.schedules.create(me(), hourly()).await;
    assert!(matches!(full, Err(ScheduleError::TooMany(_))), "{full:?}");
}

#[tokio::test]
async fn a_preview_shows_the_cron_line_and_five_times_and_records_nothing() {
    let rig = Rig::start();
    let words = DraftTimes::Words("every weekday at 8".to_owned());
    let preview = rig.schedules.preview(me(), &draft(words, MissedRule::Skip, OverlapRule::Forbid)).unwrap();
    assert_eq!(preview.cron.as_deref(), Some("0 8 * * 1-5"));
    assert_eq!(preview.next.len(), 5);
    assert_eq!(preview.next[0].local, "Wed 2025-01-01 08:00 UTC");
    assert!(rig.schedule_entries().await.is_empty());
}

/// Returns a schedule that is due in a year.
fn far_away(number: u128) -> ScheduleEvent {
    let at = palyra_testkit::fake_clock::FAKE_WALL_START;
    ScheduleEvent::Created(ScheduleSaved {
        schedule: ScheduleId::from_parts(2, number),
        at,
        times: SavedTimes::Every { minutes: 60, anchor: at.after(Duration::from_hours(24 * 365)) },
        rules: ScheduleRules { missed: MissedRule::Skip, overlap: OverlapRule::Forbid, jitter_seconds: 0 },
        action: SavedAction::Reminder,
        provenance: ScheduleProvenance {
            creator: person(number / 200),
            made_by_run: None,
            taints: Taints::NONE,
            edited_by_person: false,
        },
        name: "drink".into(),
        text: "drink".into(),
    })
}

#[tokio::test]
async fn ten_thousand_schedules_cost_no_wake_up_while_nothing_is_due() {
    nothing_wakes(10_000).await;
}

#[tokio::test]
#[ignore = "takes half a minute; docs/schedules.md names the command"]
async fn a_hundred_thousand_schedules_cost_no_wake_up_while_nothing_is_due() {
    nothing_wakes(100_000).await;
}

async fn nothing_wakes(schedules: u128) {
    let rig = Rig::start();
    for batch in 0..schedules / 250 {
        let events = (batch * 250..(batch + 1) * 250).map(far_away).collect();
        rig.record(person(batch), events).await;
    }
    let rig = rig.restarted();
    rig.quiet().await;
    let before = rig.ticks();
    for _ in 0..24 {
        rig.clock.advance(Duration::from_hours(1));
        rig.quiet().await;
    }
    assert_eq!(rig.ticks(), before);
    rig.clock.advance(Duration::from_hours(24 * 364));
    rig.quiet().await;
    assert!(rig.ticks() > before, "and they wake when they are due");
}
