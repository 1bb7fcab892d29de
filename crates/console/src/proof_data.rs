//! The proofs that a browser checks by itself, as JSON.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use palyra_api::ApiError;
use palyra_wire::v1;
use serde_json::{Value, json};

use crate::screen_call::ScreenCall;
use crate::wording::hex;

/// Answers with the hashes from one size of the tree to another.
pub(crate) async fn consistency(call: &ScreenCall) -> Result<Response, ApiError> {
    let request =
        v1::ProveConsistencyRequest { old_size: number(call, "from")?, new_size: number(call, "to")? };
    let proof = call.call(request).await?;
    Ok(json_response(&json!({ "hashes": hexes(&proof.hashes) })))
}

/// Answers with an entry, its hashes, and the head that they lead to.
pub(crate) async fn entry(call: &ScreenCall) -> Result<Response, ApiError> {
    let proof = call.call(v1::ProveEntryRequest { seq: number(call, "seq")? }).await?;
    let head = proof.checkpoint.unwrap_or_default();
    let body = json!({
        "kind": proof.kind,
        "envelope": hex(&proof.envelope),
        "hashes": hexes(&proof.hashes),
        "size": head.size,
        "root": hex(&head.root),
    });
    Ok(json_response(&body))
}

fn json_response(body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn hexes(hashes: &[Vec<u8>]) -> Vec<String> {
    hashes.iter().map(|hash| hex(hash)).collect()
}

fn number(call: &ScreenCall, name: &str) -> Result<u64, ApiError> {
    call.query(name).parse().map_err(|_| ApiError::invalid_argument(&format!("`{name}` is a number")))
}
