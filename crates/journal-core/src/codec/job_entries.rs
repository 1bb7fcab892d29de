//! Stored forms of what becomes of jobs. All of it is facts: a job has no content.

use palyra_types::event::JournalEvent;
use palyra_types::job::{JobEnd, JobEvent, JobNumber};
use palyra_types::{EffectId, RunId};
use palyra_wire::store;
use prost::Message;

use super::field::{
    EncodedParts, ReadResult, UnreadableEvent, VERSION, facts_only, fixed_or_zero, unless_zero,
};

pub(super) fn encode(event: &JobEvent) -> EncodedParts {
    match event {
        JobEvent::Started { job, run, effect } => {
            let run = unless_zero(&run.to_bytes());
            let facts = store::JobStartedFacts { version: VERSION, job: job.0, run, effect: effect.0 };
            facts_only(&facts)
        }
        JobEvent::Ended { run, effect, end } => {
            let (ending, number) = stored_end(*end);
            let facts = store::JobEndedFacts {
                version: VERSION,
                run: unless_zero(&run.to_bytes()),
                effect: effect.0,
                ending: ending.into(),
                number,
            };
            facts_only(&facts)
        }
    }
}

fn stored_end(end: JobEnd) -> (store::JobEnding, i32) {
    match end {
        JobEnd::Exited { code } => (store::JobEnding::Exited, code),
        JobEnd::Signalled { signal } => (store::JobEnding::Signalled, signal),
        JobEnd::OverMemory => (store::JobEnding::OverMemory, 0),
        JobEnd::OverProcesses => (store::JobEnding::OverProcesses, 0),
        JobEnd::Stopped => (store::JobEnding::Stopped, 0),
        JobEnd::NotStarted => (store::JobEnding::NotStarted, 0),
        JobEnd::Lost => (store::JobEnding::Lost, 0),
    }
}

pub(super) fn decode_started(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::JobStartedFacts::decode(facts)?;
    let run = RunId::from_bytes(fixed_or_zero(&facts.run)?);
    let (job, effect) = (JobNumber(facts.job), EffectId(facts.effect));
    Ok(JournalEvent::Job(JobEvent::Started { job, run, effect }))
}

pub(super) fn decode_ended(facts: &[u8]) -> ReadResult<JournalEvent> {
    let facts = store::JobEndedFacts::decode(facts)?;
    let run = RunId::from_bytes(fixed_or_zero(&facts.run)?);
    let number = facts.number;
    let end = match store::JobEnding::try_from(facts.ending).map_err(|_| UnreadableEvent::Newer)? {
        store::JobEnding::Unspecified => return Err(UnreadableEvent::Malformed),
        store::JobEnding::Exited => JobEnd::Exited { code: number },
        store::JobEnding::Signalled => JobEnd::Signalled { signal: number },
        store::JobEnding::OverMemory => JobEnd::OverMemory,
        store::JobEnding::OverProcesses => JobEnd::OverProcesses,
        store::JobEnding::Stopped => JobEnd::Stopped,
        store::JobEnding::NotStarted => JobEnd::NotStarted,
        store::JobEnding::Lost => JobEnd::Lost,
    };
    Ok(JournalEvent::Job(JobEvent::Ended { run, effect: EffectId(facts.effect), end }))
}
