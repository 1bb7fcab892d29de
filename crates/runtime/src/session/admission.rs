//! From a caller's request to a run that a session can take: checks, session, agent, model, workspace.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_admin::models::{ModelChain, ModelChoice, ModelOrder, chain_of_run};
use palyra_admin::{AdminError, Caller};
use palyra_context::references::PreviewedInput;
use palyra_policy::AnswerSchema;
use palyra_ports::{AppendError, CheckedText, SecretFound};
use palyra_tape::TapeFollower;
use palyra_types::agent::AgentRecord;
use palyra_types::client_tool::ClientToolOffer;
use palyra_types::event::RunStarted;
use palyra_types::model::{ModelRef, ResponseFormat};
use palyra_types::recall::{RecallSetting, RecallSwitches};
use palyra_types::run::{InputDelivery, RunLimits};
use palyra_types::sampling::SamplingOptions;
use palyra_types::skill::ActivatedSkill;
use palyra_types::surface::{Surface, WorkspaceRootSource};
use palyra_types::tool::Taints;
use palyra_types::{Content, Redacted, RunId};
use tokio::sync::oneshot;

use crate::config::GatewayRuntimeConfigSnapshot;
use crate::engine::Engine;
use crate::error::RequestError;
use crate::run::preview_references;
use crate::session::admitted::{AdmittedRun, RunSpec};
use crate::session::client_tools::checked_offer;
use crate::session::directory::{Command, Directory, SessionBinding};
use crate::session::prepared::{PreparedInput, prepare};
use crate::session::repeated::find_repeated;
use crate::session::request::{ResetMode, SubmitReceipt, SubmitRequest};
use crate::session::resolve::{self, SessionTarget};
use crate::session::steering::{NO_ACTIVE_RUN, SteerOutcome, steer};

const WORKSPACE_PATH: &str = "the path of the workspace";
/// Races for a key or an idempotency key are settled by the journal; the loser looks again, at most so often.
const RACES_MAX: u32 = 3;

/// What a caller wants beside the request itself.
#[derive(Default)]
pub(super) struct SubmitOptions {
    /// An earlier run of the session, whose workspace and model are taken.
    pub(super) earlier: Option<RunStarted>,
    /// Whether the run is to be followed from before its first entry on.
    pub(super) follow: FollowMode,
    /// Whether the folder of the run is made where it is not there.
    pub(super) folder: FolderUse,
}

/// Whether a run is to be followed from before its first entry on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FollowMode {
    #[default]
    No,
    Yes,
}

/// Whether the folder of a run is made where it is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum FolderUse {
    #[default]
    Make,
    Look,
}

/// What became of a request; with a follower if it began a run that was to be followed.
type SubmitOutcome = (SubmitReceipt, Option<TapeFollower>);

pub(super) async fn submit(
    engine: &Arc<Engine>,
    directory: &Directory,
    caller: Caller,
    request: SubmitRequest,
    options: SubmitOptions,
) -> Result<SubmitOutcome, RequestError> {
    let mut validated = ValidatedSubmit::new(engine, caller, request, options)?;
    let mut lost = AppendError::GuardFailed { index: 0 };
    // The guard of its commit is the first to look whether a run was there before. Steering has no such guard.
    let mut look = validated.request.delivery == InputDelivery::Steer;
    for _ in 0..RACES_MAX {
        if look && let Some(submitted) = find_repeated(engine, caller, &validated.prepared).await? {
            return Ok((submitted, None));
        }
        look = true;
        let (selector, agent) = (&validated.request.session, validated.request.agent.as_deref());
        let place = match resolve::place(engine, directory, caller, selector, agent).await {
            Ok(place) => place,
            Err(error) => return unless_repeated(engine, caller, &validated, error).await,
        };
        if validated.request.delivery == InputDelivery::Steer {
            let steered = match &place {
                SessionTarget::Existing { session, .. } => {
                    steer(directory, *session, &validated.prepared, caller.actor).await?
                }
                SessionTarget::New(_) => SteerOutcome::NotTaken(NO_ACTIVE_RUN),
            };
            match steered {
                SteerOutcome::Joined(submitted) => return Ok((submitted, None)),
                SteerOutcome::NotTaken(note) => validated.becomes_a_run(note),
                SteerOutcome::SaidMeanwhile => continue,
            }
        }
        let skills = match engine.views.skills.activate(place.agent()).await {
            Ok(skills) => skills,
            Err(error) => {
                return unless_repeated(engine, caller, &validated, AdminError::from(error).into()).await;
            }
        };
        let mut admitted = match validated.admit(engine, caller, place, skills) {
            Ok(admitted) => admitted,
            Err(error) => return unless_repeated(engine, caller, &validated, error).await,
        };
        validated.read_project(engine, caller, &mut admitted).await;
        recall(engine, &mut admitted).await;
        let follower = validated.follower(engine, admitted.spec.run);
        let (reply, answer) = oneshot::channel();
        let session = admitted.spec.session;
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
            Err(error) => return unless_repeated(engine, caller, &validated, error).await,
        }
    }
    unless_repeated(engine, caller, &validated, lost.into()).await
}

/// Says what the references of an input would cost; records nothing.
pub(super) async fn preview(
    engine: &Engine,
    directory: &Directory,
    caller: Caller,
    request: SubmitRequest,
) -> Result<PreviewedInput, RequestError> {
    let options = SubmitOptions { folder: FolderUse::Look, ..SubmitOptions::default() };
    let validated = ValidatedSubmit::new(engine, caller, request, options)?;
    let SubmitRequest { session, agent, .. } = &validated.request;
    let place = resolve::place(engine, directory, caller, session, agent.as_deref()).await?;
    let skills = engine.views.skills.activate(place.agent()).await.map_err(AdminError::from)?;
    let RunSpec { run, session, started, .. } = validated.admit(engine, caller, place, skills)?.spec;
    Ok(preview_references(&engine.runs, session, run, started).await.unwrap_or_default())
}

/// Refuses, unless the same request was taken before: then that is the answer, whatever speaks against it now.
async fn unless_repeated(
    engine: &Engine,
    caller: Caller,
    validated: &ValidatedSubmit,
    refusal: RequestError,
) -> Result<SubmitOutcome, RequestError> {
    let repeated = find_repeated(engine, caller, &validated.prepared).await?;
    repeated.map(|submitted| (submitted, None)).ok_or(refusal)
}

/// A request that was checked, with its input prepared.
struct ValidatedSubmit {
    request: SubmitRequest,
    prepared: PreparedInput,
    response_format: Option<ResponseFormat>,
    sampling: SamplingOptions,
    client_tools: Option<ClientToolOffer>,
    earlier: Option<RunStarted>,
    follow: FollowMode,
    folder: FolderUse,
    notes: Vec<String>,
}

impl ValidatedSubmit {
    fn new(
        engine: &Engine,
        caller: Caller,
        request: SubmitRequest,
        options: SubmitOptions,
    ) -> Result<Self, RequestError> {
        let SubmitOptions { earlier, follow, folder } = options;
        let key = request.idempotency_key.as_ref();
        let prepared = prepare(engine, caller, &request.input.text, &request.files, key)?;
        let response_format = request
            .response_format
            .as_ref()
            .map(|format| check_format(engine, caller, format))
            .transpose()?;
        let sampling = check_sampling(engine, caller, &request.sampling)?;
        let offer = request.client_tools.as_ref();
        let client_tools = offer.map(|offer| checked_offer(engine, caller, offer)).transpose()?;
        if let Some(root) = &request.workspace_root {
            identity(engine, caller, root.clone(), WORKSPACE_PATH)?;
        }
        if request.delivery == InputDelivery::Steer && request.session.reset == ResetMode::Reset {
            let what = "an input that steers a run cannot start its session afresh".to_owned();
            return Err(RequestError::InvalidArgument { what });
        }
        Ok(Self {
            request,
            response_format,
            sampling,
            client_tools,
            prepared,
            earlier,
            follow,
            folder,
            notes: Vec::new(),
        })
    }

    /// Follows a run that is about to be accepted, if that is wished.
    fn follower(&self, engine: &Engine, run: RunId) -> Option<TapeFollower> {
        let follow = || TapeFollower::new(Arc::clone(&engine.ports.tapes), engine.hub.clone(), run);
        (self.follow == FollowMode::Yes).then(follow)
    }

    fn becomes_a_run(&mut self, note: &str) {
        self.request.delivery = InputDelivery::Queue;
        self.notes = vec![note.to_owned()];
    }

    /// Adds what the project of the workspace says.
    async fn read_project(&self, engine: &Engine, caller: Caller, admitted: &mut AdmittedRun) {
        let started = &mut admitted.spec.started;
        let folder = self.request.working_folder.as_ref().map(|folder| folder.expose().as_path());
        let reading = engine.views.project_rules.of_run(caller, &started.workspace_root, folder).await;
        if reading.has_data() {
            started.taints = started.taints.with(Taints::WORKSPACE);
        }
        started.project_files = reading.files;
        admitted.notes.extend(reading.notes);
    }

    fn admit(
        &self,
        engine: &Engine,
        caller: Caller,
        place: SessionTarget,
        skills: Vec<ActivatedSkill>,
    ) -> Result<AdmittedRun, RequestError> {
        let (request, earlier) = (&self.request, self.earlier.as_ref());
        let (session, binding, opening) = match place {
            SessionTarget::Existing { session, binding } => (session, binding, None),
            SessionTarget::New(opening) => {
                (opening.session, SessionBinding::opened(opening.agent), Some(opening))
            }
        };
        let agent = engine.views.agents.by_id(binding.agent).ok_or(AdminError::AgentNotFound)?;
        let model = choose_model(engine, request, earlier, &agent)?;
        let wanted = wanted_root(engine, caller, request, earlier, &agent)?;
        let workspace = match self.folder {
            FolderUse::Make => engine.ports.workspaces.choose(wanted.as_ref(), session)?,
            FolderUse::Look => engine.ports.workspaces.look(wanted.as_ref(), session)?,
        };
        // A link may lead to a folder of another name.
        let workspace_root = identity(engine, caller, workspace.root, WORKSPACE_PATH)?;
        let config = Arc::clone(&engine.config.borrow());
        let now = engine.ports.clock.wall();
        let run = engine.ports.entropy.new_id(now);
        let choice = ModelChoice::of(request.model.as_ref(), earlier);
        let order = ModelOrder { preference: config.model_order, catalogue: config.prices.as_deref(), now };
        let directory = Arc::clone(&engine.ports.models.borrow());
        let ModelChain { model, fallbacks } = chain_of_run(&directory, model, choice, &order);
        let unseen = directory.note_unseen_images(&self.prepared.input, &model, &fallbacks);
        let started = RunStarted {
            agent: agent.id,
            surface: caller.actor.surface,
            limits: within(config.limits, request.output_tokens_max),
            config_digest: config.digest,
            idempotency: self.prepared.idempotency,
            delivery: request.delivery,
            approvers: request.approvers,
            taints: engine.views.occurrences.of(self.prepared.idempotency).unwrap_or(Taints::NONE),
            skills,
            input: self.prepared.input.clone(),
            workspace_root,
            project_files: Vec::new(),
            recalled: Vec::new(),
            recall: Some(recall_setting(&config, caller.actor.surface, binding, &agent)),
            compaction: None,
            model: Some(model).into(),
            fallbacks: fallbacks.into(),
            response_format: self.response_format.clone(),
            sampling: Box::new(self.sampling.clone()),
            run_salt: engine.ports.entropy.bytes32().into(),
        };
        let spec = RunSpec { run, session, started, client_tools: self.client_tools.clone() };
        let notes = self.notes.iter().cloned().chain(workspace.note).chain(unseen).collect();
        let (reset, blobs) = (request.session.reset, self.prepared.blobs.clone());
        Ok(AdmittedRun { spec, opening, reset, blobs, actor: caller.actor, notes, no_erasure: None })
    }
}

/// Returns whether a run is given items of memory unasked: the narrowest level that says something wins.
fn recall_setting(
    config: &GatewayRuntimeConfigSnapshot,
    surface: Surface,
    session: SessionBinding,
    agent: &AgentRecord,
) -> RecallSetting {
    let channel = surface.profile().recall;
    let configuration = config.recalls_memory.into();
    let agent = agent.profile.recall;
    RecallSwitches { session: session.recall, channel, agent, configuration }.setting()
}

/// Adds the learned preferences of the person of a run, and what is remembered.
async fn recall(engine: &Engine, admitted: &mut AdmittedRun) {
    let RunSpec { session, started, .. } = &mut admitted.spec;
    let preferences = engine.config.borrow().learning.is_enabled.into();
    let memories = &engine.views.memories;
    let no_erasure = engine.conversations.recall(memories, *session, started, preferences).await;
    admitted.no_erasure = no_erasure.map(Arc::new);
}

/// Returns the folder in which a run is to work, if one is named: by the client, an earlier run of its session, or its agent.
fn wanted_root(
    engine: &Engine,
    caller: Caller,
    request: &SubmitRequest,
    earlier: Option<&RunStarted>,
    agent: &AgentRecord,
) -> Result<Option<Content<PathBuf>>, RequestError> {
    let former = earlier.map(|started| started.workspace_root.clone().into());
    let roots = &agent.profile.workspace_roots;
    match (caller.actor.surface.profile().workspace_root, &request.workspace_root) {
        (WorkspaceRootSource::Client, named) => Ok(named.clone().or(former)),
        (WorkspaceRootSource::Agent, None) => Ok(former.or_else(|| roots.first().cloned().map(Into::into))),
        (WorkspaceRootSource::Agent, Some(named)) if request.offered_root.as_ref() == Some(named) => {
            Ok(Some(named.clone()))
        }
        (WorkspaceRootSource::Agent, Some(named)) => {
            let found = engine.ports.workspaces.below_roots(named.expose(), roots);
            found.map(Some).ok_or(RequestError::WorkspaceRefused)
        }
    }
}

/// Returns the limits of a run that may write fewer tokens.
fn within(limits: RunLimits, output_tokens_max: Option<u64>) -> RunLimits {
    let asked = output_tokens_max.unwrap_or(limits.output_tokens_max);
    RunLimits { output_tokens_max: limits.output_tokens_max.min(asked), ..limits }
}

/// Refuses a schema of an answer that holds a secret or is none.
fn check_format(
    engine: &Engine,
    caller: Caller,
    format: &ResponseFormat<Content<Arc<str>>>,
) -> Result<ResponseFormat, RequestError> {
    let schema = identity(engine, caller, format.schema.clone(), "the schema of the answer")?;
    AnswerSchema::compile(schema.expose())
        .map_err(|error| RequestError::InvalidArgument { what: error.to_string() })?;
    Ok(ResponseFormat { schema })
}

/// Refuses settings with a text that holds a secret.
fn check_sampling(
    engine: &Engine,
    caller: Caller,
    options: &SamplingOptions<Content<String>>,
) -> Result<SamplingOptions, RequestError> {
    let checked = |text: &Content<String>| identity(engine, caller, text.clone(), "a text to stop at");
    Ok(options.with_stop(options.stop.iter().map(checked).collect::<Result<_, _>>()?))
}

/// Refuses a value that holds a secret and may not be changed.
fn identity<T: CheckedText>(
    engine: &Engine,
    caller: Caller,
    value: Content<T>,
    field: &'static str,
) -> Result<Redacted<T>, RequestError> {
    let checked = engine.ports.recorder.check(caller.actor.principal, value);
    checked.map_err(|SecretFound { .. }| AdminError::SecretInIdentity { field }.into())
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
        return Err(AdminError::ModelNotConfigured { model: model.to_string() }.into());
    }
    Ok(model)
}
