//! Texts by which something is found again: keys of sessions, names, folders, arguments that a grant names.
//!
//! Invariant: one that holds a secret is refused and recorded nowhere. It is not rewritten, because two that differ only
//! in their secret would become one.

use palyra_ports::{Recorder, Redactor, SecretFound};
use palyra_types::{Content, PrincipalId, Redacted};

use crate::error::AdminError;

/// Returns the text, or refuses one that the redactor would change; `field` says which text in the message.
/// The recorder counts a refusal as a guess of the principal.
///
/// # Errors
/// [`AdminError::SecretInIdentity`], without the text.
pub fn check_identity(
    recorder: &Recorder,
    principal: PrincipalId,
    field: &'static str,
    text: &str,
) -> Result<Redacted<String>, AdminError> {
    let checked = recorder.check(principal, Content::<String>::from(text));
    checked.map_err(|SecretFound { .. }| AdminError::SecretInIdentity { field })
}

/// Returns the text, or nothing where it holds a secret: for names that are there already and may have to go.
pub fn unless_secret(redactor: &dyn Redactor, text: &str) -> Option<Redacted<String>> {
    redactor.check(Content::from(text)).ok()
}

/// Refuses a text, if there is one, that is empty, too long or not one line; `name` says which text in the message.
///
/// # Errors
/// [`AdminError::InvalidArgument`].
pub fn check_short_text(
    name: &'static str,
    text: Option<&Content<String>>,
    chars_max: usize,
) -> Result<(), AdminError> {
    let fits = |text: &Content<String>| {
        !text.expose().is_empty()
            && text.expose().chars().count() <= chars_max
            && !text.expose().contains(char::is_control)
    };
    if text.is_none_or(fits) {
        return Ok(());
    }
    let what = format!("{name} has 1 to {chars_max} characters, none of them control characters");
    Err(AdminError::InvalidArgument { what })
}
