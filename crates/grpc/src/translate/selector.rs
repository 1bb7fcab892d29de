//! Which session a request means, and what else comes with a new run.

use std::path::PathBuf;

use palyra_runtime::session::{ExistingSession, ResetWish, SessionSelector};
use palyra_types::Redacted;
use palyra_wire::v1;

use super::ids::{InvalidId, InvalidValue, id};

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
        reset: if selector.reset { ResetWish::Reset } else { ResetWish::Keep },
    })
}

/// Reads an idempotency key; empty is none.
pub(crate) fn idempotency_key(text: String) -> Option<Redacted<String>> {
    content(text)
}

/// Reads a workspace root; empty is none.
pub(crate) fn workspace_root(text: String) -> Result<Option<Redacted<PathBuf>>, InvalidValue> {
    if text.is_empty() {
        return Ok(None);
    }
    let path = PathBuf::from(text);
    if !path.is_absolute() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(InvalidValue { field: "workspace_root", wanted: "an absolute path" });
    }
    Ok(Some(Redacted::new(path)))
}

fn content(text: String) -> Option<Redacted<String>> {
    (!text.is_empty()).then(|| Redacted::new(text))
}
