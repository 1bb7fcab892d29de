//! Decisions at single times; a year of them is compared with a table in `tests/year.rs`.

use proptest::prelude::*;

use super::*;
use crate::fixture::{at, created, cron, event_text, finish, rules, show, step, text, zones};
use crate::rules::MissedRule;
use crate::spec::ScheduleSpec;
use palyra_types::ScheduleId;

fn daily(missed: MissedRule, overlap: OverlapRule) -> ScheduleState {
    created(cron("0 8 * * *", "UTC"), rules(missed, overlap), at("2027-01-01T00:00Z"))
}

#[test]
fn nothing_happens_before_the_time_and_the_wake_up_is_at_the_time() {
    let state = daily(MissedRule::Skip, OverlapRule::Forbid);
    assert_eq!(state.next_wake().map(show).as_deref(), Some("2027-01-01T08:00Z"));
    assert_eq!(state.decide(at("2027-01-01T07:59:59Z"), Ok(())), ScheduleDecision::default());
}

#[test]
fn an_occurrence_is_created_and_started_in_one_append() {
    let mut state = daily(MissedRule::Skip, OverlapRule::Forbid);
    assert_eq!(
        text(&step(&mut state, at("2027-01-01T08:00:30Z"))),
        ["created 2027-01-01T08:00Z Due", "started 2027-01-01T08:00Z", "-> start 2027-01-01T08:00Z"]
    );
    assert_eq!(state.decide(at("2027-01-01T08:00:30Z"), Ok(())), ScheduleDecision::default());
    assert_eq!(state.unfinished_effects(), [ScheduleEffect::Start { planned: at("2027-01-01T08:00Z") }]);
}

#[test]
fn an_occurrence_a_minute_late_is_missed() {
    let state = daily(MissedRule::Skip, OverlapRule::Forbid);
    assert_eq!(text(&state.decide(at("2027-01-01T08:01Z"), Ok(()))), ["skipped 2027-01-01T08:00Z Missed"]);
}

#[test]
fn catching_up_runs_one_after_another() {
    let mut state = daily(MissedRule::CatchUp { count_max: 2 }, OverlapRule::Forbid);
    assert_eq!(
        text(&step(&mut state, at("2027-01-03T12:00Z"))),
        [
            "skipped 2027-01-01T08:00Z Missed",
            "created 2027-01-02T08:00Z Missed",
            "created 2027-01-03T08:00Z Missed",
            "started 2027-01-02T08:00Z",
            "-> start 2027-01-02T08:00Z"
        ]
    );
    finish(&mut state, OccurrenceOutcome::Succeeded, at("2027-01-03T12:05Z"));
    assert_eq!(state.next_wake(), Some(Timestamp(i64::MIN)));
    assert_eq!(
        text(&step(&mut state, at("2027-01-03T12:05Z"))),
        ["started 2027-01-03T08:00Z", "-> start 2027-01-03T08:00Z"]
    );
}

#[test]
fn a_replacement_starts_when_the_end_of_the_replaced_one_is_recorded() {
    let mut state = daily(MissedRule::Skip, OverlapRule::Replace);
    step(&mut state, at("2027-01-01T08:00Z"));
    assert_eq!(
        text(&step(&mut state, at("2027-01-02T08:00Z"))),
        ["cancel 2027-01-01T08:00Z", "created 2027-01-02T08:00Z Due", "-> cancel 2027-01-01T08:00Z"]
    );
    let lost = [
        ScheduleEffect::Start { planned: at("2027-01-01T08:00Z") },
        ScheduleEffect::Cancel { planned: at("2027-01-01T08:00Z") },
    ];
    assert_eq!(state.unfinished_effects(), lost, "a crash before the cancel does not lose it");
    finish(&mut state, OccurrenceOutcome::Replaced, at("2027-01-02T08:00:03Z"));
    assert_eq!(
        text(&step(&mut state, at("2027-01-02T08:00:03Z"))),
        ["started 2027-01-02T08:00Z", "-> start 2027-01-02T08:00Z"]
    );
    assert_eq!(state.unfinished_effects().len(), 1);
}

#[test]
fn a_refused_occurrence_is_skipped_with_the_reason_and_replaces_nothing() {
    for overlap in [OverlapRule::Forbid, OverlapRule::Queue, OverlapRule::Replace] {
        let mut state = daily(MissedRule::Skip, overlap);
        let refused = state.decide(at("2027-01-01T08:00Z"), Err(OccurrenceRefusal::AgentChanged));
        assert_eq!(text(&refused), ["skipped 2027-01-01T08:00Z Refused(AgentChanged)"]);
        step(&mut state, at("2027-01-01T08:00Z"));
        let refused = state.decide(at("2027-01-02T08:00Z"), Err(OccurrenceRefusal::Creator));
        assert_eq!((refused.events.len(), refused.effects.len()), (1, 0));
    }
}

#[test]
fn five_failures_in_a_row_pause_the_schedule() {
    let mut state = daily(MissedRule::Skip, OverlapRule::Forbid);
    let mut outcomes = Vec::new();
    for day in 1..=9 {
        let now = at(&format!("2027-01-0{day}T08:00Z"));
        if step(&mut state, now).effects.is_empty() {
            break;
        }
        let outcome = if day == 3 { OccurrenceOutcome::Succeeded } else { OccurrenceOutcome::Failed };
        outcomes.extend(finish(&mut state, outcome, now).iter().map(event_text));
    }
    assert_eq!(outcomes.len(), 9, "eight ends and a pause: {outcomes:?}");
    assert_eq!(outcomes.last().map(String::as_str), Some("paused Failures"));
    assert_eq!((state.paused(), state.next_wake()), (Some(PauseCause::Failures), None));
    state.evolve(&ScheduleChange::Resumed { at: at("2027-01-20T09:00Z") });
    assert_eq!(state.failures(), 0);
    assert_eq!(
        state.next_wake().map(show).as_deref(),
        Some("2027-01-21T08:00Z"),
        "a pause makes nothing missed"
    );
}

#[test]
fn a_pause_skips_what_waits_and_leaves_what_runs() {
    let mut state = daily(MissedRule::Skip, OverlapRule::Queue);
    step(&mut state, at("2027-01-01T08:00Z"));
    step(&mut state, at("2027-01-02T08:00Z"));
    let events = state.decide_pause(PauseCause::Person, at("2027-01-02T09:00Z"));
    assert_eq!(
        events.iter().map(event_text).collect::<Vec<_>>(),
        ["skipped 2027-01-02T08:00Z Paused", "paused Person"]
    );
    assert_eq!(state.running(), Some(at("2027-01-01T08:00Z")));
}

#[test]
fn a_clock_that_is_set_back_a_day_repeats_nothing() {
    let mut state = daily(MissedRule::CatchUp { count_max: 3 }, OverlapRule::Forbid);
    step(&mut state, at("2027-01-02T08:00Z"));
    finish(&mut state, OccurrenceOutcome::Succeeded, at("2027-01-02T08:01Z"));
    step(&mut state, at("2027-01-02T08:01Z"));
    while state.running().is_some() {
        finish(&mut state, OccurrenceOutcome::Succeeded, at("2027-01-02T08:02Z"));
        step(&mut state, at("2027-01-02T08:02Z"));
    }
    for now in ["2027-01-01T07:00Z", "2027-01-01T08:00Z", "2027-01-02T08:00Z"] {
        assert_eq!(state.decide(at(now), Ok(())), ScheduleDecision::default());
    }
    assert_eq!(state.next_wake().map(show).as_deref(), Some("2027-01-03T08:00Z"));
}

#[test]
fn a_clock_that_is_set_forth_a_day_is_a_day_of_missed_occurrences() {
    let hourly = |missed| {
        created(cron("0 * * * *", "UTC"), rules(missed, OverlapRule::Forbid), at("2027-01-01T00:30Z"))
    };
    let mut state = hourly(MissedRule::RunOnce);
    let decision = step(&mut state, at("2027-01-02T00:30Z"));
    let skipped =
        text(&decision).iter().filter(|line| line.ends_with("Missed") && line.starts_with("skipped")).count();
    assert_eq!((skipped, decision.effects.len()), (23, 1));
    assert_eq!(decision.effects, [ScheduleEffect::Start { planned: at("2027-01-02T00:00Z") }]);
}

#[test]
fn a_clock_that_was_years_behind_makes_few_entries() {
    let mut state = created(
        cron("* * * * *", "UTC"),
        rules(MissedRule::Skip, OverlapRule::Forbid),
        at("1970-01-01T00:00Z"),
    );
    let decision = step(&mut state, at("2027-01-01T00:00:30Z"));
    let lines = text(&decision);
    assert_eq!(lines[0], "skipped 1970-01-01T00:01Z to 2026-12-01T00:00:30Z count None");
    let counted = 31 * 24 * 60 - SKIPPED_ENTRIES_MAX - 1;
    assert_eq!(lines[1], format!("skipped 2026-12-01T00:01Z to 2026-12-31T22:19Z count Some({counted})"));
    assert_eq!(decision.events.len(), 2 + SKIPPED_ENTRIES_MAX + 2);
    assert_eq!(decision.effects, [ScheduleEffect::Start { planned: at("2027-01-01T00:00Z") }]);
}

#[test]
fn a_random_delay_moves_the_start_but_not_the_name_of_an_occurrence() {
    let mut with_delay = rules(MissedRule::Skip, OverlapRule::Forbid);
    with_delay.jitter_seconds = 3_000;
    let mut state = created(cron("0 8 * * *", "UTC"), with_delay, at("2027-01-01T00:00Z"));
    let planned = at("2027-01-01T08:00Z");
    let due = due_at(&with_delay, ScheduleId::from_parts(1, crate::fixture::SCHEDULE), planned);
    assert!(due > planned && state.next_wake() == Some(due));
    assert!(state.decide(Timestamp(due.0 - 1), Ok(())).events.is_empty());
    assert_eq!(step(&mut state, due).effects, [ScheduleEffect::Start { planned }]);
}

#[test]
fn a_start_by_hand_is_an_occurrence_of_its_own_and_leaves_the_planned_ones() {
    let mut state = daily(MissedRule::Skip, OverlapRule::Forbid);
    let now = at("2027-01-01T07:00Z");
    let decision = state.decide_start_now(now, Ok(())).unwrap();
    let named = Timestamp(now.0 + 1);
    assert_eq!(decision.effects, [ScheduleEffect::Start { planned: named }]);
    for event in &decision.events {
        state.evolve(event);
    }
    assert_eq!(state.decide_start_now(now, Ok(())), Err(StartRefusal::Busy));
    finish(&mut state, OccurrenceOutcome::Succeeded, now);
    let refused = Err(OccurrenceRefusal::PromptChanged);
    assert_eq!(
        state.decide_start_now(now, refused),
        Err(StartRefusal::Refused(OccurrenceRefusal::PromptChanged))
    );
    assert_eq!(step(&mut state, at("2027-01-01T08:00Z")).effects.len(), 1, "the planned one runs too");
}

fn at_odd_hour(time: Timestamp) -> bool {
    time.0 / 3_600_000_000 % 2 == 1
}

/// Two days of an hourly schedule with a long down time and runs that overlap; a crash cuts the journal
/// after so many events, and the daemon goes on from there.
fn journal_with_crash(rules: ScheduleRules, crash_after: usize) -> Vec<ScheduleChange> {
    let first = created(cron("0 * * * *", "Europe/Prague"), rules, at("2027-10-30T20:30Z"));
    let mut state = first.clone();
    let mut journal: Vec<ScheduleChange> = Vec::new();
    let mut has_crashed = false;
    let mut minute = 0;
    while minute < 2 * 24 * 60 {
        let now = at("2027-10-30T20:30Z").after(std::time::Duration::from_mins(minute));
        let is_down = (300..900).contains(&minute);
        // Each second run takes longer than an hour.
        let ended = state.running().filter(|planned| {
            let minutes = if at_odd_hour(*planned) { 80 } else { 40 };
            now.since(*planned).as_secs() >= minutes * 60
        });
        let finish = |planned| state.decide_finish(planned, OccurrenceOutcome::Succeeded, now);
        let mut events = ended.map_or_else(Vec::new, finish);
        if is_down {
            events.clear();
        } else if events.is_empty() {
            events = state.decide(now, Ok(())).events;
        }
        if !has_crashed && journal.len() + events.len() > crash_after {
            has_crashed = true;
            journal.extend(events.into_iter().take(crash_after - journal.len()));
            state = first.clone();
            for event in &journal {
                state.evolve(event);
            }
            continue;
        }
        minute += if events.is_empty() { 10 } else { 0 };
        for event in &events {
            state.evolve(event);
        }
        journal.extend(events);
    }
    journal
}

#[test]
fn a_crash_after_any_event_leads_to_the_same_occurrences() {
    for missed in [MissedRule::Skip, MissedRule::RunOnce, MissedRule::CatchUp { count_max: 3 }] {
        for overlap in [OverlapRule::Forbid, OverlapRule::Queue, OverlapRule::Replace] {
            let whole = journal_with_crash(rules(missed, overlap), usize::MAX);
            assert!(whole.len() > 60, "{missed:?} {overlap:?} has {} events", whole.len());
            for crash_after in 0..whole.len() {
                let cut = journal_with_crash(rules(missed, overlap), crash_after);
                let difference = cut.iter().zip(&whole).position(|(cut, whole)| cut != whole);
                assert_eq!(
                    (difference, cut.len()),
                    (None, whole.len()),
                    "{missed:?} {overlap:?} {crash_after}"
                );
            }
        }
    }
}

fn any_rules() -> impl Strategy<Value = ScheduleRules> {
    let missed = prop_oneof![
        Just(MissedRule::Skip),
        Just(MissedRule::RunOnce),
        (1..=10_u8).prop_map(|count_max| MissedRule::CatchUp { count_max })
    ];
    let overlap =
        proptest::sample::select(vec![OverlapRule::Forbid, OverlapRule::Queue, OverlapRule::Replace]);
    (missed, overlap, 0..50_u32).prop_map(|(missed, overlap, jitter_seconds)| ScheduleRules {
        missed,
        overlap,
        jitter_seconds,
    })
}

/// What may happen to a schedule between two decisions.
#[derive(Debug, Clone)]
enum Happening {
    Wait(i64),
    SetClock(i64),
    Finish(OccurrenceOutcome),
    Pause,
    Resume,
    CrashAfter(usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    let outcome = proptest::sample::select(vec![
        OccurrenceOutcome::Succeeded,
        OccurrenceOutcome::Failed,
        OccurrenceOutcome::Cancelled,
        OccurrenceOutcome::Replaced,
    ]);
    prop_oneof![
        6 => (1..7_200_i64).prop_map(Happening::Wait),
        1 => (-100_000..100_000_i64).prop_map(Happening::SetClock),
        5 => outcome.prop_map(Happening::Finish),
        1 => Just(Happening::Pause),
        2 => Just(Happening::Resume),
        3 => (0..4_usize).prop_map(Happening::CrashAfter),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The journal is a list of events; a crash keeps any prefix of an append and the state is folded from it again.
    #[test]
    fn each_instant_becomes_at_most_one_occurrence_whatever_clocks_and_crashes_do(
        rules in any_rules(),
        every in prop_oneof![Just(None), (1..200_u32).prop_map(Some)],
        happenings in proptest::collection::vec(happening(), 1..60),
    ) {
        let start = at("2027-03-27T20:00Z");
        let spec = match every {
            Some(minutes) => ScheduleSpec::Every { minutes, anchor: start },
            None => cron("*/10 * * * *", "Europe/Prague"),
        };
        let first = created(spec, rules, start);
        let mut state = first.clone();
        let mut journal: Vec<ScheduleChange> = Vec::new();
        let mut now = start;
        for happening in happenings {
            let events = match happening {
                Happening::Wait(seconds) | Happening::SetClock(seconds) => {
                    now = Timestamp(now.0 + seconds * 1_000_000);
                    state.decide(now, Ok(())).events
                }
                Happening::Finish(outcome) => {
                    state.running().map_or_else(Vec::new, |planned| state.decide_finish(planned, outcome, now))
                }
                Happening::Pause => state.decide_pause(PauseCause::Person, now),
                Happening::Resume => vec![ScheduleChange::Resumed { at: now }],
                Happening::CrashAfter(kept) => {
                    let events = state.decide(now, Ok(())).events;
                    journal.extend(events.into_iter().take(kept));
                    state = first.clone();
                    for event in &journal {
                        state.evolve(event);
                    }
                    let restored = ScheduleState::restored(state.id, zones(), &state.snapshot());
                    prop_assert_eq!(restored.snapshot(), state.snapshot());
                    prop_assert_eq!(restored.next_wake(), state.next_wake());
                    prop_assert_eq!(restored.decide(now, Ok(())), state.decide(now, Ok(())));
                    Vec::new()
                }
            };
            for event in &events {
                state.evolve(event);
            }
            journal.extend(events);
            prop_assert!(state.waiting().count() <= WAITING_MAX);
        }
        let mut names = std::collections::BTreeSet::new();
        let mut latest = start;
        let mut running = None;
        for event in &journal {
            match event {
                ScheduleChange::OccurrenceCreated { planned, .. } => {
                    prop_assert!(names.insert(*planned) && *planned > latest, "{} twice or back", show(*planned));
                    latest = *planned;
                }
                ScheduleChange::OccurrenceStarted { planned, .. } => {
                    prop_assert!(names.contains(planned) && running.replace(*planned).is_none(), "two at once");
                }
                ScheduleChange::OccurrenceFinished { .. } => running = None,
                ScheduleChange::Created { .. }
                | ScheduleChange::Edited { .. }
                | ScheduleChange::Paused { .. }
                | ScheduleChange::Resumed { .. }
                | ScheduleChange::Removed { .. }
                | ScheduleChange::CancelRequested { .. }
                | ScheduleChange::OccurrenceSkipped { .. }
                | ScheduleChange::OccurrencesSkipped { .. } => {}
            }
        }
    }
}
