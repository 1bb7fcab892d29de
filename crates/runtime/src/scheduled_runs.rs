//! Starting runs of schedules: through the same entry as every other run, on a surface of their own.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::Caller;
use palyra_background::BackgroundDriver;
use palyra_background::queue::{BackgroundQueue, QueuePorts, TaskHandler, spawn_background_queue_loop};
use palyra_ports::AppendError;
use palyra_run_core::RunInput;
use palyra_scheduler::{
    DaemonFacts, RunNotStarted, SchedulePorts, ScheduledRun, SchedulesHandle, SchedulesStart,
    StartScheduledRuns, StartedRun,
};
use palyra_tape::{TapeFollower, TapeHandle};
use palyra_types::access::{AccessScope, ActorIdentity};
use palyra_types::run::{CancelReason, RunLifecycleState, UserInput};
use palyra_types::schedule::OccurrenceOutcome;
use palyra_types::session::SessionRef;
use palyra_types::surface::Surface;
use palyra_types::{PrincipalId, RunId, TapeSeq};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::InputData;
use crate::session::{SessionSelector, SessionsHandle, SubmitRequest};

/// The queue and the schedules that use it.
pub(crate) struct SpawnedQueue {
    pub(crate) queue: BackgroundQueue,
    pub(crate) schedules: SchedulesHandle,
}

/// Starts the loop of schedules, and the queue whose tasks start their runs.
pub(crate) fn spawn_with_queue(
    background: &BackgroundDriver,
    queue_ports: QueuePorts,
    mut handlers: Vec<Arc<dyn TaskHandler>>,
    starter: ScheduledRunStarter,
    facts: DaemonFacts,
) -> SpawnedQueue {
    let ports = &starter.engine.ports;
    let ports = SchedulePorts {
        recorder: ports.recorder.clone(),
        families: Arc::clone(&ports.families),
        redactor: Arc::clone(&ports.redactor),
        clock: Arc::clone(&ports.clock),
        entropy: Arc::clone(&ports.entropy),
        facts: Arc::new(facts),
        zone_of: Arc::clone(&starter.engine.runs.ports.zones),
        occurrences: Arc::clone(&starter.engine.views.occurrences),
    };
    let schedules = SchedulesStart::new(ports, Arc::new(starter));
    handlers.push(Arc::new(schedules.handler()));
    let queue = spawn_background_queue_loop(background, queue_ports, handlers);
    let schedules = schedules.spawn(background, queue.clone());
    SpawnedQueue { queue, schedules }
}

/// Starts runs of schedules.
pub(crate) struct ScheduledRunStarter {
    pub(crate) engine: Arc<Engine>,
    pub(crate) sessions: SessionsHandle,
    pub(crate) tapes: TapeHandle,
}

impl ScheduledRunStarter {
    pub(crate) fn new(engine: &Arc<Engine>, sessions: &SessionsHandle, tapes: &TapeHandle) -> Self {
        Self { engine: Arc::clone(engine), sessions: sessions.clone(), tapes: tapes.clone() }
    }

    async fn submit(&self, scheduled: ScheduledRun) -> Result<StartedRun, RequestError> {
        let caller = caller_of(scheduled.principal);
        let session = SessionSelector {
            key: Some(scheduled.session_key()),
            label: Some(scheduled.name.clone().into()).filter(|_| !scheduled.name.expose().is_empty()),
            ..SessionSelector::default()
        };
        let key = scheduled.idempotency_key();
        let request = SubmitRequest {
            idempotency_key: Some(key),
            agent: Some(scheduled.agent),
            ..SubmitRequest::new(session, UserInput::text(scheduled.prompt.into()))
        };
        let (submitted, follower) = self.sessions.submit_followed(caller, request).await?;
        let follower = match follower {
            Some(follower) => follower,
            None => self.tapes.follow(caller, submitted.run, TapeSeq::default()).await?,
        };
        Ok(StartedRun { run: submitted.run, end: end_of(follower).boxed() })
    }

    async fn cancel_run(&self, principal: PrincipalId, run: RunId) -> Result<(), RequestError> {
        let record = self.engine.ports.run_of(principal, run).await?;
        let session = SessionRef { principal, id: record.session };
        let cancel = RunInput::Cancel { actor: principal, reason: CancelReason::User };
        let beside = InputData::by(caller_of(principal).actor);
        match self.sessions.deliver(session, run, cancel, beside).await {
            Ok(_) | Err(RequestError::RunFinished) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl StartScheduledRuns for ScheduledRunStarter {
    fn start(&self, run: ScheduledRun) -> BoxFuture<'_, Result<StartedRun, RunNotStarted>> {
        async move { self.submit(run).await.map_err(|error| not_started(&error)) }.boxed()
    }

    fn cancel(&self, principal: PrincipalId, run: RunId) -> BoxFuture<'_, Result<(), RunNotStarted>> {
        async move { self.cancel_run(principal, run).await.map_err(|error| not_started(&error)) }.boxed()
    }
}

/// A schedule has no credential: it acts for its principal, and may start and follow runs.
fn caller_of(principal: PrincipalId) -> Caller {
    Caller {
        actor: ActorIdentity { principal, credential: None, surface: Surface::Schedule },
        scopes: [AccessScope::Runs, AccessScope::RunsRead].into_iter().collect(),
        ..Caller::at_socket(principal)
    }
}

async fn end_of(mut follower: TapeFollower) -> Option<OccurrenceOutcome> {
    // An error means that no entry comes before the next start, which follows the run again.
    while follower.next().await.ok()?.is_some() {}
    Some(match follower.ended_as()? {
        RunLifecycleState::Done => OccurrenceOutcome::Succeeded,
        RunLifecycleState::Cancelled => OccurrenceOutcome::Cancelled,
        RunLifecycleState::Failed => OccurrenceOutcome::Failed,
        RunLifecycleState::Pending | RunLifecycleState::InProgress => return None,
    })
}

fn not_started(error: &RequestError) -> RunNotStarted {
    let what = error.to_string();
    if is_passing(error) { RunNotStarted::Later { what } } else { RunNotStarted::Refused { what } }
}

/// Returns whether another try may succeed.
fn is_passing(error: &RequestError) -> bool {
    let is_invalid = matches!(error, RequestError::Append(AppendError::Invalid { .. }));
    let passes = matches!(
        error,
        RequestError::Append(_)
            | RequestError::Read(_)
            | RequestError::QueueFull
            | RequestError::ClockBehind { .. }
            | RequestError::ShuttingDown
    );
    passes && !is_invalid
}
