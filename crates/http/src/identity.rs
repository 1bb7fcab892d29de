//! The caller of a request, from its `authorization` header alone.
//!
//! Invariant: a principal comes from a live token, never from a message, a path or a proxy's header. Whether a token is
//! malformed, unknown, expired or revoked, the answer is the same.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use palyra_admin::access::{AccessHandle, token_in_authorization};
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::access::{ActorIdentity, Credential};
use palyra_types::surface::Surface;

/// An identity that was proven with a request; handlers find it in the request's extensions.
#[derive(Debug, Clone)]
pub struct HttpIdentity {
    caller: Caller,
    credential: Credential,
    token: Content<String>,
}

impl HttpIdentity {
    /// Returns on whose behalf, with which credential, and over which surface.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller
    }

    /// Returns the same with what a confirmation adds.
    #[must_use]
    pub(crate) fn acting_as(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// Returns the credential that proved it.
    #[must_use]
    pub fn credential(&self) -> &Credential {
        &self.credential
    }

    /// Returns whether the credential would be accepted again now, for the same: a token may have been revoked since, or
    /// its principal disabled or given another role.
    #[must_use]
    pub fn still_holds(&self, access: &AccessHandle) -> bool {
        access.authenticate(self.token.expose()) == Some(self.credential)
    }
}

/// What a request shows of who calls.
#[derive(Debug)]
pub(crate) enum ShownIdentity {
    /// No `authorization` header.
    Nothing,
    /// A token that holds.
    Holder(Box<HttpIdentity>),
    /// A header that proves nothing; with the holder of a token that no longer works.
    Rejected(Option<ActorIdentity>),
}

/// The holder of the token of a request that is refused, for the record of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndedCredential(pub(crate) ActorIdentity);

/// Returns what a request shows of who calls.
pub(crate) fn identify(access: &AccessHandle, headers: &HeaderMap) -> ShownIdentity {
    if !headers.contains_key(AUTHORIZATION) {
        return ShownIdentity::Nothing;
    }
    let Some(token) = bearer_token(headers) else { return ShownIdentity::Rejected(None) };
    match access.authenticate(token) {
        Some(credential) => {
            let caller = Caller::with_credential(&credential, Surface::Http);
            ShownIdentity::Holder(Box::new(HttpIdentity { caller, credential, token: token.into() }))
        }
        None => ShownIdentity::Rejected(access.ended_credential(token, Surface::Http)),
    }
}

/// Returns the value of a header that occurs once and is text.
pub(crate) fn only_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

/// Returns the token of exactly one well-formed `authorization` header.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    only_value(headers, AUTHORIZATION.as_str()).and_then(token_in_authorization)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_of(values: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().expect("a header value"));
        }
        bearer_token(&headers).map(str::to_owned)
    }

    #[test]
    fn one_header_with_a_token_is_taken_and_no_other() {
        assert_eq!(token_of(&["Bearer palyra_ab"]).as_deref(), Some("palyra_ab"));
        for values in [&[][..], &["Basic palyra_ab"], &["Bearer palyra_ab", "Bearer palyra_ab"]] {
            assert_eq!(token_of(values), None, "{values:?}");
        }
    }
}
