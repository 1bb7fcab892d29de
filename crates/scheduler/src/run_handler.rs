//! Starts the runs of occurrences as tasks of the background queue.
//!
//! The queue repeats a lost attempt. A run has the key of its occurrence, so a repetition finds the run that was started.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_background::queue::{TaskEnd, TaskHandler, TaskWork};
use palyra_queue::{TaskKind, rules};
use palyra_types::schedule::SavedAction;
use palyra_types::{Content, ScheduleId, Timestamp};
use tokio::sync::{Notify, mpsc};

use crate::command::{OccurrenceReport, OccurrenceStep};
use crate::occurrence_check::{check_occurrence, refusal_words};
use crate::ports::SchedulePorts;
use crate::scheduled_run::{RunNotStarted, ScheduledRun, StartScheduledRuns};
use crate::store;

/// Starts runs of schedules.
pub struct ScheduledRunHandler {
    pub(crate) ports: SchedulePorts,
    pub(crate) runs: Arc<dyn StartScheduledRuns>,
    pub(crate) reports: ReportSender,
}

/// Reports to the loop.
#[derive(Clone)]
pub(crate) struct ReportSender {
    pub(crate) reports_tx: mpsc::Sender<OccurrenceReport>,
    pub(crate) signal: Arc<Notify>,
}

impl ReportSender {
    /// Waits for room in the mailbox of the loop. After the loop has ended nothing takes reports: the next start asks again.
    async fn send(&self, schedule: ScheduleId, planned: Timestamp, step: OccurrenceStep) {
        drop(self.reports_tx.send(OccurrenceReport { schedule, planned, step }).await);
        self.signal.notify_one();
    }
}

/// What became of an attempt.
enum AttemptResult {
    Done,
    Failed(String),
}

impl TaskHandler for ScheduledRunHandler {
    fn kind(&self) -> TaskKind {
        TaskKind::ScheduledRun
    }

    fn run(&self, work: TaskWork) -> BoxFuture<'static, TaskEnd> {
        let attempt = RunAttempt {
            ports: self.ports.clone(),
            runs: Arc::clone(&self.runs),
            reports: self.reports.clone(),
        };
        async move {
            tokio::select! {
                biased;
                () = work.lease.stop_requested() => TaskEnd::Stopped,
                result = attempt.start(&work) => match result {
                    AttemptResult::Done => TaskEnd::Completed,
                    AttemptResult::Failed(why) => TaskEnd::Failed(Content::new(why)),
                },
            }
        }
        .boxed()
    }
}

struct RunAttempt {
    ports: SchedulePorts,
    runs: Arc<dyn StartScheduledRuns>,
    reports: ReportSender,
}

impl RunAttempt {
    async fn start(&self, work: &TaskWork) -> AttemptResult {
        let Some((schedule, planned)) = occurrence_of(work.payload.expose()) else {
            return AttemptResult::Failed("the task names no occurrence".to_owned());
        };
        match self.try_start(schedule, planned).await {
            Ok(()) => AttemptResult::Done,
            Err(RunNotStarted::Refused { what }) => {
                self.reports.send(schedule, planned, OccurrenceStep::NotStarted(Content::new(what))).await;
                AttemptResult::Done
            }
            Err(RunNotStarted::Later { what }) => {
                if work.attempt >= rules(TaskKind::ScheduledRun).attempts_max {
                    let why = OccurrenceStep::NotStarted(Content::new(what.clone()));
                    self.reports.send(schedule, planned, why).await;
                }
                AttemptResult::Failed(what)
            }
        }
    }

    async fn try_start(&self, schedule: ScheduleId, planned: Timestamp) -> Result<(), RunNotStarted> {
        let record = store::record(&self.ports, schedule).await;
        let record = record.map_err(|error| RunNotStarted::Later { what: error.to_string() })?;
        // An occurrence that has ended, or is not recorded as started, has no run to start.
        let Some(record) = record.filter(|record| record.row.progress.running == Some(planned)) else {
            return Ok(());
        };
        check_occurrence(&*self.ports.facts, &record).map_err(|refusal| refused(refusal_words(refusal)))?;
        let agent = match record.saved.action {
            SavedAction::Run(run) => self.ports.facts.agent(run.agent),
            SavedAction::Reminder => None,
        };
        let agent = agent.ok_or_else(|| refused("the schedule was changed to a reminder"))?;
        // Before the run is there, so that its first call is judged by it.
        self.ports.occurrences.note(record.row.principal, &record.saved, planned);
        let run = ScheduledRun {
            principal: record.row.principal,
            schedule,
            planned,
            agent: agent.name,
            name: record.saved.name,
            prompt: record.saved.text,
        };
        let started = self.runs.start(run).await?;
        let run = started.run;
        self.reports.send(schedule, planned, OccurrenceStep::Started(run)).await;
        let reports = self.reports.clone();
        tokio::spawn(async move {
            // Without an end the daemon stops; the next start finds the run by its key.
            if let Some(outcome) = started.end.await {
                reports.send(schedule, planned, OccurrenceStep::Ended { run, outcome }).await;
            }
        });
        Ok(())
    }
}

fn refused(what: &str) -> RunNotStarted {
    RunNotStarted::Refused { what: what.to_owned() }
}

fn occurrence_of(payload: &str) -> Option<(ScheduleId, Timestamp)> {
    let (schedule, planned) = payload.split_once(' ')?;
    Some((schedule.parse().ok()?, Timestamp(planned.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_names_schedule_and_planned_instant() {
        let schedule = ScheduleId::from_parts(1, 2);
        let planned = Timestamp(1_735_689_600_000_000);
        assert_eq!(occurrence_of(&format!("{schedule} {}", planned.0)), Some((schedule, planned)));
        for unknown in ["", "x 1", &format!("{schedule}"), &format!("{schedule} soon")] {
            assert_eq!(occurrence_of(unknown), None, "{unknown}");
        }
    }
}
