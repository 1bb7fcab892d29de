//! Between what is recorded of schedules and what decides about them.
//!
//! Owns the conversion. An erased text is empty: such a specification cannot be read, so the schedule is never due.

use palyra_types::ScheduleId;
use palyra_types::digest::ContentDigest;
use palyra_types::schedule::{OccurrenceFinished, SavedAction, SavedTimes, ScheduleEvent, ScheduleSaved};
use sha2::{Digest, Sha256};

use crate::definition::{ApprovedRun, ScheduleAction, ScheduleDefinition};
use crate::event::ScheduleChange;
use crate::spec::ScheduleSpec;

/// Returns the digest by which what is there now is compared with what was approved.
#[must_use]
pub fn digest_of(bytes: impl AsRef<[u8]>) -> ContentDigest {
    ContentDigest(Sha256::digest(bytes).into())
}

/// Returns the specification that was saved.
#[must_use]
pub fn spec_of(times: &SavedTimes) -> ScheduleSpec {
    match times {
        SavedTimes::Cron { line, zone } => {
            ScheduleSpec::Cron { line: line.expose().clone(), zone: zone.expose().clone() }
        }
        SavedTimes::Every { minutes, anchor } => ScheduleSpec::Every { minutes: *minutes, anchor: *anchor },
        SavedTimes::At { local, zone } => {
            ScheduleSpec::At { local: local.expose().clone(), zone: zone.expose().clone() }
        }
    }
}

/// Returns what a person approved.
#[must_use]
pub fn definition_of(saved: &ScheduleSaved) -> ScheduleDefinition {
    let text = digest_of(saved.text.expose());
    let action = match saved.action {
        SavedAction::Reminder => ScheduleAction::Reminder { text },
        SavedAction::Run(run) => ScheduleAction::Run(ApprovedRun {
            agent: run.agent,
            agent_profile: run.agent_profile,
            prompt: text,
            target: run.target,
        }),
    };
    ScheduleDefinition {
        spec: spec_of(&saved.times),
        rules: saved.rules,
        action,
        provenance: saved.provenance.clone(),
    }
}

/// Returns the change of one schedule that was recorded; `None` for a pause of many.
#[must_use]
pub fn change_of(event: &ScheduleEvent) -> Option<ScheduleChange> {
    Some(match event {
        ScheduleEvent::Created(saved) => {
            ScheduleChange::Created { definition: Box::new(definition_of(saved)), at: saved.at }
        }
        ScheduleEvent::Edited(saved) => {
            ScheduleChange::Edited { definition: Box::new(definition_of(saved)), at: saved.at }
        }
        ScheduleEvent::Paused { cause, at, .. } => ScheduleChange::Paused { cause: *cause, at: *at },
        ScheduleEvent::Resumed { at, .. } => ScheduleChange::Resumed { at: *at },
        ScheduleEvent::Removed { at, .. } => ScheduleChange::Removed { at: *at },
        ScheduleEvent::OccurrenceCreated { planned, cause, .. } => {
            ScheduleChange::OccurrenceCreated { planned: *planned, cause: *cause }
        }
        ScheduleEvent::OccurrenceStarted { planned, at, .. } => {
            ScheduleChange::OccurrenceStarted { planned: *planned, at: *at }
        }
        ScheduleEvent::OccurrenceCancelRequested { planned, .. } => {
            ScheduleChange::CancelRequested { planned: *planned }
        }
        ScheduleEvent::OccurrenceFinished(finished) => {
            ScheduleChange::OccurrenceFinished { planned: finished.planned, outcome: finished.outcome }
        }
        ScheduleEvent::OccurrenceSkipped { planned, reason, .. } => {
            ScheduleChange::OccurrenceSkipped { planned: *planned, reason: *reason }
        }
        ScheduleEvent::OccurrencesSkipped { first, last, count, .. } => {
            ScheduleChange::OccurrencesSkipped { first: *first, last: *last, count: *count }
        }
        ScheduleEvent::ManyPaused { .. } | ScheduleEvent::ManyResumed { .. } => return None,
    })
}

/// Returns how a change is recorded; `None` for one that saves texts, which the caller adds. The end of an occurrence names no run.
#[must_use]
pub fn recorded(schedule: ScheduleId, change: &ScheduleChange) -> Option<ScheduleEvent> {
    Some(match change {
        ScheduleChange::Created { .. } | ScheduleChange::Edited { .. } => return None,
        ScheduleChange::Paused { cause, at } => ScheduleEvent::Paused { schedule, cause: *cause, at: *at },
        ScheduleChange::Resumed { at } => ScheduleEvent::Resumed { schedule, at: *at },
        ScheduleChange::Removed { at } => ScheduleEvent::Removed { schedule, at: *at },
        ScheduleChange::OccurrenceCreated { planned, cause } => {
            ScheduleEvent::OccurrenceCreated { schedule, planned: *planned, cause: *cause }
        }
        ScheduleChange::OccurrenceStarted { planned, at } => {
            ScheduleEvent::OccurrenceStarted { schedule, planned: *planned, at: *at }
        }
        ScheduleChange::CancelRequested { planned } => {
            ScheduleEvent::OccurrenceCancelRequested { schedule, planned: *planned }
        }
        ScheduleChange::OccurrenceFinished { planned, outcome } => {
            ScheduleEvent::OccurrenceFinished(OccurrenceFinished {
                schedule,
                planned: *planned,
                outcome: *outcome,
                run: None,
                explanation: "".into(),
            })
        }
        ScheduleChange::OccurrenceSkipped { planned, reason } => {
            ScheduleEvent::OccurrenceSkipped { schedule, planned: *planned, reason: *reason }
        }
        ScheduleChange::OccurrencesSkipped { first, last, count } => {
            ScheduleEvent::OccurrencesSkipped { schedule, first: *first, last: *last, count: *count }
        }
    })
}
