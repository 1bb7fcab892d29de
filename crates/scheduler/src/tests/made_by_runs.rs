//! Schedules that calls of runs make: where they come from, their limits, and which of their runs use stored grants.

use palyra_ports::{CredentialUser, DraftTimes, ToolScheduleAction, ToolScheduleDraft, UseSchedules};
use palyra_schedule::SCHEDULES_PER_PRINCIPAL_MAX;
use palyra_types::schedule::{ScheduleEvent, ScheduleProvenance};
use palyra_types::tool::Taints;
use palyra_types::{Content, EffectId, ErrorCode, RunId, ScheduleId};

use super::rig::{Rig, hourly, me, person};

fn call(effect: u32) -> CredentialUser {
    CredentialUser { principal: person(1), run: RunId::from_parts(7, 7), effect: EffectId(effect) }
}

fn reminder(words: &str) -> ToolScheduleDraft {
    ToolScheduleDraft {
        name: None,
        times: DraftTimes::Words(words.to_owned()),
        zone: Some("UTC".to_owned()),
        action: ToolScheduleAction::Reminder,
        text: Content::from("drink"),
    }
}

/// Returns the provenance of the schedules that were made, in order.
async fn provenances(rig: &Rig) -> Vec<ScheduleProvenance> {
    let made = rig.schedule_entries().await.into_iter().filter_map(|(_, event)| match event {
        ScheduleEvent::Created(saved) => Some(saved.provenance),
        _ => None,
    });
    made.collect()
}

#[tokio::test]
async fn a_schedule_of_a_run_records_the_run_and_what_it_had_read_and_is_made_once() {
    let rig = Rig::start();
    let made =
        UseSchedules::create(&rig.schedules, call(1), Taints::WEB, reminder("every hour")).await.unwrap();
    let again =
        UseSchedules::create(&rig.schedules, call(1), Taints::WEB, reminder("every hour")).await.unwrap();
    assert_eq!(made.schedule, again.schedule, "a call that is repeated after a crash");
    let other =
        UseSchedules::create(&rig.schedules, call(2), Taints::NONE, reminder("every hour")).await.unwrap();
    assert_ne!(made.schedule, other.schedule, "another call of the run");
    let provenance = |taints| ScheduleProvenance {
        creator: person(1),
        made_by_run: Some(call(1).run),
        taints,
        edited_by_person: false,
    };
    assert_eq!(provenances(&rig).await, [provenance(Taints::WEB), provenance(Taints::NONE)]);
    assert_eq!(UseSchedules::list(&rig.schedules, call(3)).await.unwrap().len(), 2);
}

#[tokio::test]
async fn limits_are_typed_refusals() {
    let rig = Rig::start();
    for words in ["every 30 seconds", "every 0 minutes"] {
        let refused = rig.schedules.plan(call(1), reminder(words)).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ScheduleInvalid, "{words}: {refused}");
    }
    assert!(rig.schedules.plan(call(1), reminder("every 1 minutes")).await.is_ok(), "the smallest interval");
    for _ in 0..SCHEDULES_PER_PRINCIPAL_MAX {
        rig.create(hourly()).await;
    }
    let planned = rig.schedules.plan(call(1), reminder("every hour")).await.unwrap_err();
    let made = UseSchedules::create(&rig.schedules, call(1), Taints::NONE, reminder("every hour"))
        .await
        .unwrap_err();
    assert_eq!([planned.code, made.code], [ErrorCode::TooManySchedules; 2]);
}

#[tokio::test]
async fn a_plan_has_the_next_five_times_and_no_words_that_another_day_changes() {
    let rig = Rig::start();
    let planned = rig.schedules.plan(call(1), reminder("tomorrow at 9")).await.unwrap();
    assert_eq!(planned.times, DraftTimes::At("2025-01-02T09:00".to_owned()));
    let planned = rig.schedules.plan(call(1), reminder("every weekday at 8")).await.unwrap();
    assert_eq!(planned.times, DraftTimes::Cron("0 8 * * 1-5".to_owned()));
    assert_eq!((planned.next.len(), planned.next[0].as_str()), (5, "Wed 2025-01-01 08:00 UTC"));
    assert!(rig.schedule_entries().await.is_empty());
}

#[tokio::test]
async fn a_call_reaches_no_schedule_of_another_principal() {
    let rig = Rig::start();
    let schedule = rig.create(hourly()).await;
    let other = CredentialUser { principal: person(2), ..call(1) };
    let refusals = [
        rig.schedules.find(other, schedule).await.map(|_| ()).unwrap_err(),
        rig.schedules.cancel(other, schedule).await.unwrap_err(),
        rig.schedules.cancel(other, ScheduleId::from_parts(1, 99)).await.unwrap_err(),
    ];
    assert!(refusals.iter().all(|refusal| refusal.code == ErrorCode::ScheduleNotFound));
    assert!(UseSchedules::list(&rig.schedules, other).await.unwrap().is_empty());
    rig.schedules.cancel(call(1), schedule).await.unwrap();
    assert!(rig.schedules.list(me()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_run_without_a_record_makes_no_schedule_of_runs() {
    let rig = Rig::start();
    let draft = ToolScheduleDraft { action: ToolScheduleAction::Run, ..reminder("every hour") };
    let refused = rig.schedules.plan(call(1), draft).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::RunNotFound);
}
