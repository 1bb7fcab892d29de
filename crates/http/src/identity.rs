//! Who calls, from the `authorization` header alone, and whether an operation is for them.
//!
//! Invariant: a principal comes from a live token, never from a message, a path or a proxy's header. Whether a token is
//! malformed, unknown, expired or revoked, the answer is the same.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use palyra_admin::access::{AccessHandle, TOKEN_PREFIX};
use palyra_api::ApiError;
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::run::Surface;
use palyra_wire::operations::{OperationAudience, OperationSpec};

/// An identity that was proven with a request; handlers find it in the request's extensions.
#[derive(Debug, Clone)]
pub struct HttpIdentity {
    caller: Caller,
    token: Content<String>,
}

impl HttpIdentity {
    /// Returns on whose behalf, and over which surface.
    #[must_use]
    pub fn caller(&self) -> Caller {
        self.caller
    }

    /// Returns whether the credential would be accepted again now; it may have been revoked meanwhile.
    #[must_use]
    pub fn still_holds(&self, access: &AccessHandle) -> bool {
        access.authenticate(self.token.expose()) == Some(self.caller.principal)
    }
}

/// Returns the identity of a request: `None` where there is no `authorization` header.
///
/// # Errors
/// [`ApiError`] for a header that proves nothing.
pub(crate) fn identify(access: &AccessHandle, headers: &HeaderMap) -> Result<Option<HttpIdentity>, ApiError> {
    if !headers.contains_key(AUTHORIZATION) {
        return Ok(None);
    }
    let token = bearer_token(headers).ok_or_else(ApiError::unauthenticated)?;
    let principal = access.authenticate(token).ok_or_else(ApiError::unauthenticated)?;
    let caller = Caller { principal, surface: Surface::Tcp };
    Ok(Some(HttpIdentity { caller, token: token.into() }))
}

/// Refuses an operation that is not for a caller.
pub(crate) fn authorize(operation: &OperationSpec, _caller: Caller) -> Result<(), ApiError> {
    match operation.audience {
        OperationAudience::Principals => Ok(()),
        OperationAudience::Owner => {
            Err(ApiError::permission_denied("this call is only answered on the daemon's Unix socket"))
        }
    }
}

/// Returns the token of exactly one well-formed `authorization` header.
fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let whole = token.strip_prefix(TOKEN_PREFIX).is_some_and(|secret| !secret.is_empty());
    (scheme.eq_ignore_ascii_case("bearer") && whole).then_some(token)
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
    fn one_bearer_token_is_taken_and_all_else_is_not() {
        assert_eq!(token_of(&["Bearer palyra_ab"]).as_deref(), Some("palyra_ab"));
        assert_eq!(token_of(&["bearer palyra_ab"]).as_deref(), Some("palyra_ab"));
        let bad: &[&[&str]] = &[
            &[],
            &[""],
            &["Bearer"],
            &["Bearer "],
            &["Bearer palyra_"],
            &["Bearer sk-ab"],
            &["Bearer  palyra_ab"],
            &["Basic palyra_ab"],
            &["palyra_ab"],
            &["Bearer palyra_ab", "Bearer palyra_ab"],
        ];
        for values in bad {
            assert_eq!(token_of(values), None, "{values:?}");
        }
    }
}
