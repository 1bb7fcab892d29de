//! `/v1/chat/completions`.

use axum::response::Response;

use super::attached_clients::LeavePolicy;
use super::openai_call::{OpenAiCall, object_response};
use super::run_start::{AttachedRun, RunRequest};
use super::streamed::{EventShape, StreamParts, streamed};
use super::whole::{ObjectShape, WholeParts};
use crate::conversation::ClientConversation;
use crate::error_reply::ErrorReply;
use crate::reply::chat_stream::{ChatCompletion, ChatStream};
use crate::request::chat_request::ChatRequest;

/// Answers a conversation.
pub(crate) async fn create(mut call: OpenAiCall) -> Result<Response, ErrorReply> {
    let body = call.json().await?;
    let ChatRequest { model, messages, stream, schema, output_tokens_max, sampling, functions } =
        ChatRequest::parse(&body.value)?;
    let hints = call.hints()?;
    let caller = call.caller();
    let timeout = hints.timeout;
    let name = model.name.clone();
    let request = RunRequest {
        model,
        conversation: ClientConversation::new(None, messages),
        previous: None,
        schema,
        output_tokens_max,
        sampling,
        functions,
        hints,
        body: body.digest,
    };
    let attached = call.services.start_attached(caller, request, LeavePolicy::Cancel).await?;
    let AttachedRun { started, guard } = attached;
    let run = started.run;
    let part = started.part;
    let watch = call.watch();
    match stream {
        Some(usage) => {
            let shape = EventShape::Chat(ChatStream::new(run, part, &name, usage));
            Ok(streamed(StreamParts { started, shape, watch, guard }))
        }
        None => {
            let shape = ObjectShape::Chat(ChatCompletion::new(run, part, &name));
            let parts = WholeParts { started, shape, watch, guard, caller, timeout };
            Ok(object_response(&call.services.whole(parts).await?))
        }
    }
}
