//! From a request to a run and its tape: repeated, continued, branched, or new. Results of functions go on in
//! `client_results.rs`.
//!
//! Invariant: a request that a client repeats by itself never starts a second run. The key of a run is made of the words
//! of the conversation, so this holds after a restart as well. Begin at [`OpenAiServices::start`].

use palyra_runtime::session::{
    AdmissionKind, BranchRequest, ExistingSession, IncomingFile, InputReach, InputRequest, SessionSelector,
    SubmitRequest,
};
use palyra_runtime::tape::TapeFollower;
use palyra_runtime::{Caller, RequestError};
use palyra_types::model::{ModelRef, ResponseFormat};
use palyra_types::run::{InputDelivery, RunPhase, UserInput, WaitReason};
use palyra_types::{Content, RunId, TapeSeq};
use serde_json::Value;

use super::attached_clients::{ClientGuard, LeavePolicy};
use super::client_hints::ClientHints;
use super::place_search::{AnswerSeen, ConversationPlace, PlacedRun, find_place};
use super::recent_bodies::KnownBody;
use super::request_slots::RequestSlots;
use super::run_texts::call_rounds;
use super::services::OpenAiServices;
use crate::conversation::{ClientConversation, RunText};
use crate::error_reply::ErrorReply;
use crate::identifiers::ResponseId;
use crate::request::offered_tools::OfferedFunctions;
use crate::request::requested_model::{NamedModel, RequestedModel};
use crate::request::sampling::ClientSampling;

/// Before the words of a client that asks on without the answer of the run before.
const UNSEEN_ANSWER: &str =
    "<note>The person has not seen your last answer, since it came late: begin with it.</note>";

/// What a run is asked.
pub(crate) struct RunRequest {
    pub(crate) model: NamedModel,
    pub(crate) conversation: ClientConversation,
    /// The response that it follows.
    pub(crate) previous: Option<ResponseId>,
    /// The schema of the answer.
    pub(crate) schema: Option<Value>,
    pub(crate) output_tokens_max: Option<u64>,
    pub(crate) sampling: ClientSampling,
    /// Functions that the client performs.
    pub(crate) functions: Option<OfferedFunctions>,
    pub(crate) hints: ClientHints,
    /// Digest of the whole request.
    pub(crate) body: Content<String>,
}

impl RunRequest {
    /// Returns the runs that began with the same words.
    pub(crate) fn slots(&self) -> RequestSlots {
        let scope = match self.previous {
            Some(previous) => format!("{} after {}", self.model.name, previous.run),
            None => self.model.name.clone(),
        };
        RequestSlots::new(&self.conversation.digest(&scope, self.conversation.messages().len()))
    }
}

/// A run and its tape from the first entry.
pub(crate) struct StartedRun {
    pub(crate) run: RunId,
    /// The part of it that answers the request.
    pub(crate) part: u32,
    pub(crate) follower: TapeFollower,
}

/// Who answers, as the runtime names it.
struct AnsweringModel {
    agent: Option<String>,
    model: Option<ModelRef>,
}

/// A run about to be started.
struct RunSubmission {
    answering: AnsweringModel,
    session: SessionSelector,
    input: RunText,
    key: Content<String>,
}

/// A run and its client.
pub(crate) struct AttachedRun {
    pub(crate) started: StartedRun,
    pub(crate) guard: ClientGuard,
}

impl OpenAiServices {
    /// Starts the run of a request and counts its client. A client that leaves during the call has left its run.
    pub(crate) async fn start_attached(
        &self,
        caller: Caller,
        request: RunRequest,
        policy: LeavePolicy,
    ) -> Result<AttachedRun, ErrorReply> {
        let services = self.clone();
        // A request that is dropped does not stop it: the run is then counted, and its client with it.
        let starting = tokio::spawn(async move {
            let answered = services.gateways.answering(request.hints.gateways.clone());
            let started = services.start(caller, request).await?;
            let guard = services.clients.attach(caller, started.run, policy).with_gateways(answered);
            Ok(AttachedRun { started, guard })
        });
        starting.await.unwrap_or_else(|_| {
            Err(ErrorReply::of_code(palyra_types::ErrorCode::Internal, "The run could not be started."))
        })
    }

    /// Starts the run of a request, or finds the one that it started before.
    pub(crate) async fn start(&self, caller: Caller, request: RunRequest) -> Result<StartedRun, ErrorReply> {
        let answering = self.answering_model(&request.model).await?;
        if let Some(brought) = request.conversation.results() {
            return self.go_on(caller, &request, &brought).await;
        }
        let (slots, number) = match self.repeated(caller, &request).await? {
            RepeatedRequest::Of(run) => return self.attach(caller, run, 0).await,
            RepeatedRequest::None { slots, number } => (slots, number),
        };
        let key = slots.key(number);
        let place = match request.previous {
            Some(previous) => self.previous_place(caller, previous).await?,
            None => find_place(&self.state, caller, &request.conversation, &request.model.name).await?,
        };
        match place {
            ConversationPlace::Waiting { run, known, reason } => {
                let input = request.conversation.input_after(known)?;
                self.answer_waiting(caller, run, input, reason, key).await
            }
            ConversationPlace::New => {
                let selector = SessionSelector { key: Some(key.clone()), ..SessionSelector::default() };
                let input = request.conversation.input_after(0)?;
                let submission = RunSubmission { answering, session: selector, input, key };
                self.submit(caller, &request, submission).await
            }
            ConversationPlace::After { run, known, seen } => {
                let mut input = request.conversation.input_after(known)?;
                if seen == AnswerSeen::No {
                    input.text = format!("{UNSEEN_ANSWER}\n\n{}", input.text);
                }
                let session = self.session_after(caller, run, &answering).await?;
                self.submit(caller, &request, RunSubmission { answering, session, input, key }).await
            }
        }
    }

    /// Attaches to a part of a run.
    pub(crate) async fn attach(
        &self,
        caller: Caller,
        run: RunId,
        part: u32,
    ) -> Result<StartedRun, ErrorReply> {
        let follower = self.state.tapes.follow(caller, run, TapeSeq::default()).await?;
        Ok(StartedRun { run, part, follower })
    }

    async fn answering_model(&self, named: &NamedModel) -> Result<AnsweringModel, ErrorReply> {
        let unknown = || ErrorReply::model_not_found(&named.name);
        match &named.model {
            RequestedModel::Agent(agent) => {
                self.state.agents.by_name(agent.as_deref()).map_err(|_| unknown())?;
                Ok(AnsweringModel { agent: agent.clone(), model: None })
            }
            RequestedModel::Direct(model) => {
                self.state.models.directory().provider(model).ok_or_else(unknown)?;
                let agent = self.state.agents.without_tools().await.map_err(RequestError::from)?;
                Ok(AnsweringModel { agent: Some(agent), model: Some(model.clone()) })
            }
        }
    }

    /// Finds the run that the same request started before.
    async fn repeated(&self, caller: Caller, request: &RunRequest) -> Result<RepeatedRequest, ErrorReply> {
        if let Some(key) = &request.hints.idempotency_key {
            let slots = RequestSlots::of_client_key(key);
            return Ok(match slots.run(&self.state.runs, caller, 0).await? {
                Some(run) if self.bodies.compare(run, &request.body) == KnownBody::Other => {
                    let code = palyra_types::ErrorCode::IdempotencyConflict;
                    return Err(ErrorReply::of_code(code, code.summary()));
                }
                Some(run) => RepeatedRequest::Of(run),
                None => RepeatedRequest::None { slots, number: 0 },
            });
        }
        let slots = request.slots();
        let number = slots.count(&self.state.runs, caller).await?;
        if let Some(last) = number.checked_sub(1)
            && let Some(run) = slots.run(&self.state.runs, caller, last).await?
            && self.is_repetition(caller, run, request).await?
        {
            return Ok(RepeatedRequest::Of(run));
        }
        Ok(RepeatedRequest::None { slots, number })
    }

    /// Returns whether a request about the same words is the one that started `run`: the client says that it repeats
    /// itself, or the run is still open.
    async fn is_repetition(
        &self,
        caller: Caller,
        run: RunId,
        request: &RunRequest,
    ) -> Result<bool, ErrorReply> {
        if self.bodies.compare(run, &request.body) == KnownBody::Other {
            return Ok(false);
        }
        let record = self.state.runs.get(caller, run).await?;
        let recent = self.clock.wall().since(record.created) <= self.spans.repeat_window;
        Ok(record.phase != RunPhase::Finished || (request.hints.retry_count > 0 && recent))
    }

    async fn previous_place(
        &self,
        caller: Caller,
        previous: ResponseId,
    ) -> Result<ConversationPlace, ErrorReply> {
        let not_found = || ErrorReply::previous_response_not_found(&previous.to_string());
        match self.state.runs.get_response(caller, previous.run).await {
            Ok(record) => {
                self.check_answered(caller, previous).await?;
                let run = PlacedRun { run: record.run, session: record.session };
                Ok(match record.phase {
                    RunPhase::Waiting(reason) => ConversationPlace::Waiting { run, known: 0, reason },
                    RunPhase::Queued | RunPhase::Running | RunPhase::Finished => {
                        ConversationPlace::After { run, known: 0, seen: AnswerSeen::Yes }
                    }
                })
            }
            Err(RequestError::RunNotFound) => Err(not_found()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the session that goes on after a run: its own where it is the last one there, else a branch.
    async fn session_after(
        &self,
        caller: Caller,
        run: PlacedRun,
        answering: &AnsweringModel,
    ) -> Result<SessionSelector, ErrorReply> {
        let own = SessionSelector {
            id: Some(run.session),
            existing: ExistingSession::Required,
            ..SessionSelector::default()
        };
        let session = self.state.sessions.resolve(caller, own.clone(), None).await?.record;
        let agent = self.state.agents.by_name(answering.agent.as_deref()).map_err(RequestError::from)?;
        if session.last_run == Some(run.run) && session.archived.is_none() && agent.id == session.agent {
            return Ok(own);
        }
        let wish = BranchRequest { run: run.run, tape_seq: None };
        let agent = answering.agent.clone().or_else(|| Some(agent.profile.name.into_exposed()));
        let branch = self.state.sessions.branch(caller, SessionSelector::default(), agent, wish).await?;
        Ok(SessionSelector { id: Some(branch.record.session.id), ..own })
    }

    async fn submit(
        &self,
        caller: Caller,
        request: &RunRequest,
        submission: RunSubmission,
    ) -> Result<StartedRun, ErrorReply> {
        let RunSubmission { answering, session, input, key } = submission;
        let schema = request.schema.as_ref().map(|schema| schema.to_string());
        let submit = SubmitRequest {
            files: incoming(&input),
            idempotency_key: Some(key),
            model: answering.model,
            agent: answering.agent,
            response_format: schema.map(|schema| ResponseFormat { schema: Content::new(schema.into()) }),
            // Of functions the client says with each request how long its answer can be.
            output_tokens_max: request.output_tokens_max.filter(|_| request.functions.is_none()),
            sampling: request.sampling.clone(),
            client_tools: self.offer(request),
            ..SubmitRequest::new(session, UserInput::text(Content::new(input.text)))
        };
        let (submitted, follower) = self.state.sessions.submit_followed(caller, submit).await?;
        if submitted.admission != AdmissionKind::Attached {
            self.bodies.note(submitted.run, request.body.clone());
        }
        match follower {
            Some(follower) => Ok(StartedRun { run: submitted.run, part: 0, follower }),
            None => self.attach(caller, submitted.run, 0).await,
        }
    }

    /// Gives what the client says to a run that waits: an answer where it is asked for one, else a remark for its next
    /// request of the model.
    async fn answer_waiting(
        &self,
        caller: Caller,
        run: PlacedRun,
        input: RunText,
        reason: WaitReason,
        key: Content<String>,
    ) -> Result<StartedRun, ErrorReply> {
        let delivery = match reason {
            WaitReason::Question
            | WaitReason::LoopCheck
            | WaitReason::OutcomeUnknown
            | WaitReason::Budget => InputDelivery::Queue,
            WaitReason::Approval | WaitReason::UnknownKind | WaitReason::ClientTool => InputDelivery::Steer,
        };
        let said = InputRequest {
            files: incoming(&input),
            text: Content::new(input.text),
            delivery,
            idempotency_key: Some(key),
            reach: InputReach::RunOrNew,
        };
        let receipt = self.state.runs.send_input(caller, run.run, said).await?;
        let part = call_rounds(&self.state.tapes, caller, receipt.run).await?.latest_part();
        self.attach(caller, receipt.run, part).await
    }
}

enum RepeatedRequest {
    Of(RunId),
    None { slots: RequestSlots, number: u32 },
}

pub(crate) fn incoming(input: &RunText) -> Vec<IncomingFile> {
    let file = |file: &crate::request::client_message::ClientFile| IncomingFile {
        name: file.name.clone().into(),
        media_type: file.media_type.clone().into(),
        content: Content::new(file.bytes.expose().as_slice().into()),
    };
    input.files.iter().map(file).collect()
}
