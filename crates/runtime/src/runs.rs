//! Runs, for callers: looking, answering, cancelling.

use std::sync::Arc;

use palyra_ports::read_records::RunQuery;
use palyra_types::run::{CancelReason, InputDelivery, RunLifecycleState, RunRecord, UserInput};
use palyra_types::session::SessionRef;
use palyra_types::{Redacted, RunId};

use palyra_run_core::RunInput;

use crate::caller::Caller;
use crate::error::RequestError;
use crate::parts::RuntimePorts;
use crate::session::{ExistingSession, SessionSelector, SessionsHandle, SubmitRequest};

/// Looks at runs and speaks to them.
#[derive(Clone)]
pub struct RunsHandle {
    ports: Arc<RuntimePorts>,
    sessions: SessionsHandle,
}

/// The receipt of a durable cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CancelReceipt {
    /// The run's state after the wish was recorded.
    pub state: RunLifecycleState,
    /// Whether the run was over before.
    pub already_finished: bool,
}

/// The receipt of a durable input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputReceipt {
    /// The run that got it.
    pub run: RunId,
    /// Whether a new run was queued for it.
    pub queued: bool,
}

impl RunsHandle {
    pub(crate) fn new(ports: Arc<RuntimePorts>, sessions: SessionsHandle) -> Self {
        Self { ports, sessions }
    }

    /// Returns a run.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run.
    pub async fn get(&self, caller: Caller, run: RunId) -> Result<RunRecord, RequestError> {
        let record = self.ports.records.run(run).await?;
        record.filter(|record| record.principal == caller.principal).ok_or(RequestError::RunNotFound)
    }

    /// Lists runs of the caller, newest first; the query's principal is the caller's.
    ///
    /// # Errors
    /// [`RequestError::Read`].
    pub async fn list(&self, caller: Caller, query: RunQuery) -> Result<Vec<RunRecord>, RequestError> {
        Ok(self.ports.records.runs(RunQuery { principal: caller.principal, ..query }).await?)
    }

    /// Asks a run to stop; returns once the wish is durable. Cancelling a finished run is not an error.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; [`RequestError::Append`] when it could not be recorded.
    pub async fn cancel(&self, caller: Caller, run: RunId) -> Result<CancelReceipt, RequestError> {
        let record = self.get(caller, run).await?;
        let finished = CancelReceipt { state: record.state, already_finished: true };
        if record.state.is_terminal() {
            return Ok(finished);
        }
        let input = RunInput::Cancel { actor: caller.principal, reason: CancelReason::User };
        match self.sessions.deliver(session_of(&record), run, input).await {
            Ok(delivered) => Ok(CancelReceipt { state: delivered.state, already_finished: false }),
            Err(RequestError::RunFinished) => {
                let record = self.get(caller, run).await?;
                Ok(CancelReceipt { state: record.state, already_finished: true })
            }
            Err(error) => Err(error),
        }
    }

    /// Sends an input: a waiting run takes it as the answer; else it becomes a new run of the session.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; those of [`SessionsHandle::submit`].
    pub async fn send_input(
        &self,
        caller: Caller,
        run: RunId,
        text: Redacted<String>,
        idempotency_key: Option<Redacted<String>>,
    ) -> Result<InputReceipt, RequestError> {
        let record = self.get(caller, run).await?;
        let input = UserInput::text(text);
        // What was sent before is the run that it became, even if this run waits for an answer by now.
        let key = idempotency_key.as_ref();
        if let Some(run) = self.sessions.repeated(caller, key, &input).await? {
            return Ok(InputReceipt { run, queued: true });
        }
        if !record.state.is_terminal() {
            let answer = RunInput::Input { input: self.sessions.clean(input.clone()), idempotency: None };
            match self.sessions.deliver(session_of(&record), run, answer).await {
                Ok(_) => return Ok(InputReceipt { run, queued: false }),
                Err(RequestError::RunNotWaiting | RequestError::RunFinished) => {}
                Err(error) => return Err(error),
            }
        }
        let session = SessionSelector {
            id: Some(record.session),
            existing: ExistingSession::Required,
            ..SessionSelector::default()
        };
        let request = SubmitRequest {
            session,
            input,
            delivery: InputDelivery::Queue,
            idempotency_key,
            workspace_root: None,
            model: None,
            agent: None,
        };
        let submitted = self.sessions.submit_after(caller, request, run).await?;
        Ok(InputReceipt { run: submitted.run, queued: true })
    }
}

fn session_of(record: &RunRecord) -> SessionRef {
    SessionRef { principal: record.principal, id: record.session }
}
