//! Compares a year of occurrences with the table that `table/make_table.py` calculated minute by minute.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZoneDatabase;
use palyra_schedule::{
    MissedRule, OccurrenceOutcome, OverlapRule, ScheduleAction, ScheduleChange, ScheduleDefinition,
    ScheduleEffect, ScheduleProvenance, ScheduleRules, ScheduleSpec, ScheduleState, SkipReason,
};
use palyra_types::digest::ContentDigest;
use palyra_types::tool::Taints;
use palyra_types::{PrincipalId, ScheduleId, Timestamp};

const TABLE: &str = include_str!("table/year.txt");
const MINUTE_MICROS: i64 = 60_000_000;
/// 2027-01-01T00:00Z in minutes since 1970.
const START_MINUTE: i64 = 1_798_761_600 / 60;
const YEAR_MINUTES: i64 = 365 * 24 * 60;

fn time(minute: i64) -> Timestamp {
    Timestamp((START_MINUTE + minute) * MINUTE_MICROS)
}

fn minute(time: Timestamp) -> i64 {
    time.0 / MINUTE_MICROS - START_MINUTE
}

/// A `plan` line of the table.
struct PlannedSchedule {
    name: String,
    zone: String,
    spec: ScheduleSpec,
    duration: i64,
    minutes: Vec<i64>,
}

/// Expands `X*3` and `(X Y)*3`.
fn expand(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (items, tail) = if let Some(group) = rest.strip_prefix('(') {
            let (inside, tail) = group.split_once(')').unwrap();
            (expand(inside), tail)
        } else {
            let end = rest.find([' ', '*']).unwrap_or(rest.len());
            let (item, tail) = rest.split_at(end);
            (vec![item.to_owned()], tail)
        };
        let (count, tail) = match tail.strip_prefix('*') {
            Some(tail) => {
                let end = tail.find(' ').unwrap_or(tail.len());
                (tail[..end].parse().unwrap(), &tail[end..])
            }
            None => (1, tail),
        };
        for _ in 0..count {
            out.extend(items.iter().cloned());
        }
        rest = tail.trim_start();
    }
    out
}

fn read_spec(text: &str, zone: &str) -> ScheduleSpec {
    let (kind, rest) = text.split_once(' ').unwrap();
    match kind {
        "cron" => ScheduleSpec::Cron { line: rest.to_owned(), zone: zone.to_owned() },
        "at" => ScheduleSpec::At { local: rest.to_owned(), zone: zone.to_owned() },
        "every" => {
            let (minutes, anchor) = rest.split_once(" from ").unwrap();
            ScheduleSpec::Every { minutes: minutes.parse().unwrap(), anchor: time(anchor.parse().unwrap()) }
        }
        other => panic!("unknown specification {other}"),
    }
}

fn read_plan(line: &str) -> PlannedSchedule {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let mut at = 0;
    let minutes = expand(parts[4])
        .iter()
        .map(|step| {
            at += step.parse::<i64>().unwrap();
            at
        })
        .collect();
    PlannedSchedule {
        name: parts[0].to_owned(),
        zone: parts[1].to_owned(),
        spec: read_spec(parts[2], parts[1]),
        duration: parts[3].parse().unwrap(),
        minutes,
    }
}

fn read_down(line: &str) -> (String, Vec<(i64, i64)>) {
    let mut words = line.split(' ');
    let zone = words.next().unwrap().to_owned();
    let spans = words
        .map(|span| span.split_once('-').unwrap())
        .map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
    (zone, spans.collect())
}

fn read_rules(overlap: &str, missed: &str) -> ScheduleRules {
    ScheduleRules {
        missed: match missed {
            "skip" => MissedRule::Skip,
            "run_once" => MissedRule::RunOnce,
            "catch_up" => MissedRule::CatchUp { count_max: 3 },
            other => panic!("unknown missed rule {other}"),
        },
        overlap: match overlap {
            "forbid" => OverlapRule::Forbid,
            "queue" => OverlapRule::Queue,
            "replace" => OverlapRule::Replace,
            other => panic!("unknown overlap rule {other}"),
        },
        jitter_seconds: 0,
    }
}

/// The daemon around one schedule: it wakes when the schedule says so, when a run ends and when it is started again.
struct Shell<'a> {
    state: ScheduleState,
    duration: i64,
    down: &'a [(i64, i64)],
    ends_at: Option<i64>,
    outcomes: BTreeMap<i64, String>,
}

impl Shell<'_> {
    fn apply(&mut self, now: i64, event: &ScheduleChange) {
        self.state.evolve(event);
        let (planned, outcome) = match event {
            ScheduleChange::OccurrenceCreated { planned, .. } => (*planned, "w".to_owned()),
            ScheduleChange::OccurrenceStarted { planned, .. } => {
                self.ends_at = Some(now + self.duration);
                let late = now - minute(*planned);
                (*planned, if late == 0 { "r".to_owned() } else { format!("r{late}") })
            }
            ScheduleChange::OccurrenceFinished { planned, outcome: OccurrenceOutcome::Replaced } => {
                (*planned, format!("{}x", self.outcomes[&minute(*planned)]))
            }
            ScheduleChange::OccurrenceSkipped { planned, reason } => {
                let sign = match reason {
                    SkipReason::Missed => "m",
                    SkipReason::Overlap => "o",
                    SkipReason::LineFull => "f",
                    SkipReason::Replaced => "p",
                    other => panic!("{other:?} is not in the table"),
                };
                (*planned, sign.to_owned())
            }
            ScheduleChange::OccurrencesSkipped { first, last, count } => {
                let times: Vec<_> = self
                    .state
                    .preview(Timestamp(first.0 - 1))
                    .take_while(|planned| planned <= last)
                    .collect();
                assert_eq!(Some(times.len()), count.map(|count| count as usize));
                self.outcomes.extend(times.into_iter().map(|planned| (minute(planned), "m".to_owned())));
                return;
            }
            _ => return,
        };
        self.outcomes.insert(minute(planned), outcome);
    }

    fn finish(&mut self, now: i64, planned: Timestamp, outcome: OccurrenceOutcome) {
        self.ends_at = None;
        for event in self.state.decide_finish(planned, outcome, time(now)) {
            self.apply(now, &event);
        }
    }

    fn decide(&mut self, now: i64) {
        loop {
            let decision = self.state.decide(time(now), Ok(()));
            for event in &decision.events {
                self.apply(now, event);
            }
            let mut is_settled = true;
            for effect in decision.effects {
                if let ScheduleEffect::Cancel { planned } = effect {
                    self.finish(now, planned, OccurrenceOutcome::Replaced);
                    is_settled = false;
                }
            }
            if is_settled {
                return;
            }
        }
    }

    /// Returns the time of the restart for a time at which the daemon is down.
    fn when_up(&self, wanted: i64) -> i64 {
        let index = self.down.partition_point(|(_, end)| *end <= wanted);
        match self.down.get(index) {
            Some((first, end)) if *first <= wanted => *end,
            _ => wanted,
        }
    }

    fn run(&mut self) -> u64 {
        let mut wakes = 0;
        let mut now = 0;
        loop {
            let due = self.state.next_wake().map(minute);
            let Some(next) = [due, self.ends_at].into_iter().flatten().min() else { return wakes };
            now = self.when_up(next.max(now));
            if now >= YEAR_MINUTES {
                return wakes;
            }
            wakes += 1;
            if let (Some(end), Some(planned)) = (self.ends_at, self.state.running())
                && end <= now
            {
                self.finish(now, planned, OccurrenceOutcome::Succeeded);
            }
            self.decide(now);
        }
    }
}

fn created(plan: &PlannedSchedule, rules: ScheduleRules) -> ScheduleState {
    let mut state = ScheduleState::new(ScheduleId::from_parts(1, 1), TimeZoneDatabase::bundled());
    let definition = ScheduleDefinition {
        spec: plan.spec.clone(),
        rules,
        action: ScheduleAction::Reminder { text: ContentDigest::default() },
        provenance: ScheduleProvenance {
            creator: PrincipalId::from_parts(1, 1),
            made_by_run: None,
            taints: Taints::NONE,
            edited_by_person: false,
        },
    };
    state.evolve(&ScheduleChange::Created { definition: Box::new(definition), at: time(0) });
    state
}

fn check_planned(plan: &PlannedSchedule) {
    let state = created(plan, read_rules("forbid", "skip"));
    let planned: Vec<i64> =
        state.preview(time(0)).map(minute).take_while(|minute| *minute < YEAR_MINUTES).collect();
    let first = planned.iter().zip(&plan.minutes).position(|(made, expected)| made != expected);
    assert_eq!(planned.len(), plan.minutes.len(), "{}: the first difference is at {first:?}", plan.name);
    assert_eq!(first, None, "{}: {:?} and {:?}", plan.name, &planned[first.unwrap_or(0)..], plan.minutes);
}

fn check_runs(plan: &PlannedSchedule, down: &[(i64, i64)], parts: &[&str]) {
    let state = created(plan, read_rules(parts[1], parts[2]));
    let mut shell = Shell { state, duration: plan.duration, down, ends_at: None, outcomes: BTreeMap::new() };
    let wakes = shell.run();
    // A wake-up is for a planned instant, the end of a run, or a restart.
    assert!(
        wakes <= 2 * plan.minutes.len() as u64 + down.len() as u64,
        "{} woke up {wakes} times",
        plan.name
    );
    let expected = expand(parts[3]);
    assert_eq!(expected.len(), plan.minutes.len(), "{}", plan.name);
    let planned: BTreeSet<i64> = plan.minutes.iter().copied().collect();
    assert!(
        shell.outcomes.keys().all(|minute| planned.contains(minute)),
        "{}: an occurrence without a plan",
        plan.name
    );
    for (at, outcome) in plan.minutes.iter().zip(&expected) {
        let made = shell.outcomes.get(at).map_or("none", String::as_str);
        assert_eq!(made, outcome, "{} {} {} at minute {at}", plan.name, parts[1], parts[2]);
    }
}

fn check_zone(zone: &str) -> (usize, usize) {
    let mut down = Vec::new();
    let mut plan = None;
    let mut counts = (0, 0);
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ').unwrap();
        match kind {
            "down" => {
                let (name, spans) = read_down(rest);
                if name == zone {
                    down = spans;
                }
            }
            "plan" => {
                let read = read_plan(rest);
                plan = (read.zone == zone).then_some(read);
                if let Some(plan) = &plan {
                    check_planned(plan);
                    counts.0 += 1;
                }
            }
            "runs" => {
                let Some(plan) = &plan else { continue };
                let parts: Vec<&str> = rest.split('|').map(str::trim).collect();
                check_runs(plan, &down, &parts);
                counts.1 += 1;
            }
            other => panic!("unknown line {other}"),
        }
    }
    counts
}

#[test]
fn new_york_has_the_occurrences_of_the_table() {
    assert_eq!(check_zone("America/New_York"), (26, 26 * 9));
}

#[test]
fn sydney_has_the_occurrences_of_the_table() {
    assert_eq!(check_zone("Australia/Sydney"), (24, 24 * 9));
}

#[test]
fn lord_howe_with_its_half_hour_has_the_occurrences_of_the_table() {
    assert_eq!(check_zone("Australia/Lord_Howe"), (26, 26 * 9));
}

#[test]
fn santiago_with_its_gap_at_midnight_has_the_occurrences_of_the_table() {
    assert_eq!(check_zone("America/Santiago"), (24, 24 * 9));
}

#[test]
fn kolkata_without_changes_of_the_clock_has_the_occurrences_of_the_table() {
    assert_eq!(check_zone("Asia/Kolkata"), (3, 3 * 9));
}
