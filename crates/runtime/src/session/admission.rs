//! From a caller's request to a run that a session can take: checks, session, agent, model, workspace.

use std::sync::Arc;

use palyra_policy::AnswerSchema;
use palyra_ports::AppendError;
use palyra_types::agent::AgentRecord;
use palyra_types::event::RunStarted;
use palyra_types::model::ModelRef;
use palyra_types::run::{InputDelivery, RunSpec, Surface, UserInput};
use palyra_types::session::SessionRef;
use palyra_types::tool::Taints;
use palyra_types::{Redacted, RunId};
use tokio::sync::oneshot;

use crate::caller::Caller;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::identity::check_identity;
use crate::session::admitted::Admitted;
use crate::session::directory::{Command, Directory};
use crate::session::prepared::{PreparedInput, prepare};
use crate::session::repeated::find_repeated;
use crate::session::request::{ResetWish, SubmitRequest, Submitted};
use crate::session::resolve::{self, Place};
use crate::session::steering::{NO_ACTIVE_RUN, Steered, steer};
use crate::tape::TapeFollower;

/// Races for a key or an idempotency key are settled by the journal; the loser looks again, at most so often.
const RACES_MAX: u32 = 3;

/// The provider that takes no settings.
const BUILT_IN_PROVIDER: &str = "demo";

/// What a caller asks, and what belongs to it.
pub(super) struct Offer {
    request: SubmitRequest,
    /// An earlier run of the session, whose workspace and model are taken.
    earlier: Option<RunStarted>,
    follow: Follow,
}

/// Whether the run is to be followed from before its first entry on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follow {
    No,
    Yes,
}

impl Offer {
    pub(super) fn new(request: SubmitRequest) -> Self {
        Self { request, earlier: None, follow: Follow::No }
    }

    pub(super) fn after(self, earlier: Option<RunStarted>) -> Self {
        Self { earlier, ..self }
    }

    pub(super) fn followed(self) -> Self {
        Self { follow: Follow::Yes, ..self }
    }
}

/// What became of an offer; with a follower if it began a run that was to be followed.
type Taken = (Submitted, Option<TapeFollower>);

pub(super) async fn submit(
    engine: &Arc<Engine>,
    directory: &Directory,
    caller: Caller,
    offer: Offer,
) -> Result<Taken, RequestError> {
    let mut offered = Offered::new(engine, caller, offer)?;
    let mut lost = AppendError::GuardFailed { index: 0 };
    // The guard of its commit is the first to look whether a run was there before. Steering has no such guard.
    let mut look = offered.request.delivery == InputDelivery::Steer;
    for _ in 0..RACES_MAX {
        if look && let Some(submitted) = find_repeated(engine, caller, &offered.prepared).await? {
            return Ok((submitted, None));
        }
        look = true;
        let (selector, agent) = (&offered.request.session, offered.request.agent.as_deref());
        let place = match resolve::place(engine, directory, caller, selector, agent).await {
            Ok(place) => place,
            Err(error) => return unless_repeated(engine, caller, &offered, error).await,
        };
        if offered.request.delivery == InputDelivery::Steer {
            let steered = match &place {
                Place::Existing { session, .. } => steer(directory, *session, &offered.prepared).await?,
                Place::New(_) => Steered::NotTaken(NO_ACTIVE_RUN),
            };
            match steered {
                Steered::Joined(submitted) => return Ok((submitted, None)),
                Steered::NotTaken(note) => offered.becomes_a_run(note),
                Steered::SaidMeanwhile => continue,
            }
        }
        let skills = match engine.skills.activate(&engine.ports, place.agent()).await {
            Ok(skills) => skills,
            Err(error) => return unless_repeated(engine, caller, &offered, error.into()).await,
        };
        let admitted = offered.admit(engine, caller, place);
        let admitted = match admitted.map(|admitted| Admitted { skills, ..admitted }) {
            Ok(admitted) => admitted,
            Err(error) => return unless_repeated(engine, caller, &offered, error).await,
        };
        let follower = offered.follower(engine, admitted.spec.run);
        let (reply, answer) = oneshot::channel();
        let session = SessionRef { principal: caller.principal, id: admitted.spec.session };
        let command = Command::Submit { admitted: Box::new(admitted), reply };
        directory.send(session, command).await;
        match answer.await.map_err(|_| directory.lost_answer())? {
            Ok(submitted) => {
                let begun = follower.zip(submitted.begun_upto);
                return Ok((submitted, begun.map(|(follower, upto)| follower.begun(upto))));
            }
            Err(RequestError::Append(error @ AppendError::GuardFailed { .. })) => lost = error,
            // It may be this one that a look would find, and nobody knows whether that is on the disk.
            Err(error @ RequestError::Append(AppendError::Unknown)) => return Err(error),
            // What was taken before the session filled up, was put away or the disk was full is taken.
            Err(error) => return unless_repeated(engine, caller, &offered, error).await,
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
) -> Result<Taken, RequestError> {
    let repeated = find_repeated(engine, caller, &offered.prepared).await?;
    repeated.map(|submitted| (submitted, None)).ok_or(refusal)
}

/// A request with its input prepared.
struct Offered {
    request: SubmitRequest,
    prepared: PreparedInput,
    earlier: Option<RunStarted>,
    follow: Follow,
    notes: Vec<String>,
}

impl Offered {
    fn new(engine: &Engine, caller: Caller, offer: Offer) -> Result<Self, RequestError> {
        let Offer { request, earlier, follow } = offer;
        let key = request.idempotency_key.as_ref();
        let prepared = prepare(engine, caller, &request.input.text, &request.files, key)?;
        if let Some(format) = &request.response_format {
            check_identity(&*engine.ports.redactor, "the schema of the answer", format.schema.expose())?;
            AnswerSchema::compile(format.schema.expose())
                .map_err(|error| RequestError::InvalidArgument { what: error.to_string() })?;
        }
        if request.workspace_root.is_some() && caller.surface != Surface::LocalSocket {
            return Err(RequestError::WorkspaceRefused);
        }
        if let Some(root) = &request.workspace_root {
            let root = root.expose().to_string_lossy();
            check_identity(&*engine.ports.redactor, "the path of the workspace", &root)?;
        }
        if request.delivery == InputDelivery::Steer && request.session.reset == ResetWish::Reset {
            let what = "an input that steers a run cannot start its session afresh".to_owned();
            return Err(RequestError::InvalidArgument { what });
        }
        Ok(Self { request, prepared, earlier, follow, notes: Vec::new() })
    }

    /// Follows a run that is about to be accepted, if that is wished.
    fn follower(&self, engine: &Engine, run: RunId) -> Option<TapeFollower> {
        let follow = || TapeFollower::new(Arc::clone(&engine.ports.tapes), engine.hub.clone(), run);
        (self.follow == Follow::Yes).then(follow)
    }

    fn becomes_a_run(&mut self, note: &str) {
        self.request.delivery = InputDelivery::Queue;
        self.notes = vec![note.to_owned()];
    }

    fn admit(&self, engine: &Engine, caller: Caller, place: Place) -> Result<Admitted, RequestError> {
        let (request, earlier) = (&self.request, self.earlier.as_ref());
        let (session, agent, opening) = match place {
            Place::Existing { session, agent } => (session, agent, None),
            Place::New(opening) => (opening.session, opening.agent, Some(opening)),
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
            approvers: request.approvers,
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
        let unseen = unseen_images(engine, &self.prepared.input, &spec.model);
        let notes = self.notes.iter().cloned().chain(workspace.note).chain(unseen).collect();
        let blobs = self.prepared.blobs.clone();
        let (reset, taints) = (request.session.reset, Taints::NONE);
        Ok(Admitted { spec, opening, reset, blobs, notes, taints, skills: Vec::new() })
    }
}

/// Names the images of which the model learns the name alone, and the setting that changes this.
fn unseen_images(engine: &Engine, input: &UserInput, model: &ModelRef) -> Option<String> {
    let images = input.attachments.iter().filter(|file| file.is_image());
    let names: Vec<&str> = images.map(|file| file.name.expose().as_str()).collect();
    let directory = engine.ports.models.borrow();
    let provider = directory.provider(model)?;
    if names.is_empty() || provider.model_info(&model.model).capabilities.images {
        return None;
    }
    let names = names.join(", ");
    if model.provider.as_str() == BUILT_IN_PROVIDER {
        return Some(format!("{model} takes no images, so only the name of {names} was sent"));
    }
    let provider = &model.provider;
    if directory.is_blind(model) {
        return Some(format!(
            "{model} did not understand the test picture, so only the name of {names} was sent; \
             `providers.{provider}.images = true` sends it all the same"
        ));
    }
    Some(format!(
        "{model} is not known to take images, so only the name of {names} was sent; `palyra model test {model}` tries \
         it, `providers.{provider}.images = true` says that it does"
    ))
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
