//! Texts by which something is found again: keys of sessions, names, folders, arguments that a grant names.
//!
//! Invariant: one that holds a secret is refused and recorded nowhere. It is not rewritten, because two that differ only
//! in their secret would become one.

use palyra_ports::Redactor;

use crate::error::RequestError;

/// Refuses a text that the redactor would change; `field` says which text in the message.
///
/// # Errors
/// [`RequestError::SecretInIdentity`], without the text.
pub(crate) fn check_identity(
    redactor: &dyn Redactor,
    field: &'static str,
    text: &str,
) -> Result<(), RequestError> {
    if redactor.redact(text.into()).findings.changed() {
        return Err(RequestError::SecretInIdentity { field });
    }
    Ok(())
}
