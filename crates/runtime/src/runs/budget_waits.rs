//! A person lets a run that waits for a budget go on once.

use palyra_admin::Caller;
use palyra_run_core::{BudgetWake, RunInput};
use palyra_types::RunId;
use palyra_types::run::{RunPhase, WaitReason};

use super::{RunsHandle, session_of};
use crate::error::RequestError;
use crate::run::InputData;

/// Said where limits that are raised do not help.
const DOES_NOT_HELP: &str = "going on once does not help this run: its model has no price under a budget that limits \
    money, or too many requests are in flight; `palyra budget` shows the budgets";

impl RunsHandle {
    /// Lets a run that waits for a budget go on once: the limits in its way are raised by what is missing, in their current
    /// windows.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`]; [`RequestError::RunNotWaiting`] for a run that does not wait for a budget;
    /// [`RequestError::InvalidArgument`] where it does not help.
    pub async fn go_on_once(&self, caller: Caller, run: RunId) -> Result<(), RequestError> {
        let record = self.ports.run(run).await?.ok_or(RequestError::RunNotFound)?;
        if record.phase != RunPhase::Waiting(WaitReason::Budget) {
            return Err(RequestError::RunNotWaiting);
        }
        if self.engine.views.budgets.may_go_on(run, &self.engine.runs.zones) == Some(false) {
            return Err(RequestError::InvalidArgument { what: DOES_NOT_HELP.to_owned() });
        }
        let input = RunInput::BudgetDue(BudgetWake::GoOnOnce);
        self.sessions.deliver(session_of(&record), run, input, InputData::by(caller.actor)).await?;
        Ok(())
    }
}
