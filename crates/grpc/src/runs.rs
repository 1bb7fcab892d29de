//! Runs without their tapes: input, cancel, looking and listing.

use palyra_ports::read_records::RunQuery;
use palyra_runtime::Caller;
use palyra_runtime::runs::{InputReceipt, RunsHandle};
use palyra_types::{Redacted, RunId};
use palyra_wire::v1::{
    CancelRunRequest, CancelRunResponse, GetRunRequest, GetRunResponse, Input, InputAccepted,
    ListRunsRequest, ListRunsResponse, SendInputRequest, SendInputResponse,
};

use crate::status::Refusal;
use crate::translate;

/// Answers `SendInput`.
pub(crate) async fn send_input(
    runs: &RunsHandle,
    caller: Caller,
    message: SendInputRequest,
) -> Result<SendInputResponse, Refusal> {
    let run = translate::id("run_id", &message.run_id)?;
    let accepted = give_input(runs, caller, run, message.input.unwrap_or_default()).await?;
    Ok(SendInputResponse { accepted: Some(accepted) })
}

/// Hands an input to a run: a waiting one takes it, else it becomes a new run of the session.
pub(crate) async fn give_input(
    runs: &RunsHandle,
    caller: Caller,
    run: RunId,
    input: Input,
) -> Result<InputAccepted, Refusal> {
    let key = translate::idempotency_key(input.idempotency_key);
    let InputReceipt { run, queued } = runs.send_input(caller, run, Redacted::new(input.text), key).await?;
    Ok(InputAccepted { run_id: run.to_string(), queued, ..InputAccepted::default() })
}

/// Answers `CancelRun`.
pub(crate) async fn cancel_run(
    runs: &RunsHandle,
    caller: Caller,
    message: CancelRunRequest,
) -> Result<CancelRunResponse, Refusal> {
    let receipt = runs.cancel(caller, translate::id("run_id", &message.run_id)?).await?;
    let state = translate::run_state(receipt.state);
    Ok(CancelRunResponse { state, already_finished: receipt.already_finished })
}

/// Answers `GetRun`.
pub(crate) async fn get_run(
    runs: &RunsHandle,
    caller: Caller,
    message: GetRunRequest,
) -> Result<GetRunResponse, Refusal> {
    let record = runs.get(caller, translate::id("run_id", &message.run_id)?).await?;
    Ok(GetRunResponse { run: Some(translate::run(&record)) })
}

/// Answers `ListRuns`.
pub(crate) async fn list_runs(
    runs: &RunsHandle,
    caller: Caller,
    message: ListRunsRequest,
) -> Result<ListRunsResponse, Refusal> {
    let session = match message.session_id.as_str() {
        "" => None,
        text => Some(translate::id("session_id", text)?),
    };
    let limit = translate::page_rows(message.page_size);
    let query = RunQuery {
        principal: caller.principal,
        session,
        only: translate::run_filter(&message.only)?,
        before: translate::run_cursor(&message.page_token)?,
        limit,
    };
    let records = runs.list(caller, query).await?;
    let next_page_token = translate::runs_cursor_after(&records, limit);
    Ok(ListRunsResponse { runs: records.iter().map(translate::run).collect(), next_page_token })
}
