//! The fold: a specification that no longer parses, edits, removals.

use super::*;
use crate::event::{OccurrenceOutcome, SkipReason};
use crate::fixture::{at, created, cron, definition, finish, rules, show, step, text};
use crate::rules::{MissedRule, OverlapRule};

#[test]
fn a_specification_that_no_longer_parses_is_never_due_and_says_why() {
    let skip = rules(MissedRule::Skip, OverlapRule::Forbid);
    for (spec, part) in
        [(cron("0 8 * * *", "Mars/Olympus"), "Mars/Olympus"), (cron("0 8 W * *", "UTC"), "`W`")]
    {
        let state = created(spec, skip, at("2027-01-01T00:00Z"));
        assert!(state.unreadable_cause().unwrap().contains(part));
        assert_eq!(state.next_wake(), None);
        assert!(state.decide(at("2027-06-01T00:00Z"), Ok(())).events.is_empty());
        assert_eq!(state.preview(at("2027-01-01T00:00Z")).count(), 0);
    }
}

#[test]
fn an_edit_replaces_the_times_and_mends_what_did_not_parse() {
    let skip = rules(MissedRule::Skip, OverlapRule::Forbid);
    let mut state = created(cron("0 8 * * *", "Mars/Olympus"), skip, at("2027-01-01T00:00Z"));
    let edited = definition(cron("0 9 * * *", "UTC"), skip);
    state.evolve(&ScheduleChange::Edited { definition: Box::new(edited), at: at("2027-02-01T10:00Z") });
    assert_eq!(state.unreadable_cause(), None);
    assert_eq!(state.next_wake().map(show).as_deref(), Some("2027-02-02T09:00Z"));
}

#[test]
fn an_edit_after_the_clock_was_set_back_repeats_no_instant() {
    let skip = rules(MissedRule::Skip, OverlapRule::Forbid);
    let mut state = created(cron("0 8 * * *", "UTC"), skip, at("2027-01-01T00:00Z"));
    assert_eq!(step(&mut state, at("2027-01-01T08:00Z")).effects.len(), 1);
    finish(&mut state, OccurrenceOutcome::Succeeded, at("2027-01-01T08:01Z"));
    let edited = definition(cron("0 8 * * *", "UTC"), skip);
    state.evolve(&ScheduleChange::Edited { definition: Box::new(edited), at: at("2026-12-31T09:00Z") });
    assert_eq!(state.next_planned().map(show).as_deref(), Some("2027-01-02T08:00Z"));
}

#[test]
fn a_removed_schedule_is_never_due_and_its_run_can_still_end() {
    let skip = rules(MissedRule::Skip, OverlapRule::Queue);
    let mut state = created(cron("0 8 * * *", "UTC"), skip, at("2027-01-01T00:00Z"));
    step(&mut state, at("2027-01-01T08:00Z"));
    step(&mut state, at("2027-01-02T08:00Z"));
    assert_eq!(state.waiting().count(), 1);
    for event in state.skip_waiting(SkipReason::Removed) {
        state.evolve(&event);
    }
    state.evolve(&ScheduleChange::Removed { at: at("2027-01-02T09:00Z") });
    assert_eq!((state.next_wake(), state.definition()), (None, None));
    assert!(text(&state.decide(at("2027-01-03T08:00Z"), Ok(()))).is_empty());
    assert_eq!(finish(&mut state, OccurrenceOutcome::Failed, at("2027-01-03T08:00Z")).len(), 1);
    assert_eq!(state.running(), None);
}
