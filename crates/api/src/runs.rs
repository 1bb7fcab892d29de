//! Runs without their tapes: input, cancel, looking and listing.

use std::path::PathBuf;

use palyra_ports::read_records::RunQuery;
use palyra_runtime::Caller;
use palyra_runtime::runs::{InputReach, InputReceipt, InputRequest, RunPage, RunsHandle};
use palyra_runtime::session::IncomingFile;
use palyra_types::event::Bookmark;
use palyra_types::{Content, RunId, Seq, TapeSeq};
use palyra_wire::v1::{
    self, CancelRunRequest, CancelRunResponse, GetRunRequest, GetRunResponse, Input, InputAccepted,
    ListRunsRequest, ListRunsResponse, Run, SendInputRequest, SendInputResponse,
};

use crate::api_error::ApiError;
use crate::files;
use crate::operations::OperationHandlers;
use crate::translate;
use crate::usage;

impl OperationHandlers {
    /// Answers `SendInput`.
    pub async fn send_input(
        &self,
        caller: Caller,
        message: SendInputRequest,
    ) -> Result<SendInputResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let mut input = message.input.unwrap_or_default();
        let files = files::inline(std::mem::take(&mut input.attachments))?;
        let reach = if message.this_run_only { InputReach::RunOnly } else { InputReach::RunOrNew };
        let said = InputRequest { reach, ..input_request(input, files)? };
        let accepted = give_input(&self.state.runs, caller, run, said).await?;
        Ok(SendInputResponse { accepted: Some(accepted) })
    }
}

/// Hands an input to a run: a waiting one takes it, one that works does if it steers, else it becomes a new run.
pub async fn give_input(
    runs: &RunsHandle,
    caller: Caller,
    run: RunId,
    said: InputRequest,
) -> Result<InputAccepted, ApiError> {
    let InputReceipt { run, queued, delivered, notes } = runs.send_input(caller, run, said).await?;
    Ok(InputAccepted {
        run_id: run.to_string(),
        queued,
        delivered_as: translate::input_delivery_to_wire(delivered).into(),
        note: notes.join("; "),
    })
}

/// Reads an input from the wire.
pub fn input_request(input: Input, files: Vec<IncomingFile>) -> Result<InputRequest, ApiError> {
    Ok(InputRequest {
        delivery: translate::input_delivery(input.delivery)?,
        text: Content::new(input.text),
        files,
        idempotency_key: translate::idempotency_key(input.idempotency_key),
        reach: InputReach::RunOrNew,
    })
}

impl OperationHandlers {
    /// Answers `CancelRun`.
    pub async fn cancel_run(
        &self,
        caller: Caller,
        message: CancelRunRequest,
    ) -> Result<CancelRunResponse, ApiError> {
        let receipt = self.state.runs.cancel(caller, translate::id("run_id", &message.run_id)?).await?;
        let state = translate::run_state(receipt.state);
        Ok(CancelRunResponse { state, already_finished: receipt.already_finished })
    }
}

impl OperationHandlers {
    /// Answers `GetRun`.
    pub async fn get_run(&self, caller: Caller, message: GetRunRequest) -> Result<GetRunResponse, ApiError> {
        let record = self.state.runs.get(caller, translate::id("run_id", &message.run_id)?).await?;
        let undone = self.state.runs.newest_undo(caller, record.run).await?.map(translate::run_undo);
        let cost = self.state.admin.usage.of_run(record.run).await?.map(usage::run_cost);
        Ok(GetRunResponse { run: Some(Run { undone, cost, ..translate::run(&record) }) })
    }
}

impl OperationHandlers {
    /// Answers `ListRuns`.
    pub async fn list_runs(
        &self,
        caller: Caller,
        message: ListRunsRequest,
    ) -> Result<ListRunsResponse, ApiError> {
        let session = match message.session_id.as_str() {
            "" => None,
            text => Some(translate::id("session_id", text)?),
        };
        let limit = translate::page_rows(message.page_size);
        let query = RunQuery {
            principal: caller.actor.principal,
            session,
            only: translate::run_filter(message.only)?,
            before: translate::run_cursor(&message.page_token)?,
            limit,
        };
        let folder = (!message.workspace_root.is_empty()).then(|| PathBuf::from(message.workspace_root));
        let RunPage { runs, next } = self.state.runs.list(caller, query, folder).await?;
        let next_page_token = next.map(|seq| seq.to_string()).unwrap_or_default();
        Ok(ListRunsResponse { runs: runs.iter().map(translate::run).collect(), next_page_token })
    }
}

impl OperationHandlers {
    /// Answers `PlaceBookmark`.
    pub async fn place_bookmark(
        &self,
        caller: Caller,
        message: v1::PlaceBookmarkRequest,
    ) -> Result<v1::PlaceBookmarkResponse, ApiError> {
        let run = translate::id("run_id", &message.run_id)?;
        let tape_seq = TapeSeq(message.tape_seq);
        self.state.runs.place_bookmark(caller, run, tape_seq, message.name.into()).await?;
        Ok(v1::PlaceBookmarkResponse {})
    }

    /// Answers `RemoveBookmark`.
    pub async fn remove_bookmark(
        &self,
        caller: Caller,
        message: v1::RemoveBookmarkRequest,
    ) -> Result<v1::RemoveBookmarkResponse, ApiError> {
        self.state.runs.remove_bookmark(caller, &message.name).await?;
        Ok(v1::RemoveBookmarkResponse {})
    }

    /// Answers `ListBookmarks`.
    pub async fn list_bookmarks(
        &self,
        caller: Caller,
        _message: v1::ListBookmarksRequest,
    ) -> Result<v1::ListBookmarksResponse, ApiError> {
        let bookmark = |(seq, bookmark): (Seq, Bookmark)| v1::Bookmark {
            seq: seq.0,
            run_id: bookmark.run.to_string(),
            tape_seq: bookmark.tape_seq.0,
            name: bookmark.name.into_exposed(),
        };
        let bookmarks = self.state.runs.bookmarks(caller).await?.into_iter().map(bookmark).collect();
        Ok(v1::ListBookmarksResponse { bookmarks })
    }
}
