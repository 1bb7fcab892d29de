//! From a caller's request to a run that a session can take: checks, session, agent, model, workspace.

use std::sync::Arc;

use palyra_ports::AppendError;
use palyra_types::agent::AgentRecord;
use palyra_types::event::{RunStarted, TapeEvent};
use palyra_types::model::ModelRef;
use palyra_types::run::{IdempotencyDigest, RunSpec, Surface, UserInput};
use palyra_types::tape::ContentState;
use palyra_types::{Redacted, RunId, TapeSeq};
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::admitted::Admitted;
use crate::session::directory::{Command, Directory};
use crate::session::request::{Admission, ResetWish, SubmitRequest, Submitted};
use crate::session::resolve::{self, Found};

/// Races for a key or an idempotency key are settled by the journal; the loser looks again, at most so often.
const RACES_MAX: u32 = 3;
/// Characters of an idempotency key, at most.
const IDEMPOTENCY_KEY_CHARS_MAX: usize = 200;

pub(super) async fn submit(
    engine: &Arc<Engine>,
    directory: &Directory,
    caller: Caller,
    request: SubmitRequest,
    earlier: Option<RunStarted>,
) -> Result<Submitted, RequestError> {
    check(engine, caller, &request)?;
    let key = request.idempotency_key.as_ref();
    let idempotency = key.map(|key| palyra_ledger::idempotency_digest(caller.principal, key));
    for _ in 0..RACES_MAX {
        if let Some(submitted) = attach(engine, caller, idempotency, &request.input).await? {
            return Ok(submitted);
        }
        let found = resolve::find(engine, caller, &request.session, request.agent.as_deref()).await?;
        let to_reset = match (&found, request.session.reset) {
            (Found::Existing(record), ResetWish::Reset) => Some(record.session),
            (Found::Existing(_), ResetWish::Keep) | (Found::New(_), _) => None,
        };
        let admitted = admit(engine, caller, &request, earlier.as_ref(), found, idempotency)?;
        if let Some(session) = to_reset {
            resolve::reset(directory, session).await?;
        }
        let (reply, answer) = oneshot::channel();
        let session =
            palyra_types::session::SessionRef { principal: caller.principal, id: admitted.spec.session };
        let command = Command::Submit { admitted: Box::new(admitted), reply };
        directory.send(session, command).await;
        match answer.await.map_err(|_| RequestError::ShuttingDown)? {
            Err(RequestError::Append(AppendError::GuardFailed { .. })) => {}
            settled => return settled,
        }
    }
    Err(RequestError::QueueFull)
}

/// Returns the run that an idempotency key started before.
pub(super) async fn attach(
    engine: &Engine,
    caller: Caller,
    idempotency: Option<IdempotencyDigest>,
    input: &UserInput,
) -> Result<Option<Submitted>, RequestError> {
    let Some(digest) = idempotency else { return Ok(None) };
    let records = &engine.ports.records;
    let Some(run) = records.run_by_idempotency(caller.principal, digest).await? else { return Ok(None) };
    let record = records.run(run).await?.ok_or(RequestError::RunNotFound)?;
    let page = engine.ports.tapes.tape(run, TapeSeq::default(), 1).await?;
    let cleaned = engine.ports.redactor.redact(input.text.clone());
    for entry in page.entries.iter().filter(|entry| entry.content == ContentState::Present) {
        if matches!(&entry.event, TapeEvent::RunStarted(started) if started.input.text != cleaned) {
            return Err(RequestError::IdempotencyConflict);
        }
    }
    Ok(Some(Submitted {
        run,
        session: record.session,
        session_created: false,
        admission: Admission::Attached,
        model: None,
        notes: Vec::new(),
    }))
}

fn check(engine: &Engine, caller: Caller, request: &SubmitRequest) -> Result<(), RequestError> {
    let text = request.input.text.expose();
    let bytes_max = engine.config.borrow().input_bytes_max;
    if text.len() > bytes_max {
        return Err(RequestError::TooLarge { bytes: text.len(), bytes_max });
    }
    if text.trim().is_empty() {
        return Err(RequestError::InvalidArgument { what: "the input is empty".to_owned() });
    }
    if request.workspace_root.is_some() && caller.surface != Surface::LocalSocket {
        return Err(RequestError::WorkspaceRefused);
    }
    let key = request.idempotency_key.as_ref().map(|key| key.expose().chars().count());
    if key.is_some_and(|chars| chars == 0 || chars > IDEMPOTENCY_KEY_CHARS_MAX) {
        let what = format!("an idempotency key has 1 to {IDEMPOTENCY_KEY_CHARS_MAX} characters");
        return Err(RequestError::InvalidArgument { what });
    }
    Ok(())
}

fn admit(
    engine: &Engine,
    caller: Caller,
    request: &SubmitRequest,
    earlier: Option<&RunStarted>,
    found: Found,
    idempotency: Option<IdempotencyDigest>,
) -> Result<Admitted, RequestError> {
    let (session, agent, opening) = match found {
        Found::Existing(record) => (record.session, record.agent, None),
        Found::New(opening) => (opening.session, opening.agent, Some(opening)),
    };
    let agent = engine.agents.by_id(agent).ok_or(RequestError::AgentNotFound)?;
    let model = choose_model(engine, request, earlier, &agent)?;
    let wanted = request.workspace_root.as_ref().or(earlier.map(|started| &started.workspace_root));
    let workspace = engine.ports.workspaces.choose(wanted, session)?;
    let config = Arc::clone(&engine.config.borrow());
    let now = engine.ports.clock.wall();
    let (ms, random) = engine.ports.entropy.id_parts(now);
    let text = engine.ports.redactor.redact(request.input.text.clone());
    let spec = RunSpec {
        run: RunId::from_parts(ms, random),
        session: session.id,
        principal: caller.principal,
        agent: agent.id,
        surface: caller.surface,
        input: UserInput::text(text),
        workspace_root: workspace.root,
        delivery: request.delivery,
        model,
        fallbacks: Vec::new(),
        response_format: None,
        limits: config.limits,
        config_digest: config.digest,
        run_salt: Redacted::new(engine.ports.entropy.bytes32()),
        idempotency,
    };
    Ok(Admitted { spec, opening, notes: workspace.note.into_iter().collect() })
}

fn choose_model(
    engine: &Engine,
    request: &SubmitRequest,
    earlier: Option<&RunStarted>,
    agent: &AgentRecord,
) -> Result<ModelRef, RequestError> {
    let directory = Arc::clone(&engine.ports.models.borrow());
    let model = (request.model.clone())
        .or_else(|| earlier.and_then(|started| started.model.expose().clone()))
        .or_else(|| agent.profile.model.clone())
        .unwrap_or_else(|| directory.default_model().clone());
    if directory.provider(&model).is_none() {
        return Err(RequestError::ModelNotConfigured { model: model.to_string() });
    }
    Ok(model)
}
