//! Starting a run, alone or as the first frame of a stream.

use std::path::PathBuf;

use palyra_runtime::session::{AdmissionKind, IncomingFile, SubmitReceipt, SubmitRequest};
use palyra_runtime::tape::{TapeFollower, TapeHandle};
use palyra_runtime::{Caller, GatewayRuntimeState, RequestError};
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::model::ModelRef;
use palyra_types::run::UserInput;
use palyra_types::sampling::SamplingOptions;
use palyra_types::{Content, RunId, TapeSeq};
use palyra_wire::v1::{Opened, StartRunRequest, StartRunResponse};

use crate::api_error::ApiError;
use crate::files;
use crate::operations::OperationHandlers;
use crate::translate;

impl OperationHandlers {
    /// Answers `StartRun`.
    pub async fn start_run(
        &self,
        caller: Caller,
        mut message: StartRunRequest,
    ) -> Result<StartRunResponse, ApiError> {
        check_model(&self.state, &message)?;
        let files = files::inline(std::mem::take(&mut message.attachments))?;
        let offered_root = offered_root(&self.state, caller);
        let request =
            SubmitRequest { offered_root, ..submit_request(with_whole_model(&self.state, message), files)? };
        let submitted = self.state.sessions.submit(caller, request).await?;
        Ok(StartRunResponse { opened: Some(opened(&self.state, caller, submitted).await?) })
    }
}

/// Starts a run, joins the one that it steers, or finds the one that its idempotency key started; returns what to say
/// of it first, and its tape from the first entry on.
pub async fn start_followed(
    state: &GatewayRuntimeState,
    caller: Caller,
    message: StartRunRequest,
    files: Vec<IncomingFile>,
) -> Result<(Opened, TapeFollower, RunId), ApiError> {
    check_model(state, &message)?;
    let offered_root = offered_root(state, caller);
    let request = SubmitRequest { offered_root, ..submit_request(with_whole_model(state, message), files)? };
    let (submitted, follower) = state.sessions.submit_followed(caller, request).await?;
    let run = submitted.run;
    let opened = opened(state, caller, submitted).await?;
    let follower = match follower {
        Some(follower) => follower,
        None => state.tapes.follow(caller, run, TapeSeq::default()).await?,
    };
    Ok((opened, follower, run))
}

/// Returns the folder that a session of the web console may use.
pub(crate) fn offered_root(state: &GatewayRuntimeState, caller: Caller) -> Option<Content<PathBuf>> {
    state.admin.access.page_folder(caller.actor.credential?)
}

/// Refuses a client that has seen another default model than the one in force.
fn check_model(state: &GatewayRuntimeState, message: &StartRunRequest) -> Result<(), ApiError> {
    let directory = state.models.directory();
    let seen = &message.model_fingerprint;
    if seen.is_empty() || *seen == directory.origin().fingerprint {
        return Ok(());
    }
    Err(RequestError::ModelMismatch { model: directory.default_model().to_string() }.into())
}

/// Returns the model that a run started with, from its first entry.
pub async fn model_of(tapes: &TapeHandle, caller: Caller, run: RunId) -> Result<Option<ModelRef>, ApiError> {
    let page = tapes.page(caller, run, TapeSeq::default(), 1).await?;
    Ok(page.entries.into_iter().find_map(|entry| match entry.event {
        TapeEvent::Run(RunEvent::Started(started)) => started.model.into_exposed(),
        _ => None,
    }))
}

/// Writes the model of a request as provider/model where it names a part that one configured model alone has.
pub(crate) fn with_whole_model(state: &GatewayRuntimeState, message: StartRunRequest) -> StartRunRequest {
    let whole = state.models.directory().model_named(&message.model).map(|model| model.to_string());
    StartRunRequest { model: whole.unwrap_or(message.model), ..message }
}

/// Reads the request for a run.
///
/// # Errors
/// [`ApiError`]: a field has a value that it cannot have.
pub fn submit_request(message: StartRunRequest, files: Vec<IncomingFile>) -> Result<SubmitRequest, ApiError> {
    Ok(SubmitRequest {
        delivery: translate::input_delivery(message.delivery)?,
        approvers: translate::approvers(message.approve)?,
        session: translate::session_selector(message.session)?,
        input: UserInput::text(Content::new(message.input)),
        files,
        response_format: translate::response_format(&message.response_schema)?,
        idempotency_key: translate::idempotency_key(message.idempotency_key),
        workspace_root: translate::workspace_root(message.workspace_root)?,
        working_folder: translate::absolute_path("working_folder", message.working_folder)?,
        offered_root: None,
        model: translate::model(&message.model)?,
        agent: translate::agent_name(message.agent),
        client_tools: None,
        output_tokens_max: None,
        sampling: SamplingOptions::default(),
    })
}

async fn opened(
    state: &GatewayRuntimeState,
    caller: Caller,
    submitted: SubmitReceipt,
) -> Result<Opened, ApiError> {
    let model = match submitted.model {
        Some(model) => Some(model),
        None => model_of(&state.tapes, caller, submitted.run).await?,
    };
    Ok(Opened {
        run_id: submitted.run.to_string(),
        session_id: submitted.session.to_string(),
        attached: matches!(submitted.admission, AdmissionKind::Attached | AdmissionKind::Joined),
        session_created: submitted.session_created,
        notes: submitted.notes,
        model: model.map(|model| model.to_string()).unwrap_or_default(),
        checkpoint: None,
    })
}
