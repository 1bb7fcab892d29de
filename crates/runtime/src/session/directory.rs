//! Finds the actor of a session, and starts it when somebody asks.
//!
//! Invariant: at most one actor per session takes work. An actor that has nothing to do leaves; the next
//! request starts a new one, which reads where things stand from the journal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use palyra_ports::AppendError;
use palyra_run_core::RunInput;
use palyra_types::recall::RecallSwitch;
use palyra_types::run::{IdempotencyDigest, UserInput};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{AgentId, RunId};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, mpsc, oneshot};

use crate::error::RequestError;
use crate::run::{DeliverReply, DeliveryReceipt, InputData};
use crate::session::admitted::{AdmittedRun, SessionOpening};
use crate::session::request::{RecordedChange, SubmitReceipt};

/// Requests waiting for one session actor.
const MAILBOX_MAX: usize = 64;
/// Actors that may stay for a while with nothing to do; each keeps what its session said.
const RESTING_ACTORS_MAX: usize = 128;

/// Where the answer to a submit goes.
pub(super) type SubmitReply = oneshot::Sender<Result<SubmitReceipt, RequestError>>;
/// Where the answer to a change of the session, or to its opening, goes.
pub(super) type ChangeReply = oneshot::Sender<Result<(), RequestError>>;
/// Where it is said which run a steering input was handed to; `None` when no run is active.
pub(super) type SteerReply = oneshot::Sender<Result<Option<HandedOver>, RequestError>>;

/// A run that was handed an input, and where it says what became of it.
pub(super) struct HandedOver {
    pub(super) run: RunId,
    pub(super) answer: oneshot::Receiver<Result<DeliveryReceipt, RequestError>>,
}

/// What a session actor is asked.
pub(super) enum Command {
    /// The session itself, which does not exist yet; an empty answer once that is durable.
    Open { opening: Box<SessionOpening>, reply: ChangeReply },
    /// A new run.
    Submit { admitted: Box<AdmittedRun>, reply: SubmitReply },
    /// Something for the run that is active.
    Steer { input: UserInput, idempotency: Option<IdempotencyDigest>, beside: InputData, reply: SteerReply },
    /// Something for one of its runs.
    Deliver { run: RunId, input: Box<RunInput>, beside: InputData, reply: DeliverReply },
    /// Something about the session itself.
    Change { change: RecordedChange, reply: ChangeReply },
    /// Take up what is open.
    Wake,
    /// Read again what earlier runs said: some of it was erased.
    Forget,
}

impl Command {
    /// Returns whether its first commit opens the session.
    pub(super) fn opens(&self) -> bool {
        match self {
            Self::Open { .. } => true,
            Self::Submit { admitted, .. } => admitted.opening.is_some(),
            Self::Steer { .. } | Self::Deliver { .. } | Self::Change { .. } => false,
            Self::Wake | Self::Forget => false,
        }
    }
}

/// What the runs of a session have from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SessionBinding {
    /// The agent it is bound to for ever.
    pub(super) agent: AgentId,
    /// Whether they are given items of memory unasked; `None` leaves that to wider levels.
    pub(super) recall: Option<RecallSwitch>,
}

impl SessionBinding {
    /// Returns what a session has that is opened with an agent.
    pub(super) fn opened(agent: AgentId) -> Self {
        Self { agent, recall: None }
    }

    /// Returns what a session has that exists.
    pub(super) fn of(record: &OrchestratorSessionRecord) -> Self {
        Self { agent: record.agent, recall: record.recall }
    }
}

/// A session with an actor.
struct AtWork {
    mailbox: mpsc::Sender<Command>,
    /// What its runs have from it, once its actor knows that it exists.
    binding: Option<SessionBinding>,
}

/// Starts the actor of a session.
type ActorStarter = dyn Fn(SessionRef, Directory, mpsc::Receiver<Command>) + Send + Sync;

/// The live session actors.
#[derive(Clone)]
pub(super) struct Directory {
    actors: Arc<Mutex<BTreeMap<SessionRef, AtWork>>>,
    /// The sessions of the runs that are being worked on.
    runs: Arc<Mutex<BTreeMap<RunId, SessionRef>>>,
    closing: Arc<AtomicBool>,
    /// Read by whoever takes an input, until that is durable; written by whoever must know that none is on its way.
    admissions: Arc<RwLock<()>>,
    starter: Arc<ActorStarter>,
}

impl Directory {
    pub(super) fn new(starter: Arc<ActorStarter>) -> Self {
        Self {
            actors: Arc::default(),
            runs: Arc::default(),
            closing: Arc::default(),
            admissions: Arc::default(),
            starter,
        }
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    /// Returns a guard that keeps [`no_admission`](Self::no_admission) waiting.
    pub(super) async fn admission(&self) -> OwnedRwLockReadGuard<()> {
        Arc::clone(&self.admissions).read_owned().await
    }

    /// Returns once no input is on its way into a run, with a guard that lets none in.
    pub(super) async fn no_admission(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.admissions).write_owned().await
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Says why an answer never came: whoever owed it panicked, perhaps after the commit, or everything stops.
    pub(super) fn lost_answer(&self) -> RequestError {
        if self.is_closing() { RequestError::ShuttingDown } else { AppendError::Unknown.into() }
    }

    /// Hands a command to the session's actor, which is started if there is none.
    pub(super) async fn send(&self, session: SessionRef, mut command: Command) {
        while let Err(mpsc::error::SendError(returned)) = self.mailbox(session).send(command).await {
            // Its actor had ended. When the executor ends, each new one does, and so does only a caller that yields.
            command = returned;
            tokio::task::yield_now().await;
        }
    }

    /// Tells every actor there is; one that starts later reads what is there then.
    pub(super) async fn tell_all_to_forget(&self) {
        for mailbox in self.mailboxes() {
            // One that has left remembers nothing.
            let _ = mailbox.send(Command::Forget).await;
        }
    }

    fn mailboxes(&self) -> Vec<mpsc::Sender<Command>> {
        let actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        actors.values().map(|at_work| at_work.mailbox.clone()).collect()
    }

    fn mailbox(&self, session: SessionRef) -> mpsc::Sender<Command> {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at_work) = actors.get(&session).filter(|at_work| !at_work.mailbox.is_closed()) {
            return at_work.mailbox.clone();
        }
        let (mailbox, commands) = mpsc::channel(MAILBOX_MAX);
        (self.starter)(session, self.clone(), commands);
        actors.insert(session, AtWork { mailbox: mailbox.clone(), binding: None });
        mailbox
    }

    /// Returns whether there are more actors than may stay with nothing to do.
    pub(super) fn is_crowded(&self) -> bool {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner).len() > RESTING_ACTORS_MAX
    }

    /// Takes note that a session exists, and of what its runs have from it.
    pub(super) fn register_binding(&self, session: SessionRef, binding: SessionBinding) {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at_work) = actors.get_mut(&session) {
            at_work.binding = Some(binding);
        }
    }

    /// Returns what the runs of a session have from it that is known to exist.
    pub(super) fn binding_of(&self, session: SessionRef) -> Option<SessionBinding> {
        let actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        actors.get(&session).and_then(|at_work| at_work.binding)
    }

    /// Takes note of what a session says about recall; without that, the next run looks into the journal.
    pub(super) fn note_recall(&self, session: SessionRef, recorded: Option<Option<RecallSwitch>>) {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at_work) = actors.get_mut(&session) {
            let binding = at_work.binding.zip(recorded);
            at_work.binding = binding.map(|(binding, recall)| SessionBinding { recall, ..binding });
        }
    }

    /// Takes note that a session works on a run.
    pub(super) fn mark_running(&self, run: RunId, session: SessionRef) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).insert(run, session);
    }

    /// Takes note that nobody works on a run any more.
    pub(super) fn clear_running(&self, run: RunId) {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
    }

    /// Returns the session that works on a run, or did until a moment ago.
    pub(super) fn session_of(&self, run: RunId) -> Option<SessionRef> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).get(&run).copied()
    }

    /// Forgets an actor that is about to leave, unless work has come for it meanwhile.
    pub(super) fn retire(
        &self,
        session: SessionRef,
        commands: &mut mpsc::Receiver<Command>,
    ) -> RetireOutcome {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if !commands.is_empty() {
            return RetireOutcome::WorkCame;
        }
        commands.close();
        actors.remove(&session);
        RetireOutcome::Gone
    }
}

/// Whether an actor may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetireOutcome {
    /// It may.
    Gone,
    /// It must look at its mailbox first.
    WorkCame,
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use palyra_types::{PrincipalId, SessionId};

    use super::*;

    /// At its end an executor drops each task that is spawned, and a worker that never yields keeps it from ending.
    #[test]
    fn a_command_whose_actors_end_at_once_yields_to_the_executor() {
        let directory = Directory::new(Arc::new(|_, _, commands| drop(commands)));
        let session =
            SessionRef { principal: PrincipalId::from_parts(1, 1), id: SessionId::from_parts(1, 2) };
        assert!(directory.send(session, Command::Wake).now_or_never().is_none());
    }
}
