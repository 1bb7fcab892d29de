//! Conversations, for callers.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::Caller;
use palyra_admin::ErasureSubscriber;
use palyra_context::references::PreviewedInput;
use palyra_journal_core::families::runs::SessionTextQuery;
use palyra_journal_core::families::{runs, sessions};
use palyra_journal_core::family::QueryFamilies;
use palyra_ports::AppendError;
use palyra_ports::read_records::{RECORD_PAGE_ROWS_MAX, SessionQuery, SessionTexts};
use palyra_run_core::RunInput;
use palyra_tape::TapeFollower;
use palyra_types::access::ActorIdentity;
use palyra_types::event::{RunEvent, RunStarted, TapeEvent};
use palyra_types::run::{CancelReason, RunLifecycleState};
use palyra_types::session::{OrchestratorSessionRecord, SessionRef};
use palyra_types::{Content, RunId, SessionId, TapeSeq};
use tokio::sync::{OwnedRwLockReadGuard, oneshot};

use crate::config::GatewayRuntimeConfigSnapshot;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::{DeliveryReceipt, InputData};
use crate::session::actor::SessionActor;
use crate::session::admission::{FollowMode, SubmitOptions};
use crate::session::directory::{Command, Directory};
use crate::session::loaded::open_runs;
use crate::session::prepared::{PreparedInput, prepare};
use crate::session::repeated::find_repeated;
use crate::session::request::{
    BranchRequest, CleanedSession, InputRequest, ResolvedSession, SessionChange, SessionSelector,
    SubmitReceipt, SubmitRequest,
};
use crate::session::{admission, branch, resolve};

/// Characters of a search, at most.
const SEARCH_CHARS_MAX: usize = 200;

/// Conversations, and the way in for new input.
#[derive(Clone)]
pub struct SessionsHandle {
    pub(super) engine: Arc<Engine>,
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
    pub async fn submit(
        &self,
        caller: Caller,
        request: SubmitRequest,
    ) -> Result<SubmitReceipt, RequestError> {
        self.submit_with(caller, request, None).await
    }

    /// Like [`submit`](Self::submit), with a follower of the whole tape if a run began with this: it was there before
    /// the first entry, so nothing has to be read.
    ///
    /// # Errors
    /// Those of [`submit`](Self::submit).
    pub async fn submit_followed(
        &self,
        caller: Caller,
        request: SubmitRequest,
    ) -> Result<(SubmitReceipt, Option<TapeFollower>), RequestError> {
        let _admission = self.admission().await?;
        let options = SubmitOptions { follow: FollowMode::Yes, ..SubmitOptions::default() };
        admission::submit(&self.engine, &self.directory, caller, request, options).await
    }

    /// Says what the references of an input would cost if it were submitted: judges each call as a new session of the caller
    /// would, and makes those that only read files and folders. Records nothing and asks neither a person nor a model.
    ///
    /// # Errors
    /// Those with which [`submit`](Self::submit) refuses the request.
    pub async fn preview_references(
        &self,
        caller: Caller,
        request: SubmitRequest,
    ) -> Result<PreviewedInput, RequestError> {
        self.check_open()?;
        admission::preview(&self.engine, &self.directory, caller, request).await
    }

    /// Checks and cleans what a person said, before anything of it is recorded.
    pub(crate) fn prepare(&self, caller: Caller, said: &InputRequest) -> Result<PreparedInput, RequestError> {
        prepare(&self.engine, caller, &said.text, &said.files, said.idempotency_key.as_ref())
    }

    /// Returns what became of the same input before.
    pub(crate) async fn repeated(
        &self,
        caller: Caller,
        prepared: &PreparedInput,
    ) -> Result<Option<SubmitReceipt>, RequestError> {
        find_repeated(&self.engine, caller, prepared).await
    }

    /// Like [`submit`](Self::submit), with workspace and model of an earlier run of the session.
    pub(crate) async fn submit_after(
        &self,
        caller: Caller,
        request: SubmitRequest,
        earlier: RunId,
    ) -> Result<SubmitReceipt, RequestError> {
        let page = self.engine.ports.tapes.tape(earlier, TapeSeq::default(), 1).await?;
        let first = page.entries.into_iter().next().map(|entry| entry.event);
        let started =
            if let Some(TapeEvent::Run(RunEvent::Started(started))) = first { Some(started) } else { None };
        self.submit_with(caller, request, started).await
    }

    async fn submit_with(
        &self,
        caller: Caller,
        request: SubmitRequest,
        earlier: Option<RunStarted>,
    ) -> Result<SubmitReceipt, RequestError> {
        let _admission = self.admission().await?;
        let options = SubmitOptions { earlier, ..SubmitOptions::default() };
        let (submitted, _) =
            admission::submit(&self.engine, &self.directory, caller, request, options).await?;
        Ok(submitted)
    }

    /// Refuses once the daemon is about to stop; else no [`close_if_idle`](Self::close_if_idle) comes between this and
    /// the drop of the guard.
    async fn admission(&self) -> Result<OwnedRwLockReadGuard<()>, RequestError> {
        let admission = self.directory.admission().await;
        self.check_open().map(|()| admission)
    }

    fn check_open(&self) -> Result<(), RequestError> {
        if self.directory.is_closing() { Err(RequestError::ShuttingDown) } else { Ok(()) }
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

    /// Opens a session that goes on from a place in a run; nothing is copied. Repeating it with the same id or key
    /// finds the session that it opened.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run; [`RequestError::BranchOutOfRange`] when the
    /// tape has not reached the place; [`RequestError::InvalidArgument`] when the selector names another session.
    pub async fn branch(
        &self,
        caller: Caller,
        selector: SessionSelector,
        agent: Option<String>,
        requested: BranchRequest,
    ) -> Result<ResolvedSession, RequestError> {
        self.check_open()?;
        branch::branch(&self.engine, &self.directory, caller, selector, agent, requested).await
    }

    /// Changes a session as a whole; returns it as it is once that is durable. What is so already stays so.
    ///
    /// # Errors
    /// [`RequestError::SessionNotFound`], also for another principal's session; [`RequestError::SessionArchived`] for
    /// a reset of an archived one.
    pub async fn change(
        &self,
        caller: Caller,
        session: SessionId,
        change: SessionChange,
    ) -> Result<OrchestratorSessionRecord, RequestError> {
        self.check_open()?;
        let session = SessionRef { principal: caller.actor.principal, id: session };
        resolve::change(&self.engine, &self.directory, session, change).await
    }

    /// Archives a session and asks all its open runs to stop; returns once all of that is durable.
    ///
    /// # Errors
    /// [`RequestError::SessionNotFound`], also for another principal's session. What was done before another error
    /// stays; repeating does the rest.
    pub async fn clean_up(&self, caller: Caller, session: SessionId) -> Result<CleanedSession, RequestError> {
        // Archived first, so that no run slips in behind the last one that is stopped.
        self.change(caller, session, SessionChange::Archive).await?;
        let session = SessionRef { principal: caller.actor.principal, id: session };
        let mut open = open_runs(&self.engine, session).await?;
        // The active one comes last: its end would let a queued one begin.
        open.sort_by_key(|record| record.state != RunLifecycleState::Pending);
        let mut cancelled_runs = 0;
        for record in open {
            let cancel = RunInput::Cancel { actor: caller.actor.principal, reason: CancelReason::User };
            match self.deliver(session, record.run, cancel, InputData::by(caller.actor)).await {
                Ok(_) => cancelled_runs += 1,
                Err(RequestError::RunFinished) => {}
                Err(error) => return Err(error),
            }
        }
        let record = self.engine.ports.session(session).await?.ok_or(RequestError::SessionNotFound)?;
        Ok(CleanedSession { record, cancelled_runs })
    }

    /// Returns what sessions of the caller are about, in their order; `search` is what an input is to hold.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn texts(
        &self,
        caller: Caller,
        sessions: Vec<SessionId>,
        search: Option<Content<String>>,
    ) -> Result<Vec<SessionTexts>, RequestError> {
        let own = |id| SessionRef { principal: caller.actor.principal, id };
        let query = SessionTextQuery { sessions: sessions.into_iter().map(own).collect(), search };
        Ok(self.engine.ports.families.query(move |rows, _| runs::session_texts(rows, &query)).await?)
    }

    /// Lists sessions of the caller, most recently used first; the query's principal is the caller's.
    ///
    /// # Errors
    /// [`RequestError::Read`]; [`RequestError::InvalidArgument`] for too long a search.
    pub async fn list(
        &self,
        caller: Caller,
        query: SessionQuery,
    ) -> Result<Vec<OrchestratorSessionRecord>, RequestError> {
        let chars = query.search.as_ref().map_or(0, |search| search.expose().chars().count());
        if chars > SEARCH_CHARS_MAX {
            let what = format!("a search has at most {SEARCH_CHARS_MAX} characters");
            return Err(RequestError::InvalidArgument { what });
        }
        let limit = query.limit.min(RECORD_PAGE_ROWS_MAX);
        let query = SessionQuery { principal: caller.actor.principal, limit, ..query };
        let families = &self.engine.ports.families;
        Ok(families.query(move |rows, _| sessions::records(rows, &query, runs::has_input)).await?)
    }

    /// Returns the configuration in force.
    #[must_use]
    pub fn config(&self) -> Arc<GatewayRuntimeConfigSnapshot> {
        Arc::clone(&self.engine.config.borrow())
    }

    /// Takes no new input from now on; runs stay resumable.
    pub fn close(&self) {
        self.directory.close();
    }

    /// Takes no new input from now on, unless a run is open or an input is on its way into one; returns how many are
    /// open. Nothing can begin between the count and the close.
    ///
    /// # Errors
    /// [`RequestError::Read`]; then nothing was closed.
    pub async fn close_if_idle(&self) -> Result<usize, RequestError> {
        let _no_admission = self.directory.no_admission().await;
        let open = self.engine.ports.families.query(|rows, _| runs::open(rows)).await?.len();
        if open == 0 {
            self.close();
        }
        Ok(open)
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
        self.engine.hub.close_on_fatal(&AppendError::Closed);
    }

    /// Returns the session that works on a run, if one does.
    pub(crate) fn at_work_on(&self, run: RunId) -> Option<SessionRef> {
        self.directory.session_of(run)
    }

    pub(crate) async fn deliver(
        &self,
        session: SessionRef,
        run: RunId,
        input: RunInput,
        beside: InputData,
    ) -> Result<DeliveryReceipt, RequestError> {
        let (reply, answer) = oneshot::channel();
        self.directory.send(session, Command::Deliver { run, input: Box::new(input), beside, reply }).await;
        answer.await.map_err(|_| self.directory.lost_answer())?
    }

    /// Hands a person's answer to a run, unless the daemon is about to stop: what it starts could not be awaited.
    pub(crate) async fn answer_approval(
        &self,
        session: SessionRef,
        run: RunId,
        input: RunInput,
        actor: ActorIdentity,
    ) -> Result<DeliveryReceipt, RequestError> {
        self.check_open()?;
        self.deliver(session, run, input, InputData::by(actor)).await
    }

    /// Makes a session take up what is open in it.
    pub(crate) async fn wake(&self, session: SessionRef) {
        self.directory.send(session, Command::Wake).await;
    }
}

impl ErasureSubscriber for SessionsHandle {
    /// Every session reads earlier runs again.
    fn forget_erased(&self) -> BoxFuture<'_, ()> {
        self.directory.tell_all_to_forget().boxed()
    }
}
