//! Results of functions that a client performs, on their way into its run.

use palyra_run_core::RunInput;
use palyra_types::RunId;

use super::{RunsHandle, session_of};
use crate::error::RequestError;
use crate::run::InputData;
use crate::session::ClientResultsRequest;
use crate::session::client_tools::checked_results;
use palyra_admin::Caller;

impl RunsHandle {
    /// Gives a run the results of all calls that its model made of functions of the client; returns once they are
    /// durable. Results that the run took before, by their key, change nothing.
    ///
    /// # Errors
    /// [`RequestError::RunNotFound`], also for another principal's run; [`RequestError::RunFinished`];
    /// [`RequestError::RunNotWaiting`] where the run waits for other calls, or for none; [`RequestError::TooLarge`];
    /// [`RequestError::Append`].
    pub async fn answer_client_tools(
        &self,
        caller: Caller,
        run: RunId,
        request: ClientResultsRequest,
    ) -> Result<(), RequestError> {
        let record = self.get(caller, run).await?;
        if record.state.is_terminal() {
            return Err(RequestError::RunFinished);
        }
        let results = checked_results(&self.engine, caller, &request)?;
        let input = RunInput::ClientToolsAnswered(Box::new(results));
        let beside = InputData::by(caller.actor);
        self.sessions.deliver(session_of(&record), run, input, beside).await.map(drop)
    }
}
