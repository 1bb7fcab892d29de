//! What a request to the proxy asks for, and whether the grant lets it through. Pure.
//!
//! Owns the reading of proxy requests: absolute form and CONNECT, nothing else. Invariant: a host is named once; where
//! the start line and the `Host` header differ, nothing passes.
//! Begin at [`judge`].

use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, TRANSFER_ENCODING, UPGRADE};
use hyper::http::request::Parts;
use hyper::http::uri::Scheme as UriScheme;
use hyper::{Method, StatusCode, Uri};
use palyra_ports::{BoundCredential, EgressGrant};

use crate::server_line::header_bytes;
use crate::target::{Endpoint, Scheme, Target};

/// A way through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProxyPassage {
    /// A tunnel to a server, for TLS and nothing else.
    Tunnel { endpoint: Endpoint },
    /// One request to a server, in the clear or as the credential wants it.
    Forward { upstream: Box<Upstream>, uri: Uri },
}

/// Whom a forwarded request goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Upstream {
    pub(super) scheme: Scheme,
    pub(super) endpoint: Endpoint,
    pub(super) host_header: String,
    pub(super) credential: Option<BoundCredential>,
}

/// Why there is no way through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProxyRefusal {
    pub(super) status: StatusCode,
    pub(super) reason: &'static str,
    pub(super) endpoint: Option<Endpoint>,
}

impl ProxyRefusal {
    fn malformed(reason: &'static str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, reason, endpoint: None }
    }

    fn forbidden(reason: &'static str, endpoint: Endpoint) -> Self {
        Self { status: StatusCode::FORBIDDEN, reason, endpoint: Some(endpoint) }
    }
}

/// Reads the head of a request and returns its way through.
pub(super) fn judge(head: &Parts, grant: &EgressGrant) -> Result<ProxyPassage, ProxyRefusal> {
    if header_bytes(&head.headers) > grant.limits.header_bytes_max {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return Err(ProxyRefusal { status, reason: "its headers are too long", endpoint: None });
    }
    if head.method == Method::CONNECT { tunnel(head, grant) } else { forward(head, grant) }
}

fn tunnel(head: &Parts, grant: &EgressGrant) -> Result<ProxyPassage, ProxyRefusal> {
    let authority = head.uri.authority().ok_or(ProxyRefusal::malformed("it names no host and port"))?;
    let endpoint =
        Endpoint::read(authority.as_str()).map_err(|refusal| ProxyRefusal::malformed(refusal.reason()))?;
    check_host(&head.headers, &endpoint, Scheme::Https.port())?;
    if head.headers.contains_key(CONTENT_LENGTH) || head.headers.contains_key(TRANSFER_ENCODING) {
        return Err(ProxyRefusal::malformed("a tunnel has no body"));
    }
    check_grant(grant, endpoint.clone(), endpoint.port)?;
    Ok(ProxyPassage::Tunnel { endpoint })
}

fn forward(head: &Parts, grant: &EgressGrant) -> Result<ProxyPassage, ProxyRefusal> {
    if head.uri.scheme() != Some(&UriScheme::HTTP) {
        return Err(ProxyRefusal::malformed("only http:// and tunnels pass"));
    }
    // What is taken off is made anew, and that is chunks and nothing else.
    if head
        .headers
        .get_all(TRANSFER_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"))
    {
        return Err(ProxyRefusal::malformed("its body is packed for the way"));
    }
    if head.method == Method::TRACE {
        return Err(ProxyRefusal::malformed("its method would show what is added on the way"));
    }
    let target =
        Target::read(&head.uri.to_string()).map_err(|refusal| ProxyRefusal::malformed(refusal.reason()))?;
    let endpoint = target.endpoint().clone();
    check_host(&head.headers, &endpoint, Scheme::Http.port())?;
    if head.headers.contains_key(UPGRADE) {
        return Err(ProxyRefusal::forbidden("it asks for another protocol", endpoint));
    }
    let upstream = upstream(&target, grant);
    check_grant(grant, endpoint, upstream.endpoint.port)?;
    let uri = target.path_and_query().parse();
    let uri =
        uri.map_err(|_| ProxyRefusal::malformed("its path holds a character that has no place there"))?;
    Ok(ProxyPassage::Forward { upstream: Box::new(upstream), uri })
}

/// Every `Host` header says what the start line says.
fn check_host(headers: &HeaderMap, endpoint: &Endpoint, ordinary_port: u16) -> Result<(), ProxyRefusal> {
    let mut written = headers.get_all(HOST).iter();
    let agrees = match (written.next(), written.next()) {
        (None, _) => true,
        (Some(host), None) => host.to_str().is_ok_and(|host| {
            let host = host.to_ascii_lowercase();
            host == endpoint.to_string()
                || (endpoint.port == ordinary_port && host == endpoint.host.to_string())
        }),
        (Some(_), Some(_)) => false,
    };
    if agrees { Ok(()) } else { Err(ProxyRefusal::malformed("its start line and its Host header differ")) }
}

fn check_grant(grant: &EgressGrant, endpoint: Endpoint, port: u16) -> Result<(), ProxyRefusal> {
    let host = endpoint.host.to_string();
    if grant.hosts.iter().any(|rule| rule.covers(&host, port)) {
        return Ok(());
    }
    Err(ProxyRefusal::forbidden("it is not among the hosts that were granted", endpoint))
}

/// A host with a credential is asked over TLS at the credential's port, whether the program wrote that port or none.
fn upstream(target: &Target, grant: &EgressGrant) -> Upstream {
    let written = target.endpoint();
    let host = written.host.to_string();
    let bound = grant.credentials.iter().find(|credential| {
        let port_fits = written.port == credential.port || written.port == Scheme::Http.port();
        credential.host == host && port_fits
    });
    match bound {
        None => Upstream {
            scheme: Scheme::Http,
            endpoint: written.clone(),
            host_header: target.host_header(),
            credential: None,
        },
        Some(credential) => {
            let endpoint = Endpoint { host: written.host.clone(), port: credential.port };
            let host_header =
                if credential.port == Scheme::Https.port() { host } else { endpoint.to_string() };
            let credential = Some(credential.clone());
            Upstream { scheme: Scheme::Https, endpoint, host_header, credential }
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::Request;
    use palyra_ports::{EgressLimits, HostRule};
    use proptest::prelude::*;

    use super::*;

    fn grant() -> EgressGrant {
        let hosts = vec![HostRule::exact("open.example"), HostRule::below("deep.example").at(8443)];
        EgressGrant { hosts, credentials: Vec::new(), limits: EgressLimits::default() }
    }

    fn passage(method: &str, uri: &str, host: Option<&str>) -> Option<ProxyPassage> {
        let mut request = Request::builder().method(method).uri(uri);
        if let Some(host) = host {
            request = request.header(HOST, host);
        }
        let (head, ()) = request.body(()).ok()?.into_parts();
        judge(&head, &grant()).ok()
    }

    #[test]
    fn a_host_may_be_written_with_its_ordinary_port_or_without() {
        for host in [None, Some("open.example"), Some("open.example:80"), Some("OPEN.example")] {
            assert!(passage("GET", "http://open.example/", host).is_some(), "{host:?}");
        }
        for host in [None, Some("open.example"), Some("open.example:443")] {
            assert!(passage("CONNECT", "open.example:443", host).is_some(), "{host:?}");
        }
        assert!(passage("CONNECT", "a.deep.example:8443", None).is_some());
        assert!(passage("CONNECT", "deep.example:8443", None).is_none());
    }

    proptest! {
        #[test]
        fn whatever_passes_leads_to_a_granted_host(
            method in "GET|POST|CONNECT",
            uri in r"(http://|https://|)((open|deep|evil|a)[.@:/\\#?%]?){0,2}(open|a\.deep|evil)(\.example)(:(80|443|8443|1))?(/[a-z@:.]{0,8})?",
            host in proptest::option::of(r"(open|a\.deep|evil)\.example(:(80|443|8443))?"),
        ) {
            let endpoint = match passage(&method, &uri, host.as_deref()) {
                None => return Ok(()),
                Some(ProxyPassage::Tunnel { endpoint }) => endpoint,
                Some(ProxyPassage::Forward { upstream, .. }) => {
                    prop_assert!(upstream.host_header.starts_with(&upstream.endpoint.host.to_string()));
                    upstream.endpoint
                }
            };
            prop_assert!(grant().hosts.iter().any(|rule| rule.covers(&endpoint.host.to_string(), endpoint.port)));
            if let Some(host) = host {
                prop_assert!(host.split(':').next() == Some(endpoint.host.to_string().as_str()));
            }
        }
    }
}
