//! `/v1/responses`, and what can be done with a response later.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use palyra_runtime::RequestError;
use palyra_types::event::{RunEvent, TapeEvent};
use palyra_types::run::{RunPhase, WaitReason};
use serde_json::json;

use super::attached_clients::LeavePolicy;
use super::models::model_name;
use super::openai_call::{OpenAiCall, no_response, object_response};
use super::run_start::{AttachedRun, RunRequest};
use super::run_texts::{each_entry, text_items};
use super::streamed::{EventShape, StreamParts, streamed};
use super::whole::{ObjectShape, WholeParts};
use crate::conversation::ClientConversation;
use crate::error_reply::ErrorReply;
use crate::identifiers::{ResponseId, ResponseRetention, parse_message_id};
use crate::input_items::{INPUT_ITEMS_MAX, InputItems, ItemOrder};
use crate::reply::answer_reader::AnswerReader;
use crate::reply::response_object::{RequestEcho, ResponseFacts};
use crate::reply::response_stream::ResponseStream;
use crate::request::requested_model::AGENT_MODEL;
use crate::request::response_request::{ResponseDelivery, ResponseRequest};

/// The header that names what was asked for and is not there.
const IGNORED_TOOLS: HeaderName = HeaderName::from_static("x-palyra-ignored-tools");
/// Items of a page where the client does not say.
const INPUT_ITEMS_DEFAULT: usize = 20;

/// Makes a response.
pub(crate) async fn create(mut call: OpenAiCall) -> Result<Response, ErrorReply> {
    let body = call.json().await?;
    let request = ResponseRequest::parse(&body.value)?;
    let hints = call.hints()?;
    let caller = call.caller();
    let timeout = hints.timeout;
    let conversation = ClientConversation::new(request.instructions.as_deref(), request.input);
    let run_request = RunRequest {
        model: request.model.clone(),
        conversation: with_references(&call, conversation).await?,
        previous: request.previous,
        schema: request.schema,
        output_tokens_max: request.output_tokens_max,
        sampling: request.sampling,
        functions: request.functions,
        hints,
        body: body.digest,
    };
    let policy = match request.retention {
        ResponseRetention::Background => LeavePolicy::Continue,
        ResponseRetention::Stored | ResponseRetention::Unstored => LeavePolicy::Cancel,
    };
    let attached = call.services.start_attached(caller, run_request, policy).await?;
    let AttachedRun { started, guard } = attached;
    let id = ResponseId { run: started.run, part: started.part, retention: request.retention };
    let facts = ResponseFacts { id, model: request.model.name, created: 0, echo: request.echo };
    let stream = Box::new(ResponseStream::new(facts));
    let watch = call.watch();
    let mut answer = match (request.delivery, request.retention) {
        (ResponseDelivery::Stream, _) => {
            let shape = EventShape::Response { stream, after: None };
            streamed(StreamParts { started, shape, watch, guard })
        }
        (ResponseDelivery::Whole, ResponseRetention::Background) => {
            object_response(&so_far(&call, *stream).await?.object())
        }
        (ResponseDelivery::Whole, ResponseRetention::Stored | ResponseRetention::Unstored) => {
            let shape = ObjectShape::Response(stream);
            let parts = WholeParts { started, shape, watch, guard, caller, timeout };
            object_response(&call.services.whole(parts).await?)
        }
    };
    note_ignored_tools(answer.headers_mut(), &request.ignored_tools);
    Ok(answer)
}

/// Names the hosted tools of a request that do not exist here, in a header of the answer.
fn note_ignored_tools(headers: &mut HeaderMap, ignored: &[String]) {
    if ignored.is_empty() {
        return;
    }
    if let Ok(names) = HeaderValue::from_str(&ignored.join(", ")) {
        headers.insert(IGNORED_TOOLS, names);
    }
}

/// Returns the conversation with the words of our own messages that the client names by their ids.
async fn with_references(
    call: &OpenAiCall,
    conversation: ClientConversation,
) -> Result<ClientConversation, ErrorReply> {
    let mut known = BTreeMap::new();
    for message in conversation.messages() {
        let Some(reference) = &message.reference else { continue };
        let missing =
            || ErrorReply::invalid(message.path.clone(), "The item does not exist, or was not stored.");
        let said = parse_message_id(reference).ok_or_else(missing)?;
        match call.services.state.runs.get_response(call.caller(), said.run).await {
            Err(RequestError::RunNotFound) => return Err(missing()),
            found => found?,
        };
        let items = text_items(&call.services.state.tapes, call.caller(), said.run, said.part).await?;
        let item = usize::try_from(said.index).ok().and_then(|index| items.into_iter().nth(index));
        known.insert(reference.clone(), item.ok_or_else(missing)?);
    }
    conversation.with_references(|reference| {
        known.get(reference).cloned().ok_or_else(|| ErrorReply::malformed("An item does not exist."))
    })
}

/// Returns a response as it is now.
async fn so_far(call: &OpenAiCall, mut stream: ResponseStream) -> Result<ResponseStream, ErrorReply> {
    let ResponseId { run, part, .. } = stream.id();
    let mut reader = AnswerReader::new(part);
    each_entry(&call.services.state.tapes, call.caller(), run, |entry| {
        for step in reader.read(entry) {
            stream.events(&step);
        }
    })
    .await?;
    Ok(stream)
}

/// Reads the id in the path: a response that was stored, belongs to the caller and was not deleted.
async fn stored(call: &OpenAiCall) -> Result<ResponseId, ErrorReply> {
    let id = ResponseId::parse(&call.name).filter(|id| id.retention != ResponseRetention::Unstored);
    let id = id.ok_or_else(no_response)?;
    match call.services.state.runs.get_response(call.caller(), id.run).await {
        Ok(_) => Ok(id),
        Err(RequestError::RunNotFound) => Err(no_response()),
        Err(error) => Err(error.into()),
    }
}

/// Returns a stream for a response that is read again: of its request only the model is known.
async fn stream_again(call: &OpenAiCall, id: ResponseId) -> Result<ResponseStream, ErrorReply> {
    let mut model = None;
    let page =
        call.services.state.tapes.page(call.caller(), id.run, palyra_types::TapeSeq::default(), 1).await?;
    for entry in page.entries {
        if let TapeEvent::Run(RunEvent::Started(started)) = entry.event {
            let agent = call.services.state.agents.by_id(started.agent);
            model = agent.map(|agent| model_name(&agent, started.model.expose().as_ref()));
        }
    }
    let model = model.unwrap_or_else(|| AGENT_MODEL.to_owned());
    Ok(ResponseStream::new(ResponseFacts { id, model, created: 0, echo: RequestEcho::default() }))
}

/// Returns a response, or its events after a number.
pub(crate) async fn retrieve(call: OpenAiCall) -> Result<Response, ErrorReply> {
    let id = stored(&call).await?;
    let stream = stream_again(&call, id).await?;
    if call.parameter("stream") != Some("true") {
        return Ok(object_response(&so_far(&call, stream).await?.object()));
    }
    let after = match call.parameter("starting_after") {
        None => None,
        Some(number) => Some(number.parse().map_err(|_| {
            ErrorReply::invalid("starting_after", "`starting_after` is the number of an event.")
        })?),
    };
    let started = call.services.attach(call.caller(), id.run, id.part).await?;
    let guard = call.services.clients.attach(call.caller(), id.run, LeavePolicy::Continue);
    let shape = EventShape::Response { stream: Box::new(stream), after };
    Ok(streamed(StreamParts { started, shape, watch: call.watch(), guard }))
}

/// Cancels a response in the background.
pub(crate) async fn cancel(call: OpenAiCall) -> Result<Response, ErrorReply> {
    let id = stored(&call).await?;
    if id.retention != ResponseRetention::Background {
        return Err(ErrorReply::malformed(
            "Only a response in the background can be cancelled; close the others.",
        ));
    }
    call.services.state.runs.cancel(call.caller(), id.run).await?;
    // The run ends by its own last entry, which is awaited: the answer says how.
    let stream = stream_again(&call, id).await?;
    let mut follower = call.services.attach(call.caller(), id.run, id.part).await?.follower;
    while follower.next().await?.is_some() {}
    Ok(object_response(&so_far(&call, stream).await?.object()))
}

/// Deletes a response: it is no longer found by its id. Its run stays in the journal.
pub(crate) async fn delete(call: OpenAiCall) -> Result<Response, ErrorReply> {
    let id = stored(&call).await?;
    match call.services.state.runs.delete_response(call.caller(), id.run).await {
        Ok(()) => {
            end_unanswerable(&call, id).await?;
            Ok(object_response(&json!({ "id": id.to_string(), "object": "response", "deleted": true })))
        }
        Err(RequestError::RunNotFound) => Err(no_response()),
        Err(error) => Err(error.into()),
    }
}

/// Cancels the run of a deleted response that waits for its client: nothing can bring the results any more.
async fn end_unanswerable(call: &OpenAiCall, id: ResponseId) -> Result<(), ErrorReply> {
    let runs = &call.services.state.runs;
    let record = runs.get(call.caller(), id.run).await?;
    if record.phase == RunPhase::Waiting(WaitReason::ClientTool) {
        runs.cancel(call.caller(), id.run).await?;
    }
    Ok(())
}

/// Lists the inputs of a response.
pub(crate) async fn input_items(call: OpenAiCall) -> Result<Response, ErrorReply> {
    let id = stored(&call).await?;
    let order = match call.parameter("order") {
        Some("asc") => ItemOrder::Ascending,
        None | Some("desc") => ItemOrder::Descending,
        Some(_) => return Err(ErrorReply::invalid("order", "`order` is `asc` or `desc`.")),
    };
    let limit = match call.parameter("limit") {
        None => INPUT_ITEMS_DEFAULT,
        Some(text) => {
            text.parse().ok().filter(|limit| (1..=INPUT_ITEMS_MAX).contains(limit)).ok_or_else(|| {
                ErrorReply::invalid("limit", format!("`limit` is a number from 1 to {INPUT_ITEMS_MAX}."))
            })?
        }
    };
    let mut items = InputItems::new(id.run, id.part);
    each_entry(&call.services.state.tapes, call.caller(), id.run, |entry| items.read(entry)).await?;
    Ok(object_response(&items.page(order, limit, call.parameter("after"))))
}
