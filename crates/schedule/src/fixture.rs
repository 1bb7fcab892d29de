//! Definitions and times for tests.

use jiff::tz::TimeZoneDatabase;
use palyra_types::digest::ContentDigest;
use palyra_types::tool::Taints;
use palyra_types::{PrincipalId, ScheduleId, Timestamp};

use crate::decision::{ScheduleDecision, ScheduleEffect};
use crate::definition::{ScheduleAction, ScheduleDefinition, ScheduleProvenance};
use crate::event::{OccurrenceOutcome, ScheduleChange};
use crate::rules::{MissedRule, OverlapRule, ScheduleRules};
use crate::spec::ScheduleSpec;
use crate::state::ScheduleState;

pub(crate) const SCHEDULE: u128 = 7;

pub(crate) fn zones() -> TimeZoneDatabase {
    TimeZoneDatabase::bundled()
}

/// Reads a time like `2027-03-14T06:30Z`.
pub(crate) fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}

pub(crate) fn show(time: Timestamp) -> String {
    let text = jiff::Timestamp::from_microsecond(time.0).unwrap().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    text.replace(":00Z", "Z")
}

pub(crate) fn cron(line: &str, zone: &str) -> ScheduleSpec {
    ScheduleSpec::Cron { line: line.to_owned(), zone: zone.to_owned() }
}

pub(crate) fn rules(missed: MissedRule, overlap: OverlapRule) -> ScheduleRules {
    ScheduleRules { missed, overlap, jitter_seconds: 0 }
}

pub(crate) fn definition(spec: ScheduleSpec, rules: ScheduleRules) -> ScheduleDefinition {
    ScheduleDefinition {
        spec,
        rules,
        action: ScheduleAction::Reminder { text: ContentDigest([1; 32]) },
        provenance: ScheduleProvenance {
            creator: PrincipalId::from_parts(1, 1),
            made_by_run: None,
            taints: Taints::NONE,
            edited_by_person: false,
        },
    }
}

pub(crate) fn created(spec: ScheduleSpec, rules: ScheduleRules, now: Timestamp) -> ScheduleState {
    let mut state = ScheduleState::new(ScheduleId::from_parts(1, SCHEDULE), zones());
    state.evolve(&ScheduleChange::Created { definition: Box::new(definition(spec, rules)), at: now });
    state
}

/// Decides and applies the events.
pub(crate) fn step(state: &mut ScheduleState, now: Timestamp) -> ScheduleDecision {
    let decision = state.decide(now, Ok(()));
    for event in &decision.events {
        state.evolve(event);
    }
    decision
}

/// Ends the running occurrence.
pub(crate) fn finish(
    state: &mut ScheduleState,
    outcome: OccurrenceOutcome,
    now: Timestamp,
) -> Vec<ScheduleChange> {
    let events = state.decide_finish(state.running().unwrap(), outcome, now);
    for event in &events {
        state.evolve(event);
    }
    events
}

/// Shows a decision in one line for each event and effect.
pub(crate) fn text(decision: &ScheduleDecision) -> Vec<String> {
    let events = decision.events.iter().map(event_text);
    let effects = decision.effects.iter().map(|effect| match effect {
        ScheduleEffect::Start { planned } => format!("-> start {}", show(*planned)),
        ScheduleEffect::Cancel { planned } => format!("-> cancel {}", show(*planned)),
    });
    events.chain(effects).collect()
}

pub(crate) fn event_text(event: &ScheduleChange) -> String {
    match event {
        ScheduleChange::OccurrenceCreated { planned, cause } => {
            format!("created {} {cause:?}", show(*planned))
        }
        ScheduleChange::OccurrenceStarted { planned, .. } => format!("started {}", show(*planned)),
        ScheduleChange::CancelRequested { planned } => format!("cancel {}", show(*planned)),
        ScheduleChange::OccurrenceFinished { planned, outcome } => {
            format!("finished {} {outcome:?}", show(*planned))
        }
        ScheduleChange::OccurrenceSkipped { planned, reason } => {
            format!("skipped {} {reason:?}", show(*planned))
        }
        ScheduleChange::OccurrencesSkipped { first, last, count } => {
            format!("skipped {} to {} count {count:?}", show(*first), show(*last))
        }
        ScheduleChange::Paused { cause, .. } => format!("paused {cause:?}"),
        ScheduleChange::Created { .. }
        | ScheduleChange::Edited { .. }
        | ScheduleChange::Resumed { .. }
        | ScheduleChange::Removed { .. } => format!("{event:?}"),
    }
}
