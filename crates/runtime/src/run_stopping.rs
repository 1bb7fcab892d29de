//! What upkeep and self-healing do with runs and sessions: ending open runs before their content is erased, waking those
//! that wait for a budget, moving those that are stuck, and archiving sessions.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_admin::Caller;
use palyra_admin::budgets::BudgetWaker;
use palyra_admin::erasure::{EraseContentError, RunStopper};
use palyra_admin::healing::{HealRuns, RunBoard};
use palyra_admin::upkeep::SessionArchiver;
use palyra_background::TickFailure;
use palyra_ports::{Clock, EraseError};
use palyra_run_core::{BudgetWake, RunInput};
use palyra_tape::TapeHandle;
use palyra_types::run::{CancelReason, RunRecord};
use palyra_types::session::SessionRef;
use palyra_types::{PrincipalId, RunId, Timestamp};

use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::InputData;
use crate::session::{SessionChange, SessionsHandle};

/// How long a cancelled run may take to its end; tools have their own, shorter grace.
const ENDING_SPAN_MAX: Duration = Duration::from_secs(60);

/// Cancels runs and follows their tapes to the end.
#[derive(Clone)]
pub(crate) struct RunCanceller {
    pub(crate) sessions: SessionsHandle,
    pub(crate) tapes: TapeHandle,
    pub(crate) clock: Arc<dyn Clock>,
}

impl RunStopper for RunCanceller {
    fn stop<'a>(
        &'a self,
        authoriser: PrincipalId,
        record: &'a RunRecord,
    ) -> BoxFuture<'a, Result<(), EraseContentError>> {
        let run = record.run;
        let over = async move {
            let caller = Caller::at_socket(record.principal);
            let mut follower = self.tapes.follow(caller, run, record.last_tape_seq).await?;
            let session = SessionRef { principal: record.principal, id: record.session };
            let cancel = RunInput::Cancel { actor: authoriser, reason: CancelReason::User };
            match self.sessions.deliver(session, run, cancel, InputData::default()).await {
                Ok(_) | Err(RequestError::RunFinished) => {}
                Err(error) => return Err(error),
            }
            while follower.next().await?.is_some() {}
            Ok(())
        };
        async move {
            let too_late = self.clock.sleep_until(self.clock.boot().after(ENDING_SPAN_MAX));
            tokio::select! {
                over = over => over.map_err(|error: RequestError| {
                    EraseContentError::Run { code: error.code(), what: error.to_string() }
                }),
                () = too_late => Err(EraseError::OpenRun(run).into()),
            }
        }
        .boxed()
    }
}

impl SessionArchiver for SessionsHandle {
    fn archive(&self, session: SessionRef) -> BoxFuture<'_, Result<(), TickFailure>> {
        let caller = Caller::at_socket(session.principal);
        async move {
            let archived = self.change(caller, session.id, SessionChange::Archive).await;
            archived.map(|_| ()).map_err(TickFailure::new)
        }
        .boxed()
    }
}

impl BudgetWaker for SessionsHandle {
    fn look_again(&self, session: SessionRef, run: RunId) -> BoxFuture<'_, Result<(), TickFailure>> {
        let input = RunInput::BudgetDue(BudgetWake::Check);
        async move {
            match self.deliver(session, run, input, InputData::default()).await {
                // A person let it go on, or it ended, in the same moment.
                Ok(_) | Err(RequestError::RunFinished | RequestError::RunNotWaiting) => Ok(()),
                Err(error) => Err(TickFailure::new(error)),
            }
        }
        .boxed()
    }
}

/// Shows runs to self-healing, and moves those that are stuck.
pub(crate) struct RunHealer {
    pub(crate) engine: Arc<Engine>,
    pub(crate) canceller: RunCanceller,
}

impl HealRuns for RunHealer {
    fn board(&self) -> &RunBoard {
        &self.engine.hub.board
    }

    fn resume(&self, session: SessionRef) -> BoxFuture<'_, Result<(), TickFailure>> {
        self.canceller.sessions.wake(session).map(Ok).boxed()
    }

    fn cancel(&self, session: SessionRef, run: RunId) -> BoxFuture<'_, Result<(), TickFailure>> {
        // No person asked for it: for a client, its time is over.
        let cancel = RunInput::Cancel { actor: session.principal, reason: CancelReason::TimeLimit };
        let sessions = &self.canceller.sessions;
        async move {
            match sessions.deliver(session, run, cancel, InputData::default()).await {
                Ok(_) | Err(RequestError::RunFinished) => Ok(()),
                Err(error) => Err(TickFailure::new(error)),
            }
        }
        .boxed()
    }

    fn expire_approvals(&self) {
        self.engine.asking.look_again();
    }

    fn may_expire(&self, now: Timestamp) -> bool {
        now >= self.engine.runs.newest_entry()
    }

    fn is_followed(&self, run: RunId) -> bool {
        self.engine.hub.is_followed(run)
    }

    fn attention_changed(&self) {
        self.engine.hub.attention_changed();
    }
}
