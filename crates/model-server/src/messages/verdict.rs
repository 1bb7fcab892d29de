//! How the rules of Messages speak: nothing, or a refusal with the vendor's words.

use crate::refusal::Refusal;

const TOOL_NAME_CHARS_MAX: usize = 128;

/// What is wrong with a request, or nothing.
pub(super) type RequestVerdict = Result<(), Refusal>;

/// Makes the refusal of a wrong request.
pub(super) fn wrong<T>(message: String) -> Result<T, Refusal> {
    Err(Refusal { status: 400, kind: "invalid_request_error", code: None, message })
}

/// Checks that an object has no field but the known ones.
pub(super) fn known_fields<'a>(
    place: &str,
    names: impl Iterator<Item = &'a String>,
    known: &[&str],
) -> RequestVerdict {
    let dot = if place.is_empty() { "" } else { "." };
    match names.into_iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => wrong(format!("{place}{dot}{name}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// Returns whether a name can be a tool's.
pub(super) fn is_tool_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=TOOL_NAME_CHARS_MAX).contains(&name.len()) && name.bytes().all(allowed)
}
