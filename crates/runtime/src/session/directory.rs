//! Finds the actor of a session, and starts it when somebody asks.
//!
//! Invariant: at most one actor per session takes work. An actor that has nothing to do leaves; the next
//! request starts a new one, which reads where things stand from the journal.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use palyra_run_core::RunInput;
use palyra_types::RunId;
use palyra_types::session::SessionRef;
use tokio::sync::{mpsc, oneshot};

use crate::error::RequestError;
use crate::run::DeliverReply;
use crate::session::admitted::Admitted;
use crate::session::request::Submitted;

/// Requests waiting for one session actor.
const MAILBOX_MAX: usize = 64;

/// What a session actor is asked.
pub(super) enum Command {
    /// A new run.
    Submit { admitted: Box<Admitted>, reply: oneshot::Sender<Result<Submitted, RequestError>> },
    /// Something for one of its runs.
    Deliver { run: RunId, input: RunInput, reply: DeliverReply },
    /// Start afresh.
    Reset { reply: oneshot::Sender<Result<(), RequestError>> },
    /// Take up what is open.
    Wake,
}

/// Starts the actor of a session.
type Starter = dyn Fn(SessionRef, Directory, mpsc::Receiver<Command>) + Send + Sync;

/// The live session actors.
#[derive(Clone)]
pub(super) struct Directory {
    actors: Arc<Mutex<BTreeMap<SessionRef, mpsc::Sender<Command>>>>,
    closing: Arc<AtomicBool>,
    starter: Arc<Starter>,
}

impl Directory {
    pub(super) fn new(starter: Arc<Starter>) -> Self {
        Self { actors: Arc::default(), closing: Arc::default(), starter }
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Hands a command to the session's actor, which is started if there is none.
    pub(super) async fn send(&self, session: SessionRef, mut command: Command) {
        loop {
            match self.mailbox(session).send(command).await {
                Ok(()) => return,
                // The actor left between the look and the knock; the command came back.
                Err(mpsc::error::SendError(returned)) => command = returned,
            }
        }
    }

    fn mailbox(&self, session: SessionRef) -> mpsc::Sender<Command> {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mailbox) = actors.get(&session).filter(|mailbox| !mailbox.is_closed()) {
            return mailbox.clone();
        }
        let (mailbox, commands) = mpsc::channel(MAILBOX_MAX);
        (self.starter)(session, self.clone(), commands);
        actors.insert(session, mailbox.clone());
        mailbox
    }

    /// Forgets an actor that is about to leave, unless work has come for it meanwhile.
    pub(super) fn retire(&self, session: SessionRef, commands: &mut mpsc::Receiver<Command>) -> Retired {
        let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
        if !commands.is_empty() {
            return Retired::WorkCame;
        }
        commands.close();
        actors.remove(&session);
        Retired::Gone
    }
}

/// Whether an actor may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retired {
    /// It may.
    Gone,
    /// It must look at its mailbox first.
    WorkCame,
}
