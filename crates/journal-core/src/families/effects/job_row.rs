//! Jobs, as parts of their effects' rows: what the entries beside the tape say of them.
//!
//! Owns when a job puts its effect in doubt: when it was lost, and its call has succeeded. Without that the call itself is
//! what the tape says of it, and in doubt there.

use palyra_types::Timestamp;
use palyra_types::effect::{EffectResolution, EffectState};
use palyra_types::job::{JobEnd, JobEvent, JobNumber, JobRecord, JobState};

/// The job of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JobRow {
    number: JobNumber,
    stage: JobStage,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JobStage {
    Running,
    Ended,
    Lost,
    Settled(EffectResolution, Timestamp),
}

/// Returns the job of an effect after an entry about it, given the state of its call by the tape.
pub(super) fn after(job: Option<JobRow>, call: Option<EffectState>, event: &JobEvent) -> Option<JobRow> {
    match (job, event) {
        (None, JobEvent::Started { job, .. }) => {
            call.map(|_| JobRow { number: *job, stage: JobStage::Running })
        }
        (Some(JobRow { number, stage: JobStage::Running }), JobEvent::Ended { end, .. }) => {
            Some(JobRow { number, stage: ended(*end) })
        }
        (job, JobEvent::Started { .. } | JobEvent::Ended { .. }) => job,
    }
}

fn ended(end: JobEnd) -> JobStage {
    match end {
        JobEnd::Exited { .. }
        | JobEnd::Signalled { .. }
        | JobEnd::OverMemory
        | JobEnd::OverProcesses
        | JobEnd::Stopped
        | JobEnd::NotStarted => JobStage::Ended,
        JobEnd::Lost => JobStage::Lost,
    }
}

impl JobRow {
    fn is_in_doubt(self, call: EffectState) -> bool {
        self.stage == JobStage::Lost && call == EffectState::Finished
    }

    /// Takes in what a person says of the effect, given the state of its call by the tape.
    pub(super) fn settled_as(self, call: EffectState, said: EffectResolution, time: Timestamp) -> Self {
        if self.is_in_doubt(call) { Self { stage: JobStage::Settled(said, time), ..self } } else { self }
    }

    /// Returns the state of its effect, given the state of its call by the tape.
    pub(super) fn effect_state(self, call: EffectState) -> EffectState {
        match self.stage {
            JobStage::Lost if self.is_in_doubt(call) => EffectState::Unknown,
            JobStage::Running | JobStage::Ended | JobStage::Lost => call,
            JobStage::Settled(said, _) => EffectState::Resolved(said),
        }
    }

    pub(super) fn record(self, call: EffectState) -> JobRecord {
        let state = match self.stage {
            JobStage::Running => JobState::Running,
            JobStage::Ended => JobState::Ended,
            JobStage::Lost if self.is_in_doubt(call) => JobState::InDoubt,
            JobStage::Lost => JobState::Gone,
            JobStage::Settled(..) => JobState::Settled,
        };
        JobRecord { number: self.number, state }
    }

    pub(super) fn is_running(self) -> bool {
        self.stage == JobStage::Running
    }

    pub(super) fn number(self) -> u32 {
        self.number.0
    }

    /// Returns when a person said what became of it, as the facts have it.
    pub(super) fn settled(self) -> Option<i64> {
        match self.stage {
            JobStage::Settled(_, time) => Some(time.0),
            JobStage::Running | JobStage::Ended | JobStage::Lost => None,
        }
    }

    /// Returns the number in the facts: 0 without a job, 1 runs, 3 was lost.
    pub(super) fn stored_state(job: Option<Self>) -> u32 {
        match job.map(|job| job.stage) {
            None => 0,
            Some(JobStage::Running) => 1,
            Some(JobStage::Ended) => 2,
            Some(JobStage::Lost) => 3,
            Some(JobStage::Settled(EffectResolution::Happened, _)) => 4,
            Some(JobStage::Settled(EffectResolution::DidNotHappen, _)) => 5,
            Some(JobStage::Settled(EffectResolution::Retry, _)) => 6,
        }
    }

    pub(super) fn from_stored(number: Option<u32>, state: u32, settled: Option<i64>) -> Option<Self> {
        let time = Timestamp(settled.unwrap_or_default());
        let stage = match state {
            1 => JobStage::Running,
            2 => JobStage::Ended,
            3 => JobStage::Lost,
            4 => JobStage::Settled(EffectResolution::Happened, time),
            5 => JobStage::Settled(EffectResolution::DidNotHappen, time),
            _ => JobStage::Settled(EffectResolution::Retry, time),
        };
        number.map(|number| Self { number: JobNumber(number), stage })
    }
}

#[cfg(test)]
mod tests {
    use palyra_types::{EffectId, RunId};

    use super::*;

    const RUN: RunId = RunId::NIL;
    const BEGINS: JobEvent = JobEvent::Started { job: JobNumber(3), run: RUN, effect: EffectId(1) };
    const DONE: EffectState = EffectState::Finished;
    const CALLS: [EffectState; 5] = [
        EffectState::Started,
        DONE,
        EffectState::Failed,
        EffectState::Unknown,
        EffectState::Resolved(EffectResolution::Happened),
    ];

    fn ends(end: JobEnd) -> JobEvent {
        JobEvent::Ended { run: RUN, effect: EffectId(1), end }
    }

    #[test]
    fn an_effect_is_in_doubt_when_its_job_was_lost_and_its_call_succeeded() {
        let seen = [
            JobEnd::Exited { code: 0 },
            JobEnd::Signalled { signal: 9 },
            JobEnd::OverMemory,
            JobEnd::OverProcesses,
            JobEnd::Stopped,
            JobEnd::NotStarted,
        ];
        let job = after(None, Some(EffectState::Started), &BEGINS).expect("it runs");
        let after_end = |end| after(Some(job), Some(DONE), &ends(end)).expect("it is known");
        let lost = after_end(JobEnd::Lost);
        for call in CALLS {
            assert_eq!((job.effect_state(call), job.record(call).state), (call, JobState::Running));
            let shown = if call == DONE { EffectState::Unknown } else { call };
            let state = if call == DONE { JobState::InDoubt } else { JobState::Gone };
            assert_eq!((lost.effect_state(call), lost.record(call).state), (shown, state), "{call:?}");
            for end in seen {
                let ended = after_end(end);
                assert_eq!((ended.effect_state(call), ended.record(call).state), (call, JobState::Ended));
                assert_eq!(after(Some(ended), Some(call), &ends(JobEnd::Lost)), Some(ended), "it was seen");
            }
            for again in [BEGINS, ends(JobEnd::Lost), ends(JobEnd::Stopped)] {
                assert_eq!(after(Some(lost), Some(call), &again), Some(lost), "the first end stage");
            }
        }
        assert_eq!(after(None, None, &BEGINS), None, "no call was started");
        assert_eq!(after(None, Some(DONE), &ends(JobEnd::Lost)), None, "no job was started");
    }

    #[test]
    fn a_person_settles_what_is_in_doubt_and_nothing_else() {
        let running = after(None, Some(DONE), &BEGINS).expect("it runs");
        let lost = after(Some(running), Some(DONE), &ends(JobEnd::Lost)).expect("it is known");
        let (happened, time) = (EffectResolution::Happened, Timestamp(7));
        for call in CALLS {
            assert_eq!(running.settled_as(call, happened, time), running);
            let settled = lost.settled_as(call, happened, time);
            assert_eq!(settled != lost, call == DONE, "{call:?}");
        }
        let settled = lost.settled_as(DONE, happened, time);
        assert_eq!(settled.effect_state(DONE), EffectState::Resolved(happened));
        assert_eq!(settled.settled_as(DONE, EffectResolution::DidNotHappen, Timestamp(8)), settled);
        for job in [running, lost, settled] {
            let stored = JobRow::from_stored(Some(3), JobRow::stored_state(Some(job)), job.settled());
            assert_eq!(stored, Some(job));
        }
        assert_eq!((JobRow::stored_state(None), JobRow::from_stored(None, 0, None)), (0, None));
    }
}
