//! The loop of the queue: a task of the driver, and the one writer of tasks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_journal_core::families::queued_tasks::EnqueuedTask;
use palyra_ports::{AppendClass, AppendError};
use palyra_queue::{
    AttemptEnd, OpenTasks, QueueTime, QueueView, QueuedTask, TaskEvent, TaskKind, TaskStage, WORKERS_MAX,
    decide, rules,
};
use palyra_types::QueuedTaskId;
use tokio::sync::{Notify, mpsc};

use super::command::{QueueCommand, QueueRequest};
use super::command_batch::CommandBatch;
use super::error::QueueError;
use super::handler::{TaskHandler, TaskWork};
use super::lease::TaskLease;
use super::queue_ports::QueuePorts;
use super::queue_store::{OwnedTask, QueueStore, TaskEntry};
use super::steady_clock::SteadyClock;
use super::worker_set::WorkerSet;
use crate::drain::Drain;
use crate::driver::{BackgroundTask, NextTick, TickFailure};

/// While tasks are open, the loop looks at the journal so often, also without a signal or a due task. Only this loop opens
/// tasks, so none is missed while none is open.
const SWEEP: Duration = Duration::from_secs(60);
/// Commands that one append answers, at most.
const BATCH_COMMANDS_MAX: usize = 128;
/// How long a drain waits for workers that were asked to stop.
const DRAIN_MAX: Duration = Duration::from_secs(5);

/// The loop.
pub(super) struct QueueLoop {
    store: QueueStore,
    time: SteadyClock,
    handlers: BTreeMap<TaskKind, Arc<dyn TaskHandler>>,
    commands_rx: mpsc::Receiver<QueueCommand>,
    signal: Arc<Notify>,
    drain: Drain,
    workers: WorkerSet,
    /// How many tasks are open; `None` before the journal was read, and after an append in doubt.
    open: Option<OpenTasks>,
    has_started: bool,
}

/// What is recorded before workers begin.
#[derive(Default)]
struct LeasePlan {
    entries: Vec<TaskEntry>,
    begins: Vec<(OwnedTask, EnqueuedTask)>,
    /// Kinds of tasks that are open no longer.
    closed: Vec<TaskKind>,
    wake: Option<Duration>,
}

impl QueueLoop {
    pub(super) fn new(
        ports: QueuePorts,
        handlers: Vec<Arc<dyn TaskHandler>>,
        commands_rx: mpsc::Receiver<QueueCommand>,
        signal: Arc<Notify>,
        drain: Drain,
    ) -> Self {
        Self {
            time: SteadyClock::new(Arc::clone(&ports.clock)),
            workers: WorkerSet::new(Arc::clone(&signal), Arc::clone(&ports.redactor)),
            store: QueueStore::new(ports),
            handlers: handlers.into_iter().map(|handler| (handler.kind(), handler)).collect(),
            commands_rx,
            signal,
            drain,
            open: None,
            has_started: false,
        }
    }

    async fn advance(&mut self) -> Result<NextTick, QueueError> {
        let open = match self.open.take() {
            Some(open) => open,
            None => match self.take_over().await {
                Ok(open) => open,
                Err(error) => {
                    refuse_all(self.take_commands(), &error);
                    return Err(error);
                }
            },
        };
        self.open = Some(open.clone());
        self.answer_commands(open).await?;
        let wake = self.lease_tasks().await?;
        if !self.commands_rx.is_empty() || wake == Some(Duration::ZERO) {
            return Ok(NextTick::AtOnce);
        }
        if wake.is_none() && self.open.as_ref().is_some_and(OpenTasks::is_empty) {
            return Ok(NextTick::OnSignal);
        }
        Ok(NextTick::After(wake.map_or(SWEEP, |wake| wake.min(SWEEP))))
    }

    /// Ends leases without a worker here: at a start those of the process that ended, and after an append in doubt those
    /// that were recorded and given to no worker. Returns how many tasks are open.
    async fn take_over(&mut self) -> Result<OpenTasks, QueueError> {
        let (leased, mut open) = self.store.leased().await?;
        let fences = leased.iter().map(|row| (row.task.state().task, row.task.state().fence)).collect();
        self.workers.retain(&fences);
        let end = if self.has_started { AttemptEnd::Stopped } else { AttemptEnd::ProcessEnded };
        let now = self.time.now();
        let mut entries = Vec::new();
        for row in leased {
            let id = row.task.state().task;
            let mut task = row.task;
            if self.workers.task(id).is_some() {
                continue;
            }
            let Some(event) = task.lose(end, now) else { continue };
            let session = self.store.session_of(id).await?;
            let owned = OwnedTask { task, principal: row.principal, session };
            task.evolve(&event);
            if !task.state().stage.is_open() {
                open.closed(task.state().kind);
            }
            entries.push(owned.entry(event));
        }
        if !entries.is_empty() {
            tracing::info!(tasks = entries.len(), "leases without a worker were taken over");
            self.store.append(&entries, AppendClass::Ending).await?;
        }
        self.has_started = true;
        Ok(open)
    }

    /// Records what commands ask for in one append, and answers them.
    async fn answer_commands(&mut self, open: OpenTasks) -> Result<(), QueueError> {
        let commands = self.take_commands();
        if commands.is_empty() {
            return Ok(());
        }
        let mut batch = match self.begin_batch(&commands, open).await {
            Ok(batch) => batch,
            Err(error) => {
                refuse_all(commands, &error);
                return Err(error);
            }
        };
        let now = self.time.now();
        let mut answers = Vec::with_capacity(commands.len());
        for QueueCommand { request, reply_tx } in commands {
            let answer = match &request {
                QueueRequest::Enqueue(task) if !self.handlers.contains_key(&task.kind) => {
                    Err(QueueError::NoHandler { kind: task.kind })
                }
                QueueRequest::Requeue { task } if !self.workers.lose(*task) => Err(QueueError::NotFound),
                QueueRequest::Enqueue(_) | QueueRequest::Person { .. } | QueueRequest::Requeue { .. } => {
                    batch.apply(request, self.store.new_id(), now)
                }
            };
            answers.push((reply_tx, answer));
        }
        let recorded = if batch.entries.is_empty() {
            Ok(())
        } else {
            self.store.append(&batch.entries, batch.class).await
        };
        if recorded.is_ok() {
            for entry in &batch.entries {
                self.workers.recorded(&entry.event, now);
                if matches!(entry.event, TaskEvent::CancelRequested { .. }) {
                    self.workers.stop(entry.event.task());
                }
            }
            self.open = Some(batch.open);
        }
        for (reply_tx, answer) in answers {
            let answer =
                answer.and_then(|receipt| recorded.clone().map(|()| receipt).map_err(QueueError::from));
            // A caller that went away needs no answer.
            drop(reply_tx.send(answer));
        }
        recorded.or_else(|error| self.not_recorded(error))
    }

    fn take_commands(&mut self) -> Vec<QueueCommand> {
        let mut commands = Vec::new();
        while commands.len() < BATCH_COMMANDS_MAX
            && let Ok(command) = self.commands_rx.try_recv()
        {
            commands.push(command);
        }
        commands
    }

    /// Returns what the commands need to know; of tasks that a worker is at, what is in memory.
    async fn begin_batch(
        &self,
        commands: &[QueueCommand],
        open: OpenTasks,
    ) -> Result<CommandBatch, QueueError> {
        let mut tasks = BTreeSet::new();
        let mut subjects = BTreeSet::new();
        for command in commands {
            match &command.request {
                QueueRequest::Enqueue(new) => {
                    subjects.extend(new.key.map(|key| (new.kind, new.principal, key)));
                }
                QueueRequest::Person { task, .. } => {
                    tasks.insert(*task);
                }
                QueueRequest::Requeue { .. } => {}
            }
        }
        let mut facts = self.store.facts(tasks.into_iter().collect(), subjects.into_iter().collect()).await?;
        for (id, owned) in &mut facts.tasks {
            *owned = self.workers.task(*id).unwrap_or(*owned);
        }
        Ok(CommandBatch::new(facts, open))
    }

    /// Records ends of attempts and new leases in one append, then lets workers begin. Returns after which time there is
    /// something to do again.
    async fn lease_tasks(&mut self) -> Result<Option<Duration>, QueueError> {
        self.workers.collect(&self.time);
        let now = self.time.now();
        let ended = self.workers.entries(now);
        let mut plan = self.plan(ended, now).await?;
        if !plan.entries.is_empty() {
            self.record(&mut plan, now).await?;
        }
        for (owned, enqueued) in std::mem::take(&mut plan.begins) {
            self.begin(owned, enqueued, now);
        }
        Ok(plan.wake)
    }

    /// Decides what follows these ends.
    async fn plan(&self, ended: Vec<TaskEntry>, now: QueueTime) -> Result<LeasePlan, QueueError> {
        let leased = self.workers.leased_after(&ended);
        let may_lease = !self.drain.has_begun();
        let limits = if may_lease { self.limits(&leased) } else { Vec::new() };
        let found = if limits.is_empty() { Vec::new() } else { self.store.waiting(limits, now).await? };
        let waiting: Vec<QueuedTask> = found.iter().map(|(task, _)| *task).collect();
        let decision = decide(QueueView { waiting: &waiting, leased: &leased, may_lease }, now);
        let mut plan = LeasePlan { entries: ended, wake: decision.wake, ..LeasePlan::default() };
        let mut enqueued: BTreeMap<QueuedTaskId, (QueuedTask, EnqueuedTask)> = found
            .into_iter()
            .filter_map(|(task, enqueued)| Some((task.state().task, (task, enqueued?))))
            .collect();
        for event in decision.events {
            match (self.workers.task(event.task()), enqueued.remove(&event.task())) {
                (Some(owned), _) => plan.entries.push(owned.entry(event)),
                (None, Some((task, enqueued))) => plan.lease(task, enqueued, event),
                (None, None) => {}
            }
        }
        Ok(plan)
    }

    /// Returns how many waiting tasks of each kind may be looked at: as many as could begin.
    fn limits(&self, leased: &[QueuedTask]) -> Vec<(TaskKind, usize)> {
        let free = WORKERS_MAX.saturating_sub(leased.len());
        let of_kind = |kind: &TaskKind| {
            let busy = leased.iter().filter(|task| task.state().kind == *kind).count();
            (*kind, rules(*kind).concurrency.saturating_sub(busy).min(free))
        };
        self.handlers.keys().map(of_kind).filter(|(_, limit)| *limit > 0).collect()
    }

    async fn record(&mut self, plan: &mut LeasePlan, now: QueueTime) -> Result<(), QueueError> {
        let class = if plan.begins.is_empty() { AppendClass::Ending } else { AppendClass::Normal };
        let mut recorded = self.store.append(&plan.entries, class).await;
        if recorded == Err(AppendError::DiskFull) && class == AppendClass::Normal {
            // No new work, but what ended is recorded.
            plan.begins.clear();
            plan.wake = Some(SWEEP);
            plan.entries.retain(|entry| !matches!(entry.event, TaskEvent::Leased { .. }));
            recorded = self.store.append(&plan.entries, AppendClass::Ending).await;
        }
        if let Err(error) = recorded {
            return self.not_recorded(error);
        }
        for entry in &plan.entries {
            let Some(task) = self.workers.recorded(&entry.event, now) else { continue };
            let state = task.state();
            if state.stage == TaskStage::Waiting {
                let span = state.due.since(now.wall);
                plan.wake = Some(plan.wake.map_or(span, |wake| wake.min(span)));
            } else {
                plan.closed.push(state.kind);
            }
        }
        if let Some(open) = &mut self.open {
            plan.closed.iter().for_each(|kind| open.closed(*kind));
        }
        Ok(())
    }

    fn begin(&mut self, owned: OwnedTask, enqueued: EnqueuedTask, now: QueueTime) {
        let Some(handler) = self.handlers.get(&owned.task.state().kind) else { return };
        let lease = TaskLease::begin(owned.task.state().fence, Arc::clone(&self.time.clock));
        let work = TaskWork {
            task: owned.task.state().task,
            principal: enqueued.principal,
            session: enqueued.session,
            created: enqueued.created,
            attempt: owned.task.state().attempts,
            payload: enqueued.enqueued.payload,
            lease,
        };
        self.workers.spawn(owned, handler, work, self.drain.work(), now);
    }

    /// Notes that nothing, or perhaps nothing, was recorded.
    fn not_recorded(&mut self, error: AppendError) -> Result<(), QueueError> {
        if error == AppendError::Unknown {
            self.open = None;
        }
        Err(error.into())
    }

    /// Asks workers to stop, and records their ends for a while.
    async fn stop(&mut self) {
        self.commands_rx.close();
        self.workers.stop_all();
        let deadline = self.time.clock.boot().after(DRAIN_MAX);
        while self.lease_tasks().await.is_ok() && !self.workers.is_empty() {
            let over = self.time.clock.sleep_until(deadline);
            tokio::select! {
                biased;
                () = self.signal.notified() => {}
                () = over => break,
            }
        }
        self.workers.abandon();
    }
}

impl LeasePlan {
    /// Adds a lease; of a task whose payload was erased, its cancel.
    fn lease(&mut self, mut task: QueuedTask, enqueued: EnqueuedTask, lease: TaskEvent) {
        let owned = OwnedTask { task, principal: enqueued.principal, session: enqueued.session };
        if enqueued.enqueued.is_erased() {
            self.entries.extend(task.cancel().map(|event| owned.entry(event)));
            self.closed.push(task.state().kind);
            self.wake = Some(Duration::ZERO);
            return;
        }
        task.evolve(&lease);
        self.entries.push(owned.entry(lease));
        self.begins.push((OwnedTask { task, ..owned }, enqueued));
    }
}

fn refuse_all(commands: Vec<QueueCommand>, error: &QueueError) {
    for command in commands {
        // A caller that went away needs no answer.
        drop(command.reply_tx.send(Err(error.clone())));
    }
}

impl BackgroundTask for QueueLoop {
    fn name(&self) -> &'static str {
        "background_queue"
    }

    fn tick(&mut self) -> BoxFuture<'_, Result<NextTick, TickFailure>> {
        Box::pin(async move { self.advance().await.map_err(TickFailure::new) })
    }

    fn signal(&self) -> BoxFuture<'static, ()> {
        let signal = Arc::clone(&self.signal);
        Box::pin(async move { signal.notified().await })
    }

    fn drained(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.stop())
    }
}
