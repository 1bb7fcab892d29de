//! Conversations, for callers.

use std::sync::Arc;

use palyra_ports::AppendError;
use palyra_ports::read_records::SessionQuery;
use palyra_ports::read_tape::MAX_TAPE_ENTRIES_PER_RESPONSE;
use palyra_run_core::RunInput;
use palyra_types::event::{RunStarted, TapeEvent};
use palyra_types::run::UserInput;
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{Redacted, RunId, SessionId, TapeSeq, Timestamp};
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::Delivered;
use crate::session::actor::SessionActor;
use crate::session::directory::{Command, Directory};
use crate::session::request::{ResolvedSession, SessionSelector, SubmitRequest, Submitted};
use crate::session::{admission, resolve};

/// Conversations, and the way in for new input.
#[derive(Clone)]
pub struct SessionsHandle {
    engine: Arc<Engine>,
    directory: Directory,
}

impl SessionsHandle {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        let for_actors = Arc::clone(&engine);
        let directory = Directory::new(Arc::new(move |session, directory, commands| {
            let actor = SessionActor::new(Arc::clone(&for_actors), session, directory);
            tokio::spawn(actor.run(commands));
        }));
        Self { engine, directory }
    }

    /// Takes an input: begins a run, or queues it behind the active one. Returns once it is durable.
    ///
    /// A known idempotency key attaches to the run it started before.
    ///
    /// # Errors
    /// Whatever [`RequestError`] names; nothing was taken then, except after
    /// [`palyra_ports::AppendError::Unknown`], where repeating with the same idempotency key tells.
    pub async fn submit(&self, caller: Caller, request: SubmitRequest) -> Result<Submitted, RequestError> {
        self.submit_with(caller, request, None).await
    }

    /// Returns the run that an idempotency key started before.
    pub(crate) async fn repeated(
        &self,
        caller: Caller,
        key: Option<&Redacted<String>>,
        input: &UserInput,
    ) -> Result<Option<RunId>, RequestError> {
        let digest = key.map(|key| palyra_ledger::idempotency_digest(caller.principal, key));
        let attached = admission::attach(&self.engine, caller, digest, input).await?;
        Ok(attached.map(|submitted| submitted.run))
    }

    /// Like [`submit`](Self::submit), with workspace and model of an earlier run of the session.
    pub(crate) async fn submit_after(
        &self,
        caller: Caller,
        request: SubmitRequest,
        earlier: RunId,
    ) -> Result<Submitted, RequestError> {
        let page = self.engine.ports.tapes.tape(earlier, TapeSeq::default(), 1).await?;
        let first = page.entries.into_iter().next().map(|entry| entry.event);
        let started = if let Some(TapeEvent::RunStarted(started)) = first { Some(started) } else { None };
        self.submit_with(caller, request, started).await
    }

    async fn submit_with(
        &self,
        caller: Caller,
        request: SubmitRequest,
        earlier: Option<RunStarted>,
    ) -> Result<Submitted, RequestError> {
        if self.directory.is_closing() {
            return Err(RequestError::ShuttingDown);
        }
        admission::submit(&self.engine, &self.directory, caller, request, earlier).await
    }

    /// Finds a session or opens it; resets it if asked.
    ///
    /// # Errors
    /// [`RequestError::SessionNotFound`] when it must exist and does not; [`RequestError::SessionMismatch`].
    pub async fn resolve(
        &self,
        caller: Caller,
        selector: SessionSelector,
        agent: Option<String>,
    ) -> Result<ResolvedSession, RequestError> {
        resolve::resolve_orchestrator_session(&self.engine, &self.directory, caller, selector, agent).await
    }

    /// Lists the caller's sessions, most recently used first.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn list(
        &self,
        caller: Caller,
        after: Option<(Timestamp, SessionId)>,
        limit: usize,
    ) -> Result<Vec<OrchestratorSessionRecord>, RequestError> {
        let limit = limit.min(MAX_TAPE_ENTRIES_PER_RESPONSE);
        let query = SessionQuery { principal: caller.principal, after, limit };
        Ok(self.engine.ports.records.sessions(query).await?)
    }

    /// Takes no new input from now on; runs stay resumable.
    pub fn close(&self) {
        self.directory.close();
    }

    /// Takes no new input, begins no run and asks no model from now on. Returns once every run is over, waits for a
    /// person, or is parked before its next model request; answers and tools that were begun may take their time.
    pub async fn drain(&self) {
        self.close();
        self.engine.drain.begin();
        self.engine.drain.at_rest().await;
    }

    /// Ends every following of a tape, each after the last committed entry.
    pub fn end_followers(&self) {
        self.engine.hub.heed(&AppendError::Closed);
    }

    /// Cleans an input at the session's door.
    pub(crate) fn clean(&self, input: UserInput) -> UserInput {
        UserInput::text(self.engine.ports.redactor.redact(input.text))
    }

    pub(crate) async fn deliver(
        &self,
        session: SessionRef,
        run: RunId,
        input: RunInput,
    ) -> Result<Delivered, RequestError> {
        let (reply, answer) = oneshot::channel();
        self.directory.send(session, Command::Deliver { run, input, reply }).await;
        answer.await.map_err(|_| RequestError::ShuttingDown)?
    }

    /// Makes a session take up what is open in it.
    pub(crate) async fn wake(&self, session: SessionRef) {
        self.directory.send(session, Command::Wake).await;
    }
}
