//! Schedules in the list of what waits, and what ends that.

use std::sync::Arc;

use palyra_admin::attention::{AttentionHandle, AttentionQuery, ScheduleWait, WaitingSchedule, WaitingThing};
use palyra_ports::Clock;
use palyra_types::Content;
use palyra_types::schedule::{OccurrenceStage, ScheduleEvent};

use super::rig::{Rig, hourly, me};
use crate::scheduled_run::RunNotStarted;
use crate::{DraftAction, DraftTimes, ScheduleDraft};

async fn waiting(rig: &Rig) -> Vec<WaitingSchedule> {
    let query = AttentionQuery { principal: me().actor.principal, has_schedules: true, has_daemon: false };
    let attention = AttentionHandle::new(Arc::new(rig.journal.clone()));
    let found = attention.waiting(query, |_| true).await.unwrap();
    let schedule = |thing| match thing {
        WaitingThing::Schedule(schedule) => *schedule,
        other => panic!("{other:?}"),
    };
    found.things.into_iter().map(schedule).collect()
}

async fn waits(rig: &Rig) -> Vec<ScheduleWait> {
    waiting(rig).await.into_iter().map(|waiting| waiting.wait).collect()
}

fn reminder() -> ScheduleDraft {
    ScheduleDraft { action: DraftAction::Remind(Content::from("drink")), ..hourly() }
}

async fn resumes(rig: &Rig) -> usize {
    let entries = rig.schedule_entries().await;
    entries.iter().filter(|(_, event)| matches!(event, ScheduleEvent::Resumed { .. })).count()
}

#[tokio::test]
async fn a_delivered_reminder_waits_until_a_person_says_that_they_saw_it() {
    let rig = Rig::start();
    let schedule = rig.create(reminder()).await;
    assert_eq!(waits(&rig).await, []);
    rig.schedules.resume(me(), schedule).await.unwrap();
    assert_eq!(resumes(&rig).await, 0, "nothing was delivered yet");
    let mut changes = rig.schedules.watch_changes();
    changes.mark_unchanged();
    rig.advance(60).await;
    assert!(changes.has_changed().unwrap(), "the list is looked at again");
    let waiting = waiting(&rig).await;
    assert_eq!(
        (waiting[0].wait, waiting[0].about.expose().as_str()),
        (ScheduleWait::Reminder { planned: rig.clock.wall() }, "drink")
    );
    let rig = rig.restarted();
    rig.advance(1).await;
    assert_eq!(waits(&rig).await.len(), 1, "a restart does not end it");
    rig.schedules.resume(me(), schedule).await.unwrap();
    rig.schedules.resume(me(), schedule).await.unwrap();
    assert_eq!((waits(&rig).await, resumes(&rig).await), (vec![], 1));
    rig.advance(59).await;
    assert_eq!(waits(&rig).await.len(), 1, "the next time is delivered all the same");
    rig.schedules.remove(me(), schedule).await.unwrap();
    assert_eq!(waits(&rig).await, []);
}

#[tokio::test]
async fn a_schedule_that_five_failures_paused_waits_until_it_is_resumed() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    rig.world.lock().refusal = Some(RunNotStarted::Refused { what: "the session is archived".to_owned() });
    rig.advance(4 * 60).await;
    assert_eq!(waits(&rig).await, [], "four failures");
    rig.advance(60).await;
    assert_eq!(waits(&rig).await, [ScheduleWait::Paused]);
    let since = rig.clock.wall();
    rig.advance(60).await;
    rig.schedules.run_now(me(), schedule).await.unwrap();
    rig.advance(1).await;
    assert_eq!(waiting(&rig).await[0].since, since, "a start by hand begins no other wait");
    rig.advance(59).await;
    rig.world.lock().refusal = None;
    rig.schedules.resume(me(), schedule).await.unwrap();
    assert_eq!(waits(&rig).await, []);
    rig.advance(60).await;
    assert_eq!(rig.stages(schedule).await.last(), Some(&(480, OccurrenceStage::Running)));
    rig.schedules.pause(me(), schedule).await.unwrap();
    assert_eq!(waits(&rig).await, [], "a person paused it, so nothing waits");
}

async fn is_open(rig: &Rig) -> bool {
    rig.schedules.has_open_schedules().await.unwrap()
}

#[tokio::test]
async fn enabled_schedules_are_open_and_paused_or_removed_ones_are_not() {
    let rig = Rig::start();
    assert!(!is_open(&rig).await, "there is none");
    let schedule = rig.create(hourly()).await;
    assert!(is_open(&rig).await);
    rig.schedules.pause(me(), schedule).await.unwrap();
    assert!(!is_open(&rig).await, "paused");
    rig.schedules.resume(me(), schedule).await.unwrap();
    let rig = rig.restarted();
    assert!(is_open(&rig).await, "also right after a start");
    rig.schedules.pause_all(me()).await.unwrap();
    assert!(!is_open(&rig).await, "paused with all others");
    rig.schedules.resume_all(me()).await.unwrap();
    assert!(is_open(&rig).await);
    rig.schedules.remove(me(), schedule).await.unwrap();
    assert!(!is_open(&rig).await, "removed");
}

#[tokio::test]
async fn a_reminder_is_open_until_a_person_acts_on_it() {
    let rig = Rig::start();
    let times = DraftTimes::At("2025-01-01T01:00".to_owned());
    let schedule = rig.create(ScheduleDraft { times, ..reminder() }).await;
    rig.advance(60).await;
    assert!(matches!(waits(&rig).await[..], [ScheduleWait::Reminder { .. }]));
    assert!(is_open(&rig).await, "delivered, and not seen");
    rig.schedules.pause_all(me()).await.unwrap();
    assert!(!is_open(&rig).await, "paused with all others");
    rig.schedules.resume_all(me()).await.unwrap();
    assert!(is_open(&rig).await);
    rig.advance(1).await;
    rig.schedules.resume(me(), schedule).await.unwrap();
    assert!(!is_open(&rig).await, "seen, and never due again");
}
