//! The index over many schedules, pauses of many, and the limit of a principal.

use super::*;
use crate::event::{OccurrenceOutcome, PauseCause};
use crate::fixture::{at, cron, definition, rules, show, zones};
use crate::rules::{MissedRule, OverlapRule};
use crate::spec::ScheduleSpec;

fn id(number: u128) -> ScheduleId {
    ScheduleId::from_parts(1, number)
}

fn person(number: u128) -> PrincipalId {
    PrincipalId::from_parts(1, number)
}

fn add(plan: &mut SchedulePlan, number: u128, creator: PrincipalId, spec: ScheduleSpec) {
    let mut definition = definition(spec, rules(MissedRule::Skip, OverlapRule::Queue));
    definition.provenance.creator = creator;
    plan.apply(
        id(number),
        &ScheduleChange::Created { definition: Box::new(definition), at: at("2027-01-01T00:00Z") },
    );
}

fn due(plan: &SchedulePlan, now: &str) -> Vec<ScheduleId> {
    plan.due(at(now)).collect()
}

fn decide(plan: &mut SchedulePlan, schedule: ScheduleId, now: Timestamp) -> usize {
    let decision = plan.schedule(schedule).unwrap().decide(now, Ok(()));
    for event in &decision.events {
        plan.apply(schedule, event);
    }
    decision.effects.len()
}

#[test]
fn a_hundred_thousand_schedules_cost_no_wake_up_while_nothing_is_due() {
    let mut plan = SchedulePlan::new(zones());
    for number in 0..100_000_u32 {
        let anchor = at("2027-01-02T00:00Z").after(std::time::Duration::from_secs(u64::from(number)));
        add(
            &mut plan,
            u128::from(number),
            person(u128::from(number / 200)),
            ScheduleSpec::Every { minutes: 1440, anchor },
        );
    }
    assert_eq!(plan.next_wake().map(show).as_deref(), Some("2027-01-02T00:00Z"), "a day without a wake-up");
    assert!(due(&plan, "2027-01-01T23:59:59Z").is_empty());
    // From one wake-up to the next: each is for the one schedule that is due, and for no other.
    for number in 0..1_000 {
        let now = plan.next_wake().unwrap();
        assert_eq!(plan.due(now).collect::<Vec<_>>(), [id(number)]);
        assert_eq!(decide(&mut plan, id(number), now), 1);
        assert!(plan.next_wake().unwrap() > now);
    }
}

#[test]
fn the_earliest_is_looked_at_first_and_only_once() {
    let mut plan = SchedulePlan::new(zones());
    add(&mut plan, 1, person(1), cron("0 9 * * *", "UTC"));
    add(&mut plan, 2, person(1), cron("0 8 * * *", "UTC"));
    assert_eq!(due(&plan, "2027-01-01T10:00Z"), [id(2), id(1)]);
    decide(&mut plan, id(2), at("2027-01-01T08:00Z"));
    assert_eq!(due(&plan, "2027-01-01T10:00Z"), [id(1)]);
}

#[test]
fn a_pause_of_all_is_ended_without_missed_occurrences() {
    let mut plan = SchedulePlan::new(zones());
    add(&mut plan, 1, person(1), cron("0 8 * * *", "UTC"));
    add(&mut plan, 2, person(2), cron("0 8 * * *", "UTC"));
    let scope = PauseScope::Principal(person(1));
    plan.apply_to_many(PlanEvent::Paused { scope, at: at("2027-01-01T01:00Z") });
    assert!(plan.is_principal_paused(person(1)) && !plan.is_principal_paused(person(2)));
    assert_eq!(due(&plan, "2027-01-05T10:00Z"), [id(2)]);
    plan.apply_to_many(PlanEvent::Paused { scope: PauseScope::Everyone, at: at("2027-01-01T01:00Z") });
    assert_eq!(plan.next_wake(), None);
    plan.apply_to_many(PlanEvent::Resumed { scope: PauseScope::Everyone, at: at("2027-01-10T09:00Z") });
    assert_eq!(due(&plan, "2027-02-01T00:00Z"), [id(2)], "the principal's own pause goes on");
    plan.apply_to_many(PlanEvent::Resumed { scope, at: at("2027-01-11T07:00Z") });
    assert_eq!(plan.schedule(id(1)).unwrap().next_wake().map(show).as_deref(), Some("2027-01-11T08:00Z"));
    assert_eq!(plan.schedule(id(2)).unwrap().next_wake().map(show).as_deref(), Some("2027-01-11T08:00Z"));
}

#[test]
fn a_pause_of_all_skips_what_waits() {
    let mut plan = SchedulePlan::new(zones());
    add(&mut plan, 1, person(1), cron("0 8 * * *", "UTC"));
    decide(&mut plan, id(1), at("2027-01-01T08:00Z"));
    decide(&mut plan, id(1), at("2027-01-02T08:00Z"));
    let events = plan.decide_pause_of_many(PauseScope::Everyone);
    assert_eq!(
        events,
        [(
            id(1),
            ScheduleChange::OccurrenceSkipped {
                planned: at("2027-01-02T08:00Z"),
                reason: SkipReason::Paused
            }
        )]
    );
}

#[test]
fn one_paused_schedule_is_not_due() {
    let mut plan = SchedulePlan::new(zones());
    add(&mut plan, 1, person(1), cron("0 8 * * *", "UTC"));
    plan.apply(id(1), &ScheduleChange::Paused { cause: PauseCause::Person, at: at("2027-01-01T01:00Z") });
    assert_eq!(plan.next_wake(), None);
    plan.apply(id(1), &ScheduleChange::Resumed { at: at("2027-01-03T09:00Z") });
    assert_eq!(plan.next_wake().map(show).as_deref(), Some("2027-01-04T08:00Z"));
}

#[test]
fn a_principal_has_200_schedules_at_most() {
    let mut plan = SchedulePlan::new(zones());
    for number in 0..200 {
        assert_eq!(plan.check_limit(person(1)), Ok(()));
        add(&mut plan, number, person(1), cron("0 8 * * *", "UTC"));
    }
    assert_eq!(plan.check_limit(person(1)), Err(TooManySchedules));
    assert_eq!(plan.check_limit(person(2)), Ok(()));
    plan.apply(id(3), &ScheduleChange::Removed { at: at("2027-01-01T01:00Z") });
    assert_eq!(plan.check_limit(person(1)), Ok(()));
    assert!(plan.schedule(id(3)).is_none());
}

#[test]
fn a_schedule_that_is_removed_while_it_runs_stays_until_its_end() {
    let mut plan = SchedulePlan::new(zones());
    add(&mut plan, 1, person(1), cron("0 8 * * *", "UTC"));
    decide(&mut plan, id(1), at("2027-01-01T08:00Z"));
    plan.apply(id(1), &ScheduleChange::Removed { at: at("2027-01-01T08:10Z") });
    let planned = plan.schedule(id(1)).unwrap().running().unwrap();
    plan.apply(id(1), &ScheduleChange::OccurrenceFinished { planned, outcome: OccurrenceOutcome::Succeeded });
    assert!(plan.schedule(id(1)).is_none());
}

#[test]
fn a_plan_that_is_restored_from_snapshots_is_the_same() {
    let mut plan = SchedulePlan::new(zones());
    add(&mut plan, 1, person(1), cron("0 8 * * *", "UTC"));
    add(&mut plan, 2, person(1), cron("0 9 * * *", "UTC"));
    decide(&mut plan, id(1), at("2027-01-01T08:00Z"));
    let mut restored = SchedulePlan::new(zones());
    for number in 1..=2 {
        restored.restore(id(number), &plan.schedule(id(number)).unwrap().snapshot());
    }
    assert_eq!(restored.next_wake(), plan.next_wake());
    assert_eq!(due(&restored, "2027-01-05T00:00Z"), due(&plan, "2027-01-05T00:00Z"));
    assert_eq!(restored.counts, plan.counts);
}
