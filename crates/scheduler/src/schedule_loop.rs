//! The loop of schedules: a task of the driver, and the one writer of their events.
//!
//! A tick answers callers, records ends, decides about schedules that are due, and performs recorded effects, in this order.
//! Invariant: [`SchedulePlan`] has exactly what is recorded; after an append in doubt it is read again.

mod changes;
mod due;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::tz::TimeZoneDatabase;
use palyra_background::queue::{BackgroundQueue, NewTask};
use palyra_background::{BackgroundTask, NextTick, TickFailure, WallClockWatch};
use palyra_ports::{AppendClass, AppendError};
use palyra_queue::{TaskKey, TaskKind};
use palyra_schedule::{PlanEvent, ScheduleEffect, SchedulePlan, change_of, digest_of, recorded};
use palyra_types::access::ActorIdentity;
use palyra_types::schedule::{OccurrenceOutcome, ScheduleEvent};
use palyra_types::{Content, PrincipalId, RunId, ScheduleId, Timestamp};
use tokio::sync::{Notify, mpsc, watch};

use crate::command::{OccurrenceReport, OccurrenceStep, ScheduleCommand};
use crate::error::ScheduleError;
use crate::ports::SchedulePorts;
use crate::scheduled_run::{RunNotStarted, StartScheduledRuns};
use crate::store::{self, OwnedEffect, OwnedEvent};

/// The loop.
pub(crate) struct ScheduleLoop {
    ports: SchedulePorts,
    zones: TimeZoneDatabase,
    queue: BackgroundQueue,
    runs: Arc<dyn StartScheduledRuns>,
    commands_rx: mpsc::Receiver<ScheduleCommand>,
    reports_rx: mpsc::Receiver<OccurrenceReport>,
    signal: Arc<Notify>,
    changes_tx: watch::Sender<u64>,
    plan: SchedulePlan,
    /// Whether the plan is what the journal has.
    is_restored: bool,
    owners: BTreeMap<ScheduleId, PrincipalId>,
    /// Reports that are not recorded yet.
    reports: VecDeque<OccurrenceReport>,
    /// Effects that are recorded and not performed yet.
    effects: VecDeque<OwnedEffect>,
    /// Runs of running occurrences.
    running: BTreeMap<(ScheduleId, Timestamp), RunId>,
    _watch: WallClockWatch,
}

/// What a loop is made of.
pub(crate) struct LoopInputs {
    pub(crate) commands_rx: mpsc::Receiver<ScheduleCommand>,
    pub(crate) reports_rx: mpsc::Receiver<OccurrenceReport>,
    pub(crate) signal: Arc<Notify>,
    /// Counts appends.
    pub(crate) changes_tx: watch::Sender<u64>,
}

impl ScheduleLoop {
    pub(crate) fn new(
        ports: SchedulePorts,
        queue: BackgroundQueue,
        runs: Arc<dyn StartScheduledRuns>,
        inputs: LoopInputs,
    ) -> Self {
        let LoopInputs { commands_rx, reports_rx, signal, changes_tx } = inputs;
        let zones = TimeZoneDatabase::bundled();
        Self {
            _watch: WallClockWatch::begin(Arc::clone(&ports.clock), Arc::clone(&signal)),
            plan: SchedulePlan::new(zones.clone()),
            ports,
            zones,
            queue,
            runs,
            commands_rx,
            reports_rx,
            signal,
            changes_tx,
            is_restored: false,
            owners: BTreeMap::new(),
            reports: VecDeque::new(),
            effects: VecDeque::new(),
            running: BTreeMap::new(),
        }
    }

    async fn advance(&mut self) -> Result<NextTick, ScheduleError> {
        if !self.is_restored {
            let restored = store::restore(&self.ports, &self.zones).await?;
            self.plan = restored.plan;
            self.owners = restored.owners;
            self.effects = restored.effects.into();
            self.is_restored = true;
        }
        while let Ok(command) = self.commands_rx.try_recv() {
            let answer = self.answer(command.requester, command.request).await;
            let is_in_doubt = !self.is_restored;
            // The caller may have left.
            drop(command.reply_tx.send(answer));
            if is_in_doubt {
                return Ok(NextTick::AtOnce);
            }
        }
        while let Ok(report) = self.reports_rx.try_recv() {
            self.reports.push_back(report);
        }
        self.record_reports().await?;
        self.decide_due().await?;
        self.perform_effects().await?;
        let now = self.ports.clock.wall();
        Ok(match self.plan.next_wake() {
            _ if !self.commands_rx.is_empty() || !self.reports_rx.is_empty() => NextTick::AtOnce,
            None => NextTick::OnSignal,
            Some(wake) if wake <= now => NextTick::AtOnce,
            Some(wake) => NextTick::After(wake.since(now)),
        })
    }

    /// Records events in one append, and applies them. After a failure nothing of it is applied.
    async fn record(
        &mut self,
        actor: Option<ActorIdentity>,
        events: Vec<OwnedEvent>,
        class: AppendClass,
    ) -> Result<(), AppendError> {
        if events.is_empty() {
            return Ok(());
        }
        if let Err(error) = store::append(&self.ports, actor, &events, class).await {
            self.is_restored = error != AppendError::Unknown;
            return Err(error);
        }
        for OwnedEvent { principal, event } in events {
            self.apply(principal, &event);
        }
        self.changes_tx.send_modify(|changes| *changes += 1);
        Ok(())
    }

    fn apply(&mut self, principal: PrincipalId, event: &ScheduleEvent) {
        match (event, event.schedule()) {
            (ScheduleEvent::ManyPaused { scope, at }, _) => {
                self.plan.apply_to_many(PlanEvent::Paused { scope: *scope, at: *at });
            }
            (ScheduleEvent::ManyResumed { scope, at }, _) => {
                self.plan.apply_to_many(PlanEvent::Resumed { scope: *scope, at: *at });
            }
            (_, Some(schedule)) => {
                if let Some(change) = change_of(event) {
                    self.plan.apply(schedule, &change);
                }
                if self.plan.schedule(schedule).is_some() {
                    self.owners.insert(schedule, principal);
                } else {
                    self.owners.remove(&schedule);
                }
            }
            (_, None) => {}
        }
    }

    /// Records what was reported of occurrences, each in one append.
    async fn record_reports(&mut self) -> Result<(), ScheduleError> {
        while let Some(report) = self.reports.front().cloned() {
            let OccurrenceReport { schedule, planned, step } = report;
            match step {
                OccurrenceStep::Started(run) => self.note_started(schedule, planned, run),
                OccurrenceStep::Ended { run, outcome } => {
                    let none = Content::default();
                    self.record_end(schedule, planned, OccurrenceEnd { outcome, run: Some(run), why: none })
                        .await?;
                }
                OccurrenceStep::NotStarted(why) => {
                    let outcome = OccurrenceOutcome::Failed;
                    self.record_end(schedule, planned, OccurrenceEnd { outcome, run: None, why }).await?;
                }
            }
            self.reports.pop_front();
        }
        Ok(())
    }

    /// Keeps the run of an occurrence in mind. One that is to be cancelled already is cancelled now.
    fn note_started(&mut self, schedule: ScheduleId, planned: Timestamp, run: RunId) {
        let Some(state) = self.plan.schedule(schedule).filter(|state| state.running() == Some(planned))
        else {
            return;
        };
        self.running.insert((schedule, planned), run);
        if state.is_cancel_requested()
            && let Some(principal) = self.owners.get(&schedule).copied()
        {
            let effect = ScheduleEffect::Cancel { planned };
            self.effects.push_back(OwnedEffect { schedule, principal, effect });
        }
    }

    async fn record_end(
        &mut self,
        schedule: ScheduleId,
        planned: Timestamp,
        end: OccurrenceEnd,
    ) -> Result<(), ScheduleError> {
        let now = self.ports.clock.wall();
        let (Some(state), Some(principal)) =
            (self.plan.schedule(schedule), self.owners.get(&schedule).copied())
        else {
            return Ok(());
        };
        let outcome = match end.outcome {
            OccurrenceOutcome::Cancelled if state.is_cancel_requested() => OccurrenceOutcome::Replaced,
            outcome => outcome,
        };
        let changes = state.decide_finish(planned, outcome, now);
        let why = self.ports.redactor.redact(end.why).text;
        let mut events = Vec::new();
        for event in changes.iter().filter_map(|change| recorded(schedule, change)) {
            let event = match event {
                ScheduleEvent::OccurrenceFinished(mut finished) => {
                    finished.run = end.run;
                    finished.explanation = why.clone();
                    ScheduleEvent::OccurrenceFinished(finished)
                }
                other => other,
            };
            events.push(OwnedEvent { principal, event });
        }
        self.record(None, events, AppendClass::Ending).await?;
        self.running.remove(&(schedule, planned));
        self.ports.occurrences.forget(principal, schedule, planned);
        Ok(())
    }

    /// Performs what is recorded. An effect that fails stays for the next tick; each may be performed twice.
    async fn perform_effects(&mut self) -> Result<(), ScheduleError> {
        while let Some(owned) = self.effects.front().copied() {
            match owned.effect {
                ScheduleEffect::Start { planned } => {
                    let task = start_task(&self.ports, owned, planned);
                    self.queue.enqueue(task).await.map_err(|error| ScheduleError::Admin(error.into()))?;
                }
                ScheduleEffect::Cancel { planned } => self.cancel(owned, planned).await?,
            }
            self.effects.pop_front();
        }
        Ok(())
    }

    async fn cancel(&self, owned: OwnedEffect, planned: Timestamp) -> Result<(), ScheduleError> {
        // A run that is not known yet is cancelled when it is reported.
        let Some(run) = self.running.get(&(owned.schedule, planned)) else { return Ok(()) };
        match self.runs.cancel(owned.principal, *run).await {
            Ok(()) => Ok(()),
            Err(RunNotStarted::Refused { what }) => {
                tracing::warn!(%run, what, "the run of a replaced occurrence could not be cancelled");
                Ok(())
            }
            Err(RunNotStarted::Later { what }) => Err(ScheduleError::invalid_argument(what)),
        }
    }
}

/// How an occurrence ended.
struct OccurrenceEnd {
    outcome: OccurrenceOutcome,
    run: Option<RunId>,
    why: Content<String>,
}

/// Returns the task that starts the run of an occurrence. Its key keeps a second one out while it is open.
fn start_task(ports: &SchedulePorts, owned: OwnedEffect, planned: Timestamp) -> NewTask {
    let name = format!("{} {}", owned.schedule, planned.0);
    let digest = digest_of(&name).0;
    let mut key = [0; 16];
    key.iter_mut().zip(digest).for_each(|(byte, of_digest)| *byte = of_digest);
    NewTask {
        kind: TaskKind::ScheduledRun,
        principal: owned.principal,
        session: None,
        key: Some(TaskKey(key)),
        due: None,
        payload: ports.redactor.redact(Content::new(name)).text,
    }
}

impl BackgroundTask for ScheduleLoop {
    fn name(&self) -> &'static str {
        "schedules"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        async { self.advance().await.map_err(TickFailure::new) }.boxed()
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let signal = Arc::clone(&self.signal);
        async move { signal.notified().await }.boxed()
    }

    fn drained(&mut self) -> BoxFuture<'_, ()> {
        self.commands_rx.close();
        while let Ok(command) = self.commands_rx.try_recv() {
            drop(command.reply_tx.send(Err(ScheduleError::Stopped)));
        }
        std::future::ready(()).boxed()
    }
}
