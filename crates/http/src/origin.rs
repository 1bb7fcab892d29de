//! Which names the server answers to, and which pages may call it.
//!
//! Pure. There is one canonical origin, by name and never by address: cookies ignore ports and passkeys need a domain.
//! Programs with a token may use the loopback addresses as well. A page of another origin gets nothing, also from
//! another port of the same host, and there is no CORS. Begin at [`OriginRules::check`].

use axum::http::header::{HOST, HeaderMap, ORIGIN};
use axum::http::{Method, Uri};

use crate::header_value::only_value;

/// The host of the canonical origin where no public URL is configured.
pub const CANONICAL_HOST: &str = "localhost";
/// Names of this machine that programs with a token may use.
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether the bytes of a listener are encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportSecurity {
    /// They are not.
    Clear,
    /// By TLS.
    Tls,
}

impl TransportSecurity {
    fn scheme(self) -> &'static str {
        match self {
            Self::Clear => "http",
            Self::Tls => "https",
        }
    }
}

/// The origin under which people and pages know the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicOrigin {
    scheme: &'static str,
    /// Host in lower case, with its port where that is not the scheme's own.
    authority: String,
}

impl PublicOrigin {
    /// Returns the origin of a listener that has no public URL.
    #[must_use]
    pub fn local(port: u16, security: TransportSecurity) -> Self {
        Self { scheme: security.scheme(), authority: format!("{CANONICAL_HOST}:{port}") }
    }

    /// Reads a public URL: `https://palyra.example` or `http://...`, with a port or without, and no path.
    #[must_use]
    pub fn parse(url: &str) -> Option<Self> {
        let uri: Uri = url.strip_suffix('/').unwrap_or(url).parse().ok()?;
        let (scheme, usual) = match uri.scheme_str()? {
            "https" => ("https", ":443"),
            "http" => ("http", ":80"),
            _ => return None,
        };
        let authority = uri.authority()?.as_str().to_ascii_lowercase();
        let bare = uri.path_and_query().is_none_or(|path| path.as_str() == "/");
        if !bare || authority.contains('@') || host_of(&authority).is_empty() {
            return None;
        }
        let authority = authority.strip_suffix(usual).map(str::to_owned).unwrap_or(authority);
        Some(Self { scheme, authority })
    }

    /// Returns how browsers reach it.
    #[must_use]
    pub fn security(&self) -> TransportSecurity {
        if self.is_https() { TransportSecurity::Tls } else { TransportSecurity::Clear }
    }

    /// Returns whether browsers reach it over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.scheme == "https"
    }

    /// Returns the URL of a path below it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// Returns its host without the port.
    #[must_use]
    pub fn host(&self) -> &str {
        host_of(&self.authority)
    }
}

impl std::fmt::Display for PublicOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority)
    }
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// A page that people open; it holds nothing of anyone.
    Page,
    /// A probe of a supervisor.
    Probe,
    /// Everything else.
    Data,
}

/// Whether a request shows a credential of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownCredential {
    /// An `authorization` header, which no browser adds by itself.
    Token,
    /// None.
    Nothing,
}

/// Why a request does not get further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OriginRefusal {
    /// There is not exactly one well-formed name.
    BadHost,
    /// The name is none of ours.
    UnknownHost,
    /// A page that belongs to the canonical origin.
    Moved,
    /// A page of another origin made the request.
    CrossSite,
}

/// The rules of one listener.
#[derive(Debug, Clone)]
pub(crate) struct OriginRules {
    canonical: PublicOrigin,
    /// The scheme of requests to loopback names.
    local_scheme: &'static str,
}

impl OriginRules {
    pub(crate) fn new(canonical: PublicOrigin, security: TransportSecurity) -> Self {
        Self { canonical, local_scheme: security.scheme() }
    }

    pub(crate) fn canonical(&self) -> &PublicOrigin {
        &self.canonical
    }

    /// Checks the name that a request uses and the page that made it.
    pub(crate) fn check(
        &self,
        method: &Method,
        headers: &HeaderMap,
        target: TargetKind,
        credential: ShownCredential,
    ) -> Result<(), OriginRefusal> {
        let host = only_value(headers, HOST.as_str()).ok_or(OriginRefusal::BadHost)?.to_ascii_lowercase();
        let name = host_of(&host);
        if name.is_empty() {
            return Err(OriginRefusal::BadHost);
        }
        let opened = target == TargetKind::Page && matches!(*method, Method::GET | Method::HEAD);
        if name != self.canonical.host() {
            let known = LOOPBACK_NAMES.contains(&name);
            let takes_addresses = credential == ShownCredential::Token || target == TargetKind::Probe;
            match (known && takes_addresses, opened) {
                (true, _) => {}
                (false, true) => return Err(OriginRefusal::Moved),
                (false, false) => return Err(OriginRefusal::UnknownHost),
            }
        }
        self.check_page(headers, &host, opened)
    }

    /// Checks which page made a request; programs say nothing about one.
    fn check_page(&self, headers: &HeaderMap, host: &str, opened: bool) -> Result<(), OriginRefusal> {
        if headers.contains_key(ORIGIN) {
            let own = if host_of(host) == self.canonical.host() && self.canonical.is_https() {
                self.canonical.to_string()
            } else {
                // Behind a forwarded port the page and the request have the same one.
                format!("{}://{host}", self.local_scheme)
            };
            if only_value(headers, ORIGIN.as_str()) != Some(own.as_str()) {
                return Err(OriginRefusal::CrossSite);
            }
        }
        let fetch = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        match fetch("sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            // A link on another page may lead to a page of ours.
            Some(_) if opened && fetch("sec-fetch-mode") == Some("navigate") => Ok(()),
            Some(_) => Err(OriginRefusal::CrossSite),
        }
    }
}

/// Returns the host of an authority; empty where it is not one.
fn host_of(authority: &str) -> &str {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.find(']') {
            Some(end) => authority.split_at(end + 2),
            None => return "",
        },
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = host.starts_with('[')
        || host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
    if is_name && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)) { host } else { "" }
}

#[cfg(test)]
mod tests;
