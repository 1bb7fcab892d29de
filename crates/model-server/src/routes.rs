//! Finds the dialect a request is in, checks it as the vendor would, and has its reply chosen.

use super::behaviour::Behaviour;
use super::exchange::{Dialect, ModelExchange};
use super::reply::Reply;
use super::seen_request::SeenRequest;
use super::{chat, messages, responses};

/// A reply, and what of the request it depends on.
pub(super) struct RoutedReply {
    pub(super) reply: Reply,
    pub(super) exchange: ModelExchange,
    /// Whether the request broke the rules of its format.
    pub(super) is_invalid: bool,
}

/// Finds the reply to a request.
pub(super) fn route(request: &SeenRequest, behaviour: &Behaviour, number: usize) -> RoutedReply {
    let path = request.path.split('?').next().unwrap_or_default();
    let is_messages = path.starts_with("/v1/messages") || request.header("anthropic-version").is_some();
    let dialect = match path {
        _ if is_messages => Dialect::Messages,
        "/v1/responses" => Dialect::Responses,
        _ => Dialect::Chat,
    };
    let (reply, is_invalid) = match unwelcome(request, behaviour, dialect) {
        Some(refusal) => (refusal, false),
        None => match (request.method.as_str(), path) {
            ("GET", "/v1/models") => (models(request, behaviour, dialect), false),
            ("POST", "/v1/chat/completions") => {
                match chat::validate::complaint(behaviour.vendor(), &request.body) {
                    Some(complaint) => (Reply::error(400, "invalid_request_error", &complaint), true),
                    None => (behaviour.choose(&request.body), false),
                }
            }
            ("POST", "/v1/embeddings") => {
                match chat::embeddings::complaint(behaviour.vendor(), &request.body) {
                    Some(complaint) => (Reply::error(400, "invalid_request_error", &complaint), true),
                    None => (embeddings(request, behaviour), false),
                }
            }
            ("POST", "/v1/responses") => match responses::validate::complaint(&request.body) {
                Some(complaint) => (Reply::error(400, "invalid_request_error", &complaint), true),
                None => (behaviour.choose(&request.body), false),
            },
            ("POST", "/v1/messages") => match messages::validate::complaint(request) {
                Some(flaw) => (Reply::error(flaw.status, flaw.kind, &flaw.message), true),
                None => (behaviour.choose(&request.body), false),
            },
            _ => (Reply::error(404, not_found(dialect), "no such address"), true),
        },
    };
    let exchange = ModelExchange::read(dialect, behaviour.vendor(), number, &request.body);
    let request_id = match dialect {
        Dialect::Chat | Dialect::Responses => "x-request-id",
        Dialect::Messages => "request-id",
    };
    let reply = reply.header(request_id, &messages::errors::request_id(number));
    RoutedReply { reply, exchange, is_invalid }
}

fn unwelcome(request: &SeenRequest, behaviour: &Behaviour, dialect: Dialect) -> Option<Reply> {
    let key = behaviour.key()?;
    match dialect {
        Dialect::Chat | Dialect::Responses => {
            let is_known = request.authorization.as_deref() == Some(format!("Bearer {key}").as_str());
            (!is_known).then(|| Reply::error(401, "invalid_api_key", "Incorrect API key provided"))
        }
        Dialect::Messages => {
            // The vendor takes either; its own client sends a bearer since version 2.
            let bearer = request.authorization.as_deref().and_then(|said| said.strip_prefix("Bearer "));
            let words = match (request.header("x-api-key"), bearer) {
                (Some(said), _) | (None, Some(said)) if said == key => return None,
                (Some(_), _) => "invalid x-api-key",
                (None, Some(_)) => "Invalid bearer token",
                (None, None) => "x-api-key header is required",
            };
            Some(Reply::error(401, "authentication_error", words))
        }
    }
}

fn models(request: &SeenRequest, behaviour: &Behaviour, dialect: Dialect) -> Reply {
    if let Some(reply) = behaviour.models_reply() {
        return reply.clone();
    }
    let list = match dialect {
        Dialect::Chat | Dialect::Responses => chat::wire::model_list(behaviour.models()),
        Dialect::Messages => messages::wire::model_list(behaviour.models(), &request.path),
    };
    Reply::raw("application/json", list.to_string().as_bytes())
}

/// Answers with vectors where a behaviour answers at all; its faults stay.
fn embeddings(request: &SeenRequest, behaviour: &Behaviour) -> Reply {
    let reply = behaviour.choose(&request.body);
    if !reply.is_answer() {
        return reply;
    }
    let document = chat::embeddings::document(&request.body);
    Reply::raw("application/json", document.to_string().as_bytes())
}

fn not_found(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Chat | Dialect::Responses => "not_found",
        Dialect::Messages => "not_found_error",
    }
}
