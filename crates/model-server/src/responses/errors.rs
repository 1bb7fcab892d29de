//! How OpenAI refuses inside a stream of Responses; refusals by status are those of Chat Completions.

use serde_json::json;

use super::events::framed;
use super::wire::begun;
use crate::chat::errors::said;
use crate::exchange::ModelExchange;
use crate::fault::Fault;

/// Returns the event that tells of a refusal inside a stream: an error of its own, or a response that has failed.
pub(crate) fn event(fault: Fault, exchange: &ModelExchange) -> Vec<u8> {
    let refusal = said(fault, exchange);
    let code = refusal.code.unwrap_or(refusal.kind);
    if matches!(fault, Fault::RateLimit(_) | Fault::Auth | Fault::BadRequest) {
        return framed(&json!({"type": "error", "code": code, "message": refusal.message, "param": null}));
    }
    let mut response = begun(exchange);
    response["status"] = "failed".into();
    response["error"] = json!({"code": code, "message": refusal.message});
    framed(&json!({"type": "response.failed", "response": response}))
}
