//! Jobs and doubts about them, entry by entry; kept apart from the tape's own doubts.

use std::collections::BTreeMap;

use palyra_types::effect::{EffectRecord, EffectResolution, EffectState};
use palyra_types::event::{EffectEvent, JournalEvent};
use palyra_types::job::{JobEnd, JobEvent, JobNumber, JobRecord, JobState};
use palyra_types::tape::JournalEventRecord;
use palyra_types::{EffectId, RunId, Timestamp};

type JobKey = (RunId, EffectId);

/// One job: how it ended, and what a person said of it.
struct OracleJob {
    number: JobNumber,
    end: Option<JobEnd>,
    said: Option<(EffectResolution, Timestamp)>,
}

/// All jobs.
#[derive(Default)]
pub(super) struct Jobs(BTreeMap<JobKey, OracleJob>);

impl Jobs {
    /// Takes in an entry, given the effects as the tapes tell of them so far.
    pub(super) fn take(&mut self, entry: &JournalEventRecord, effects: &BTreeMap<JobKey, EffectRecord>) {
        match &entry.event {
            JournalEvent::Job(JobEvent::Started { job, run, effect })
                if effects.contains_key(&(*run, *effect)) =>
            {
                let job = OracleJob { number: *job, end: None, said: None };
                self.0.entry((*run, *effect)).or_insert(job);
            }
            JournalEvent::Job(JobEvent::Ended { run, effect, end }) => {
                if let Some(job) = self.0.get_mut(&(*run, *effect)) {
                    job.end.get_or_insert(*end);
                }
            }
            JournalEvent::Effect(EffectEvent::Settled(said)) => {
                let key = (said.run, said.effect);
                let call = effects.get(&key).map(|record| record.state);
                if let Some(job) = self.0.get_mut(&key)
                    && (job.end, call) == (Some(JobEnd::Lost), Some(EffectState::Finished))
                {
                    job.said.get_or_insert((said.resolution, entry.time));
                }
            }
            _ => {}
        }
    }

    /// Says in the records what became of jobs.
    pub(super) fn show_in(&self, effects: &mut BTreeMap<JobKey, EffectRecord>) {
        for (key, job) in &self.0 {
            let Some(record) = effects.get_mut(key) else { continue };
            let state = match (job.end, job.said) {
                (_, Some((said, time))) => {
                    (record.state, record.ended) = (EffectState::Resolved(said), Some(time));
                    JobState::Settled
                }
                (None, None) => JobState::Running,
                (Some(JobEnd::Lost), None) if record.state == EffectState::Finished => {
                    record.state = EffectState::Unknown;
                    JobState::InDoubt
                }
                (Some(JobEnd::Lost), None) => JobState::Gone,
                (Some(_), None) => JobState::Ended,
            };
            record.job = Some(JobRecord { number: job.number, state });
        }
    }
}
