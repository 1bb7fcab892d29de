//! From a caller's request to a run that a session can take: checks, session, agent, model, workspace.

use std::sync::Arc;

use palyra_policy::AnswerSchema;
use palyra_ports::AppendError;
use palyra_types::agent::AgentRecord;
use palyra_types::event::RunStarted;
use palyra_types::model::ModelRef;
use palyra_types::run::{InputDelivery, RunSpec, Surface};
use palyra_types::session::SessionRef;
use palyra_types::{Redacted, RunId};
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::session::admitted::Admitted;
use crate::session::directory::{Command, Directory};
use crate::session::prepared::{PreparedInput, prepare};
use crate::session::repeated::find_repeated;
use crate::session::request::{ResetWish, SubmitRequest, Submitted};
use crate::session::resolve::{self, Found};
use crate::session::steering::{NO_ACTIVE_RUN, Steered, steer};

/// Races for a key or an idempotency key are settled by the journal; the loser looks again, at most so often.
const RACES_MAX: u32 = 3;

pub(super) async fn submit(
    engine: &Arc<Engine>,
    directory: &Directory,
    caller: Caller,
    request: SubmitRequest,
    earlier: Option<RunStarted>,
) -> Result<Submitted, RequestError> {
    let mut offered = Offered::new(engine, caller, request, earlier)?;
    let mut lost = AppendError::GuardFailed { index: 0 };
    // A request that opens a session of its own meets nobody there: the guard of its commit is the first to look.
    let mut look = offered.request.session.names_a_session();
    for _ in 0..RACES_MAX {
        if look && let Some(submitted) = find_repeated(engine, caller, &offered.prepared).await? {
            return Ok(submitted);
        }
        look = true;
        let (selector, agent) = (&offered.request.session, offered.request.agent.as_deref());
        let found = match resolve::find(engine, caller, selector, agent).await {
            Ok(found) => found,
            Err(error) => return unless_repeated(engine, caller, &offered, error).await,
        };
        if offered.request.delivery == InputDelivery::Steer {
            let steered = match &found {
                Found::Existing(record) => steer(directory, record.session, &offered.prepared).await?,
                Found::New(_) => Steered::NotTaken(NO_ACTIVE_RUN),
            };
            match steered {
                Steered::Joined(submitted) => return Ok(submitted),
                Steered::NotTaken(note) => offered.becomes_a_run(note),
                Steered::SaidMeanwhile => continue,
            }
        }
        let admitted = match offered.admit(engine, caller, found) {
            Ok(admitted) => admitted,
            Err(error) => return unless_repeated(engine, caller, &offered, error).await,
        };
        let (reply, answer) = oneshot::channel();
        let session = SessionRef { principal: caller.principal, id: admitted.spec.session };
        let command = Command::Submit { admitted: Box::new(admitted), reply };
        directory.send(session, command).await;
        match answer.await.map_err(|_| directory.lost_answer())? {
            Err(RequestError::Append(error @ AppendError::GuardFailed { .. })) => lost = error,
            // What was taken before the session filled up or was put away is taken.
            Err(error @ (RequestError::QueueFull | RequestError::SessionArchived)) => {
                return unless_repeated(engine, caller, &offered, error).await;
            }
            settled => return settled,
        }
    }
    unless_repeated(engine, caller, &offered, lost.into()).await
}

/// Refuses, unless the same request was taken before: then that is the answer, whatever speaks against it now.
async fn unless_repeated(
    engine: &Engine,
    caller: Caller,
    offered: &Offered,
    refusal: RequestError,
) -> Result<Submitted, RequestError> {
    let repeated = find_repeated(engine, caller, &offered.prepared).await?;
    repeated.ok_or(refusal)
}

/// A request with its input prepared.
struct Offered {
    request: SubmitRequest,
    prepared: PreparedInput,
    earlier: Option<RunStarted>,
    notes: Vec<String>,
}

impl Offered {
    fn new(
        engine: &Engine,
        caller: Caller,
        request: SubmitRequest,
        earlier: Option<RunStarted>,
    ) -> Result<Self, RequestError> {
        let key = request.idempotency_key.as_ref();
        let prepared = prepare(engine, caller, &request.input.text, &request.files, key)?;
        if let Some(format) = &request.response_format {
            AnswerSchema::compile(format.schema.expose())
                .map_err(|error| RequestError::InvalidArgument { what: error.to_string() })?;
        }
        if request.workspace_root.is_some() && caller.surface != Surface::LocalSocket {
            return Err(RequestError::WorkspaceRefused);
        }
        if request.delivery == InputDelivery::Steer && request.session.reset == ResetWish::Reset {
            let what = "an input that steers a run cannot start its session afresh".to_owned();
            return Err(RequestError::InvalidArgument { what });
        }
        Ok(Self { request, prepared, earlier, notes: Vec::new() })
    }

    fn becomes_a_run(&mut self, note: &str) {
        self.request.delivery = InputDelivery::Queue;
        self.notes = vec![note.to_owned()];
    }

    fn admit(&self, engine: &Engine, caller: Caller, found: Found) -> Result<Admitted, RequestError> {
        let (request, earlier) = (&self.request, self.earlier.as_ref());
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
        let spec = RunSpec {
            run: RunId::from_parts(ms, random),
            session: session.id,
            principal: caller.principal,
            agent: agent.id,
            surface: caller.surface,
            input: self.prepared.input.clone(),
            workspace_root: workspace.root,
            delivery: request.delivery,
            // Who names a model means that one.
            fallbacks: match request.model {
                Some(_) => Vec::new(),
                None => engine.ports.models.borrow().fallbacks_of(&model),
            },
            model,
            response_format: request.response_format.clone(),
            limits: config.limits,
            config_digest: config.digest,
            run_salt: Redacted::new(engine.ports.entropy.bytes32()),
            idempotency: self.prepared.idempotency,
        };
        let notes = self.notes.iter().cloned().chain(workspace.note).collect();
        let blobs = self.prepared.blobs.clone();
        Ok(Admitted { spec, opening, reset: request.session.reset, blobs, notes })
    }
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
