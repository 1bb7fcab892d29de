//! Asking servers of the open network.
//!
//! The words of a fetch and of what comes back. Which addresses are reached, and how a URL is read, is the
//! adapter's to know.

use std::net::IpAddr;
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_types::{Content, ErrorCode};

use crate::CancelFlag;
use crate::bound_credential::{BoundCredential, CredentialHandle};

/// Fetches over HTTP, and reaches nothing but public addresses.
pub trait FetchHttp: Send + Sync {
    /// Asks, follows redirects, and returns the answer. Every hop is checked as the first one is.
    ///
    /// Work stops when the future is dropped, and soon after the flag is raised.
    fn fetch(
        &self,
        request: FetchRequest,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>>;
}

/// What to ask, and what may be reached in doing so.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// What to do there.
    pub method: FetchMethod,
    /// Where, as it was written; it is read strictly, and once.
    pub url: Content<String>,
    /// Further headers. Those that steer the connection are refused.
    pub headers: Vec<(String, Content<String>)>,
    /// What is sent along; nothing when empty.
    pub body: Content<Vec<u8>>,
    /// Whom the grant lets it reach, redirects included.
    pub hosts: HostScope,
    /// Credentials that the adapter adds for their hosts, on every hop that leads to one.
    pub credentials: Vec<BoundCredential>,
    /// What it may use up.
    pub limits: FetchLimits,
}

impl FetchRequest {
    /// Makes a plain request of any public host, under the ordinary limits.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: FetchMethod::Get,
            url: Content::new(url.into()),
            headers: Vec::new(),
            body: Content::new(Vec::new()),
            hosts: HostScope::AnyPublic,
            credentials: Vec::new(),
            limits: FetchLimits::default(),
        }
    }
}

/// What to do with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FetchMethod {
    /// Read it.
    Get,
    /// Read its headers.
    Head,
    /// Hand something in.
    Post,
    /// Put something in its place.
    Put,
    /// Change a part of it.
    Patch,
    /// Remove it.
    Delete,
}

impl FetchMethod {
    /// Returns the word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Returns whether asking changes nothing over there.
    #[must_use]
    pub fn is_safe(self) -> bool {
        match self {
            Self::Get | Self::Head => true,
            Self::Post | Self::Put | Self::Patch | Self::Delete => false,
        }
    }
}

/// Whom a request may reach, before any address is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostScope {
    /// Every host with a public address.
    AnyPublic,
    /// Only these; nobody when empty.
    Only(Vec<HostRule>),
}

impl HostScope {
    /// Returns whether a host, as it stands in a URL that was read, lies within.
    #[must_use]
    pub fn covers(&self, host: &str, port: u16) -> bool {
        match self {
            Self::AnyPublic => true,
            Self::Only(rules) => rules.iter().any(|rule| rule.covers(host, port)),
        }
    }
}

/// One host, or one domain with all below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HostRule {
    /// The name in lower-case ASCII without a dot at its end, or an address as URLs write it.
    pub host: String,
    /// Whether names below it are meant too.
    pub reach: HostReach,
    /// The port; 80 and 443 where none is named.
    pub port: Option<u16>,
}

/// How far a rule reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HostReach {
    /// This very name.
    Exact,
    /// Every name below it, but not itself.
    Below,
}

/// The ports that a rule without a port means.
const ORDINARY_PORTS: [u16; 2] = [80, 443];

impl HostRule {
    /// Means one host at its ordinary ports.
    pub fn exact(host: impl Into<String>) -> Self {
        Self { host: host.into(), reach: HostReach::Exact, port: None }
    }

    /// Means every name below a domain, at their ordinary ports.
    pub fn below(domain: impl Into<String>) -> Self {
        Self { host: domain.into(), reach: HostReach::Below, port: None }
    }

    /// Means one port only.
    #[must_use]
    pub fn at(mut self, port: u16) -> Self {
        self.port = Some(port);
        self
    }

    /// Returns whether a host, as it stands in a URL that was read, is meant.
    #[must_use]
    pub fn covers(&self, host: &str, port: u16) -> bool {
        let port_fits = match self.port {
            Some(named) => named == port,
            None => ORDINARY_PORTS.contains(&port),
        };
        let host_fits = match self.reach {
            HostReach::Exact => host == self.host,
            HostReach::Below => host
                .strip_suffix(self.host.as_str())
                .and_then(|front| front.strip_suffix('.'))
                .is_some_and(|front| !front.is_empty() && !self.host.is_empty()),
        };
        port_fits && host_fits
    }
}

/// Turns handles into what is sent, at the moment when it is sent.
pub trait FillCredential: Send + Sync {
    /// Returns the header that a handle stands for at its server, once its use is recorded. Asked with each request.
    fn fill(
        &self,
        credential: BoundCredential,
    ) -> BoxFuture<'static, Result<CredentialHeader, CredentialUnavailable>>;

    /// Returns how a handle's secret is sent, such as `bearer`, for the question to a person; `None` where that is not
    /// known. May wait for a disk.
    fn sent_as(&self, _handle: &CredentialHandle) -> Option<String> {
        None
    }

    /// Returns why a credential is certain to be refused, with any answer of a person: its secret is not bound to that
    /// server. `None` where it may be filled, and for a principal who may not know that it is there. May wait for a disk.
    fn certain_refusal(&self, _credential: &BoundCredential) -> Option<CredentialUnavailable> {
        None
    }
}

/// A header that proves who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialHeader {
    /// Its name, such as `authorization`.
    pub name: String,
    /// Its whole value, such as `Bearer ...`.
    pub value: Content<String>,
}

/// A handle that stands for nothing, or for nothing that can be had now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the credential `{}` is not available: {why}", handle.0)]
pub struct CredentialUnavailable {
    /// The handle.
    pub handle: CredentialHandle,
    /// The stable code of the reason, such as that the vault is locked.
    pub code: ErrorCode,
    /// The reason, without any value.
    pub why: String,
}

/// What a fetch may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// The body, after it was unpacked. What is longer is cut there, and said to be.
    pub body_bytes_max: usize,
    /// Status line and headers of one answer together, at least 8 KiB.
    pub header_bytes_max: usize,
    /// How many redirects are followed.
    pub redirects_max: u32,
    /// How much time it takes in all, redirects and body included.
    pub time_max: Duration,
    /// How many times larger a packed body may become, once it is beyond a mebibyte.
    pub unpacking_ratio_max: u32,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            body_bytes_max: 4 << 20,
            header_bytes_max: 64 << 10,
            redirects_max: 5,
            time_max: Duration::from_secs(30),
            unpacking_ratio_max: 100,
        }
    }
}

/// What came back.
#[derive(Debug, Clone)]
pub struct FetchResponse {
    /// Whose answer it is, after all redirects.
    pub url: Content<String>,
    /// The redirects that led there, in order.
    pub hops: Vec<FetchHop>,
    /// The status code.
    pub status: u16,
    /// The headers that say something about the body or the answer; lower-case names, in order.
    pub headers: Vec<(String, Content<String>)>,
    /// The body, unpacked.
    pub body: Content<Vec<u8>>,
    /// Whether that is all of it.
    pub completeness: BodyCompleteness,
}

/// A redirect that was followed.
#[derive(Debug, Clone)]
pub struct FetchHop {
    /// The status code that sent us on.
    pub status: u16,
    /// Whom it sent us on from.
    pub from: Content<String>,
    /// How the next one was asked.
    pub next: FetchMethod,
}

/// Whether a body is all that the server had to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyCompleteness {
    /// It ended.
    Whole,
    /// It was cut at [`FetchLimits::body_bytes_max`].
    Cut,
}

/// Why a fetch has no answer, and whether the request may have been heard.
#[derive(Debug, thiserror::Error)]
#[error("{failure}")]
pub struct FetchError {
    /// What went wrong.
    #[source]
    pub failure: FetchFailure,
    /// How far the request came.
    pub reached: FetchReach,
}

/// How far a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchReach {
    /// No server heard of it.
    Nobody,
    /// Servers may have heard only requests that change nothing.
    OnlyAsked,
    /// A server may have done what the request says.
    PerhapsDone,
    /// A server heard what the request says and answered it; what failed came after.
    Answered {
        /// The status code of that answer.
        status: u16,
    },
}

/// What went wrong with a fetch.
#[derive(Debug, thiserror::Error)]
pub enum FetchFailure {
    /// The URL cannot be read in one way only, or is of a kind that is not fetched.
    #[error("the address was refused: {reason}")]
    Url {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A header or the body may not be sent.
    #[error("the request was refused: {reason}")]
    Request {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The host lies outside of [`FetchRequest::hosts`].
    #[error("`{host}` at port {port} is not among the hosts that were granted")]
    HostNotGranted {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The host has an address that is not of the open network.
    #[error("`{host}` was refused: {address} is {what}")]
    Address {
        /// The host.
        host: String,
        /// The address.
        address: IpAddr,
        /// What the address is.
        what: &'static str,
    },
    /// The name has no address.
    #[error("`{host}` has no address")]
    Unresolved {
        /// The host.
        host: String,
        /// The resolver's word.
        #[source]
        cause: std::io::Error,
    },
    /// Nobody answers at the address.
    #[error("`{host}` could not be reached at port {port}")]
    Unreachable {
        /// The host.
        host: String,
        /// The port.
        port: u16,
        /// The system's word.
        #[source]
        cause: std::io::Error,
    },
    /// The server did not prove who it is.
    #[error("`{host}` did not prove its name")]
    Tls {
        /// The host.
        host: String,
        /// What the check says.
        #[source]
        cause: std::io::Error,
    },
    /// The server answers TLS with something else, such as plain HTTP, or not at all.
    #[error("`{host}` does not answer in TLS at port {port}")]
    NoTls {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// A credential could not be had.
    #[error(transparent)]
    Credential(#[from] CredentialUnavailable),
    /// A redirect that is not followed.
    #[error("a redirect was not followed: {reason}")]
    Redirect {
        /// Why.
        reason: &'static str,
    },
    /// The answer breaks a limit or the protocol, or it ended too early.
    #[error("the answer was given up: {reason}")]
    Answer {
        /// Why.
        reason: &'static str,
    },
    /// The time was up.
    #[error("the time was up after {} ms", limit.as_millis())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// The caller's flag was raised.
    #[error("the fetch was cancelled")]
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_means_its_own_name_and_no_look_alike() {
        let exact = HostRule::exact("example.com");
        assert!(exact.covers("example.com", 443) && exact.covers("example.com", 80));
        for (host, port) in [
            ("example.com", 8080),
            ("a.example.com", 443),
            ("example.com.evil.net", 443),
            ("xample.com", 443),
        ] {
            assert!(!exact.covers(host, port), "{host}:{port}");
        }
        let below = HostRule::below("example.com");
        assert!(below.covers("a.example.com", 443) && below.covers("a.b.example.com", 443));
        for host in ["example.com", "evilexample.com", ".example.com", "a.example.com.evil.net"] {
            assert!(!below.covers(host, 443), "{host}");
        }
        assert!(HostRule::exact("example.com").at(8443).covers("example.com", 8443));
        assert!(!HostRule::exact("example.com").at(8443).covers("example.com", 443));
    }

    #[test]
    fn nobody_is_granted_by_an_empty_list() {
        assert!(!HostScope::Only(Vec::new()).covers("example.com", 443));
        assert!(!HostScope::Only(vec![HostRule::below("")]).covers("example.com", 443));
    }
}
