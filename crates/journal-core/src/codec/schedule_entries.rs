//! Stored forms of entries about schedules and their occurrences.

use palyra_types::digest::ContentDigest;
use palyra_types::event::JournalEvent;
use palyra_types::schedule::{
    MissedRule, OccurrenceFinished, OccurrenceRefusal, PauseScope, SavedAction, SavedRun, SavedTimes,
    ScheduleEvent, ScheduleProvenance, ScheduleRules, ScheduleSaved, SkipReason,
};
use palyra_types::tool::Taints;
use palyra_types::{AgentId, PrincipalId, Redacted, RunId, ScheduleId, Timestamp};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed, fixed_or_zero, pair, unless_zero,
};
use super::stored_enums::StoredEnum;

pub(super) fn encode(event: &ScheduleEvent) -> EncodedParts {
    match event {
        ScheduleEvent::Created(saved) | ScheduleEvent::Edited(saved) => encode_saved(saved),
        ScheduleEvent::Paused { schedule, cause, at } => facts_only(&store::SchedulePausedFacts {
            version: VERSION,
            schedule: schedule.to_bytes().to_vec(),
            cause: cause.to_stored(),
            at: at.0,
        }),
        ScheduleEvent::Resumed { schedule, at } | ScheduleEvent::Removed { schedule, at } => {
            facts_only(&store::ScheduleNamedFacts {
                version: VERSION,
                schedule: schedule.to_bytes().to_vec(),
                at: at.0,
            })
        }
        ScheduleEvent::ManyPaused { scope, at } | ScheduleEvent::ManyResumed { scope, at } => {
            let principal = match scope {
                PauseScope::Principal(principal) => principal.to_bytes().to_vec(),
                PauseScope::Everyone => Vec::new(),
            };
            facts_only(&store::SchedulesPausedFacts { version: VERSION, principal, at: at.0 })
        }
        ScheduleEvent::OccurrenceFinished(finished) => encode_finished(finished),
        ScheduleEvent::OccurrenceCreated { schedule, planned, cause } => {
            facts_only(&store::OccurrenceCreatedFacts {
                version: VERSION,
                schedule: schedule.to_bytes().to_vec(),
                planned: planned.0,
                cause: cause.to_stored(),
            })
        }
        ScheduleEvent::OccurrenceStarted { schedule, planned, at } => named(*schedule, *planned, at.0),
        ScheduleEvent::OccurrenceCancelRequested { schedule, planned } => named(*schedule, *planned, 0),
        ScheduleEvent::OccurrenceSkipped { schedule, planned, reason } => {
            facts_only(&store::OccurrenceSkippedFacts {
                version: VERSION,
                schedule: schedule.to_bytes().to_vec(),
                planned: planned.0,
                reason: reason.to_stored(),
            })
        }
        ScheduleEvent::OccurrencesSkipped { schedule, first, last, count } => {
            facts_only(&store::OccurrencesSkippedFacts {
                version: VERSION,
                schedule: schedule.to_bytes().to_vec(),
                first: first.0,
                last: last.0,
                count: *count,
            })
        }
    }
}

fn named(schedule: ScheduleId, planned: Timestamp, at: i64) -> EncodedParts {
    facts_only(&store::OccurrenceNamedFacts {
        version: VERSION,
        schedule: schedule.to_bytes().to_vec(),
        planned: planned.0,
        at,
    })
}

fn encode_saved(saved: &ScheduleSaved) -> EncodedParts {
    let ScheduleSaved { schedule, at, times, rules, action, provenance, name, text } = saved;
    let mut every_minutes = 0;
    let mut first = 0;
    let mut line = String::new();
    let mut zone = String::new();
    let times = match times {
        SavedTimes::Cron { line: cron, zone: cron_zone } => {
            line.clone_from(cron.expose());
            zone.clone_from(cron_zone.expose());
            store::ScheduleTimes::Cron
        }
        SavedTimes::Every { minutes, anchor } => {
            every_minutes = *minutes;
            first = anchor.0;
            store::ScheduleTimes::Every
        }
        SavedTimes::At { local, zone: local_zone } => {
            line.clone_from(local.expose());
            zone.clone_from(local_zone.expose());
            store::ScheduleTimes::At
        }
    };
    let (missed, catch_up_max) = match rules.missed {
        MissedRule::Skip => (store::ScheduleMissedRule::Skip, 0),
        MissedRule::RunOnce => (store::ScheduleMissedRule::RunOnce, 0),
        MissedRule::CatchUp { count_max } => (store::ScheduleMissedRule::CatchUp, count_max),
    };
    let run = match action {
        SavedAction::Reminder => None,
        SavedAction::Run(run) => Some(run),
    };
    let facts = store::ScheduleSavedFacts {
        version: VERSION,
        schedule: schedule.to_bytes().to_vec(),
        at: at.0,
        times: times.into(),
        every_minutes,
        anchor: first,
        missed: missed.into(),
        catch_up_max: catch_up_max.into(),
        overlap: rules.overlap.to_stored(),
        jitter_seconds: rules.jitter_seconds,
        agent: run.map_or_else(Vec::new, |run| run.agent.to_bytes().to_vec()),
        creator: provenance.creator.to_bytes().to_vec(),
        made_by_run: provenance.made_by_run.map_or_else(Vec::new, |run| run.to_bytes().to_vec()),
        taints: provenance.taints.0,
        edited_by_person: provenance.edited_by_person,
    };
    let payload = store::ScheduleSavedPayload {
        line,
        zone,
        name: name.expose().clone(),
        text: text.expose().clone(),
        agent_profile: run.map_or_else(Vec::new, |run| unless_zero(&run.agent_profile.0)),
        target: run.map_or_else(Vec::new, |run| unless_zero(&run.target.0)),
    };
    pair(&facts, &payload)
}

fn encode_finished(finished: &OccurrenceFinished) -> EncodedParts {
    let OccurrenceFinished { schedule, planned, outcome, run, explanation } = finished;
    pair(
        &store::OccurrenceFinishedFacts {
            version: VERSION,
            schedule: schedule.to_bytes().to_vec(),
            planned: planned.0,
            outcome: outcome.to_stored(),
            run: run.map_or_else(Vec::new, |run| run.to_bytes().to_vec()),
        },
        &store::OccurrenceFinishedPayload { explanation: explanation.expose().clone() },
    )
}

pub(super) fn decode_created(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    Ok(ScheduleEvent::Created(saved(facts, payload)?).into())
}

pub(super) fn decode_edited(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    Ok(ScheduleEvent::Edited(saved(facts, payload)?).into())
}

fn saved(facts: &[u8], payload: &[u8]) -> ReadResult<ScheduleSaved> {
    let facts = store::ScheduleSavedFacts::decode(facts)?;
    let payload = store::ScheduleSavedPayload::decode(payload)?;
    let line = Redacted::from_stored(payload.line);
    let zone = Redacted::from_stored(payload.zone);
    let times = match store::ScheduleTimes::try_from(facts.times).map_err(|_| UnreadableEvent::Newer)? {
        store::ScheduleTimes::Unspecified => return Err(UnreadableEvent::Malformed),
        store::ScheduleTimes::Cron => SavedTimes::Cron { line, zone },
        store::ScheduleTimes::Every => {
            SavedTimes::Every { minutes: facts.every_minutes, anchor: Timestamp(facts.anchor) }
        }
        store::ScheduleTimes::At => SavedTimes::At { local: line, zone },
    };
    let missed = match store::ScheduleMissedRule::try_from(facts.missed) {
        Ok(store::ScheduleMissedRule::Unspecified) => return Err(UnreadableEvent::Malformed),
        Ok(store::ScheduleMissedRule::Skip) => MissedRule::Skip,
        Ok(store::ScheduleMissedRule::RunOnce) => MissedRule::RunOnce,
        Ok(store::ScheduleMissedRule::CatchUp) => {
            let count_max = u8::try_from(facts.catch_up_max).map_err(|_| UnreadableEvent::Malformed)?;
            MissedRule::CatchUp { count_max }
        }
        Err(_) => return Err(UnreadableEvent::Newer),
    };
    let rules = ScheduleRules {
        missed,
        overlap: StoredEnum::from_stored(facts.overlap)?,
        jitter_seconds: facts.jitter_seconds,
    };
    let action = match facts.agent.as_slice() {
        [] => SavedAction::Reminder,
        agent => SavedAction::Run(SavedRun {
            agent: AgentId::from_bytes(fixed(agent)?),
            agent_profile: ContentDigest(fixed_or_zero(&payload.agent_profile)?),
            target: ContentDigest(fixed_or_zero(&payload.target)?),
        }),
    };
    let provenance = ScheduleProvenance {
        creator: PrincipalId::from_bytes(fixed(&facts.creator)?),
        made_by_run: run(&facts.made_by_run)?,
        taints: Taints(facts.taints),
        edited_by_person: facts.edited_by_person,
    };
    Ok(ScheduleSaved {
        schedule: id(&facts.schedule)?,
        at: Timestamp(facts.at),
        times,
        rules,
        action,
        provenance,
        name: Redacted::from_stored(payload.name),
        text: Redacted::from_stored(payload.text),
    })
}

pub(super) fn decode_paused(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SchedulePausedFacts::decode(facts)?;
    let cause = StoredEnum::from_stored(facts.cause)?;
    Ok(ScheduleEvent::Paused { schedule: id(&facts.schedule)?, cause, at: Timestamp(facts.at) }.into())
}

pub(super) fn decode_resumed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::ScheduleNamedFacts::decode(facts)?;
    Ok(ScheduleEvent::Resumed { schedule: id(&facts.schedule)?, at: Timestamp(facts.at) }.into())
}

pub(super) fn decode_removed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::ScheduleNamedFacts::decode(facts)?;
    Ok(ScheduleEvent::Removed { schedule: id(&facts.schedule)?, at: Timestamp(facts.at) }.into())
}

pub(super) fn decode_occurrence_created(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::OccurrenceCreatedFacts::decode(facts)?;
    let event = ScheduleEvent::OccurrenceCreated {
        schedule: id(&facts.schedule)?,
        planned: Timestamp(facts.planned),
        cause: StoredEnum::from_stored(facts.cause)?,
    };
    Ok(event.into())
}

pub(super) fn decode_occurrence_started(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::OccurrenceNamedFacts::decode(facts)?;
    let event = ScheduleEvent::OccurrenceStarted {
        schedule: id(&facts.schedule)?,
        planned: Timestamp(facts.planned),
        at: Timestamp(facts.at),
    };
    Ok(event.into())
}

pub(super) fn decode_cancel(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::OccurrenceNamedFacts::decode(facts)?;
    let schedule = id(&facts.schedule)?;
    Ok(ScheduleEvent::OccurrenceCancelRequested { schedule, planned: Timestamp(facts.planned) }.into())
}

pub(super) fn decode_finished(facts: &[u8], payload: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::OccurrenceFinishedFacts::decode(facts)?;
    let payload = store::OccurrenceFinishedPayload::decode(payload)?;
    let finished = OccurrenceFinished {
        schedule: id(&facts.schedule)?,
        planned: Timestamp(facts.planned),
        outcome: StoredEnum::from_stored(facts.outcome)?,
        run: run(&facts.run)?,
        explanation: Redacted::from_stored(payload.explanation),
    };
    Ok(ScheduleEvent::OccurrenceFinished(finished).into())
}

pub(super) fn decode_skipped(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::OccurrenceSkippedFacts::decode(facts)?;
    let event = ScheduleEvent::OccurrenceSkipped {
        schedule: id(&facts.schedule)?,
        planned: Timestamp(facts.planned),
        reason: StoredEnum::from_stored(facts.reason)?,
    };
    Ok(event.into())
}

pub(super) fn decode_many_skipped(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::OccurrencesSkippedFacts::decode(facts)?;
    let event = ScheduleEvent::OccurrencesSkipped {
        schedule: id(&facts.schedule)?,
        first: Timestamp(facts.first),
        last: Timestamp(facts.last),
        count: facts.count,
    };
    Ok(event.into())
}

pub(super) fn decode_many_paused(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SchedulesPausedFacts::decode(facts)?;
    Ok(ScheduleEvent::ManyPaused { scope: scope(&facts.principal)?, at: Timestamp(facts.at) }.into())
}

pub(super) fn decode_many_resumed(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::SchedulesPausedFacts::decode(facts)?;
    Ok(ScheduleEvent::ManyResumed { scope: scope(&facts.principal)?, at: Timestamp(facts.at) }.into())
}

fn scope(principal: &[u8]) -> ReadResult<PauseScope> {
    match principal {
        [] => Ok(PauseScope::Everyone),
        principal => Ok(PauseScope::Principal(PrincipalId::from_bytes(fixed(principal)?))),
    }
}

fn id(bytes: &[u8]) -> ReadResult<ScheduleId> {
    Ok(ScheduleId::from_bytes(fixed(bytes)?))
}

fn run(bytes: &[u8]) -> ReadResult<Option<RunId>> {
    match bytes {
        [] => Ok(None),
        bytes => Ok(Some(RunId::from_bytes(fixed(bytes)?))),
    }
}

const SKIP_REASONS: [(SkipReason, store::ScheduleSkipReason); 13] = {
    use OccurrenceRefusal as Refusal;
    use SkipReason as Reason;
    use store::ScheduleSkipReason as Stored;
    [
        (Reason::Missed, Stored::Missed),
        (Reason::Overlap, Stored::Overlap),
        (Reason::LineFull, Stored::LineFull),
        (Reason::Replaced, Stored::Replaced),
        (Reason::Paused, Stored::Paused),
        (Reason::Removed, Stored::Removed),
        (Reason::Edited, Stored::Edited),
        (Reason::Refused(Refusal::Creator), Stored::Creator),
        (Reason::Refused(Refusal::AgentGone), Stored::AgentGone),
        (Reason::Refused(Refusal::AgentChanged), Stored::AgentChanged),
        (Reason::Refused(Refusal::PromptChanged), Stored::PromptChanged),
        (Reason::Refused(Refusal::TargetChanged), Stored::TargetChanged),
        (Reason::Refused(Refusal::Policy), Stored::Policy),
    ]
};

impl StoredEnum for SkipReason {
    fn to_stored(self) -> i32 {
        let found = SKIP_REASONS.iter().find(|(reason, _)| *reason == self);
        found.map_or(0, |(_, stored)| *stored as i32)
    }

    fn from_stored(number: i32) -> ReadResult<Self> {
        let stored = store::ScheduleSkipReason::try_from(number).map_err(|_| UnreadableEvent::Newer)?;
        let found = SKIP_REASONS.iter().find(|(_, known)| *known == stored);
        found.map(|(reason, _)| *reason).ok_or(UnreadableEvent::Malformed)
    }
}

/// A stored number of a value in rows; zero for none.
pub(crate) fn row_number<T: StoredEnum>(value: Option<T>) -> u32 {
    value.map_or(0, |value| u32::try_from(value.to_stored()).unwrap_or(0))
}

/// Returns the value of a number in rows; `None` for one that no version writes.
pub(crate) fn from_row_number<T: StoredEnum>(number: u32) -> Option<Option<T>> {
    if number == 0 {
        return Some(None);
    }
    T::from_stored(i32::try_from(number).ok()?).ok().map(Some)
}
