//! The caller of a request: from its `authorization` header alone, and for pages from the cookie of their session alone.
//!
//! Invariant: a principal comes from a live token or page session, never from a message, a path or a proxy's header.
//! Whether a token is malformed, unknown, expired or revoked, the answer is the same.

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, COOKIE};
use palyra_admin::access::{AccessHandle, token_in_authorization};
use palyra_runtime::Caller;
use palyra_types::Content;
use palyra_types::access::{ActorIdentity, Credential};
use palyra_types::surface::Surface;

use crate::header_value::only_value;
use crate::origin::TransportSecurity;

/// The cookie of a page session in clear text, which browsers send to every port of the host.
const PAGE_COOKIE: &str = "palyra_console";
/// The same over TLS: browsers take it from this very host only.
const SECURE_PAGE_COOKIE: &str = "__Host-palyra_console";

/// The credential behind an identity.
#[derive(Debug, Clone)]
enum IdentityProof {
    Token(Content<String>),
    Page(Content<String>),
}

/// An identity that was proven with a request; handlers find it in the request's extensions.
#[derive(Debug, Clone)]
pub struct HttpIdentity {
    caller: Caller,
    credential: Credential,
    proof: IdentityProof,
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
        let now = match &self.proof {
            IdentityProof::Token(token) => access.authenticate(token.expose()),
            IdentityProof::Page(cookie) => access.page_credential(cookie.expose()),
        };
        now == Some(self.credential)
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
            let proof = IdentityProof::Token(token.into());
            ShownIdentity::Holder(Box::new(HttpIdentity { caller, credential, proof }))
        }
        None => ShownIdentity::Rejected(access.ended_credential(token, Surface::Http)),
    }
}

/// Returns the person of the cookie of a page session.
pub(crate) fn identify_page(
    access: &AccessHandle,
    headers: &HeaderMap,
    security: TransportSecurity,
) -> Option<HttpIdentity> {
    let cookie = page_cookie(headers, security)?;
    let credential = access.authenticate_page(cookie)?;
    let caller = Caller::with_credential(&credential, Surface::Console);
    Some(HttpIdentity { caller, credential, proof: IdentityProof::Page(cookie.into()) })
}

/// Returns the name of the cookie of page sessions.
#[must_use]
pub fn page_cookie_name(security: TransportSecurity) -> &'static str {
    match security {
        TransportSecurity::Tls => SECURE_PAGE_COOKIE,
        TransportSecurity::Clear => PAGE_COOKIE,
    }
}

/// Returns the value of the cookie of a page session, if there is exactly one: of two, one may be another site's.
#[must_use]
pub fn page_cookie(headers: &HeaderMap, security: TransportSecurity) -> Option<&str> {
    let name = page_cookie_name(security);
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value) }
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
    fn the_cookie_of_a_page_is_taken_where_there_is_one() {
        let cookie = |lines: &[&str], security| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(COOKIE, line.parse().expect("a header value"));
            }
            page_cookie(&headers, security).map(str::to_owned)
        };
        assert_eq!(cookie(&["a=1; palyra_console=x"], TransportSecurity::Clear).as_deref(), Some("x"));
        assert_eq!(cookie(&["__Host-palyra_console=x"], TransportSecurity::Tls).as_deref(), Some("x"));
        for lines in [
            &[][..],
            &["a=1"],
            &["palyra_console=x; palyra_console=y"],
            &["palyra_console=x", "palyra_console=x"],
        ] {
            assert_eq!(cookie(lines, TransportSecurity::Clear), None, "{lines:?}");
        }
        assert_eq!(
            cookie(&["palyra_console=x"], TransportSecurity::Tls),
            None,
            "one that came in clear text"
        );
    }

    #[test]
    fn one_header_with_a_token_is_taken_and_no_other() {
        assert_eq!(token_of(&["Bearer palyra_ab"]).as_deref(), Some("palyra_ab"));
        for values in [&[][..], &["Basic palyra_ab"], &["Bearer palyra_ab", "Bearer palyra_ab"]] {
            assert_eq!(token_of(values), None, "{values:?}");
        }
    }
}
