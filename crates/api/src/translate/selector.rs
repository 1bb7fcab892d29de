//! Which session a request means, and what else comes with a new run.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_runtime::session::{BranchRequest, ExistingSession, ResetMode, SessionSelector};
use palyra_types::model::ResponseFormat;
use palyra_types::run::InputDelivery;
use palyra_types::{Content, TapeSeq};
use palyra_wire::v1;

use super::ids::{InvalidId, InvalidValue, id};

/// Bytes of the schema of an answer, at most.
const RESPONSE_SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// Reads a selector; an absent one opens a new session.
pub(crate) fn session_selector(selector: Option<v1::SessionSelector>) -> Result<SessionSelector, InvalidId> {
    let selector = selector.unwrap_or_default();
    let session = match selector.session_id.as_str() {
        "" => None,
        text => Some(id("session_id", text)?),
    };
    Ok(SessionSelector {
        id: session,
        key: content(selector.session_key),
        label: content(selector.label),
        existing: if selector.require_existing {
            ExistingSession::Required
        } else {
            ExistingSession::Optional
        },
        reset: if selector.reset { ResetMode::Reset } else { ResetMode::Keep },
    })
}

/// Reads an idempotency key; empty is none.
pub(crate) fn idempotency_key(text: String) -> Option<Content<String>> {
    content(text)
}

/// Reads a workspace root; empty is none.
pub(crate) fn workspace_root(text: String) -> Result<Option<Content<PathBuf>>, InvalidValue> {
    absolute_path("workspace_root", text)
}

/// Reads an absolute path; an empty text is none.
pub(crate) fn absolute_path(
    field: &'static str,
    text: String,
) -> Result<Option<Content<PathBuf>>, InvalidValue> {
    if text.is_empty() {
        return Ok(None);
    }
    let path = PathBuf::from(text);
    if !path.is_absolute() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(InvalidValue { field, wanted: "an absolute path" });
    }
    Ok(Some(Content::new(path)))
}

/// Reads how an input meets its session; a newer client may send a value that is not known here.
pub fn input_delivery(delivery: i32) -> Result<InputDelivery, InvalidValue> {
    match v1::InputDelivery::try_from(delivery) {
        Ok(v1::InputDelivery::Unspecified | v1::InputDelivery::Queue) => Ok(InputDelivery::Queue),
        Ok(v1::InputDelivery::Steer) => Ok(InputDelivery::Steer),
        Ok(v1::InputDelivery::Interrupt) => Ok(InputDelivery::Interrupt),
        Err(_) => Err(InvalidValue { field: "delivery", wanted: "empty, queue, steer or interrupt" }),
    }
}

/// Returns how an input was taken.
pub(crate) fn input_delivery_to_wire(delivery: InputDelivery) -> v1::InputDelivery {
    match delivery {
        InputDelivery::Queue => v1::InputDelivery::Queue,
        InputDelivery::Steer => v1::InputDelivery::Steer,
        InputDelivery::Interrupt => v1::InputDelivery::Interrupt,
    }
}

/// Reads what the final answer has to look like; empty is free text.
pub(crate) fn response_format(
    schema: &str,
) -> Result<Option<ResponseFormat<Content<Arc<str>>>>, InvalidValue> {
    if schema.is_empty() {
        return Ok(None);
    }
    let parsed = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(schema);
    if schema.len() > RESPONSE_SCHEMA_BYTES_MAX || parsed.is_err() {
        let wanted = "a JSON Schema written as an object of at most 64 KiB, or empty for free text";
        return Err(InvalidValue { field: "response_schema", wanted });
    }
    Ok(Some(ResponseFormat { schema: Content::new(schema.into()) }))
}

/// Reads a place to branch from.
pub(crate) fn branch_point(point: &v1::BranchPoint) -> Result<BranchRequest, InvalidId> {
    let run = id("branch_from.run_id", &point.run_id)?;
    Ok(BranchRequest { run, tape_seq: (point.tape_seq > 0).then_some(TapeSeq(point.tape_seq)) })
}

fn content(text: String) -> Option<Content<String>> {
    (!text.is_empty()).then(|| Content::new(text))
}
