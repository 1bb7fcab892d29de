//! What a request says, from hop to hop. Pure.
//!
//! Owns which headers a caller may send and what is left of a request after a redirect. Invariant: to another origin
//! goes no header that a caller named, and never a body; and no server that another origin chose is shown a credential,
//! even the one that it is for.
//! Begin at [`RequestParts::read`].

use bytes::Bytes;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RANGE, USER_AGENT,
};
use hyper::{Method, StatusCode};
use palyra_ports::{FetchMethod, FetchRequest};

use crate::target::{Scheme, Target};

/// How many headers a caller may add.
const HEADERS_MAX: usize = 64;
/// How long they may be, names and values together.
const HEADER_BYTES_MAX: usize = 16 << 10;
/// The largest body that is sent.
const BODY_BYTES_MAX: usize = 8 << 20;

/// Headers that steer a connection, or that say what we have to say ourselves.
const FORBIDDEN: &[&str] = &[
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];
/// Families of such headers.
const FORBIDDEN_FAMILIES: &[&str] = &["proxy-", "sec-", "x-forwarded-"];

/// A request but for its address.
#[derive(Debug, Clone)]
pub(crate) struct RequestParts {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) way: TargetOrigin,
}

/// Whose word led to where a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetOrigin {
    /// The caller's, or that of the origin that the caller named.
    Own,
    /// Some other server's, now or before.
    Led,
}

impl RequestParts {
    /// Reads what the caller wants to say; or why it is not said.
    pub(crate) fn read(request: &FetchRequest) -> Result<Self, &'static str> {
        let mut headers = ordinary();
        let written = &request.headers;
        let bytes: usize = written.iter().map(|(name, value)| name.len() + value.expose().len()).sum();
        if written.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
            return Err("it has too many headers");
        }
        for (name, value) in written {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| "a header's name is none")?;
            if is_forbidden(&name) {
                return Err("a header would steer the connection");
            }
            let value = HeaderValue::try_from(value.expose().as_str())
                .map_err(|_| "a header's value holds a line break or another control character")?;
            headers.insert(name, value);
        }
        if headers.contains_key(RANGE) {
            // A part of what is packed cannot be unpacked.
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        let body = Bytes::copy_from_slice(request.body.expose());
        if body.len() > BODY_BYTES_MAX {
            return Err("its body is too long");
        }
        let method = method(request.method);
        if method.is_safe() && !body.is_empty() {
            return Err("a request that changes nothing has no body");
        }
        Ok(Self { method, headers, body, way: TargetOrigin::Own })
    }

    /// Returns what to say to the next server, or why nothing is said.
    pub(crate) fn sent_on(
        mut self,
        status: StatusCode,
        from: &Target,
        to: &Target,
    ) -> Result<Self, &'static str> {
        if (from.scheme(), to.scheme()) == (Scheme::Https, Scheme::Http) {
            return Err("it leads away from TLS");
        }
        // After 303 the answer lies elsewhere; 301 and 302 make a question of POST only (RFC 9110, section 15.4).
        let keeps_method = match status.as_u16() {
            303 => false,
            301 | 302 => self.method != Method::POST,
            _ => true,
        };
        let same_origin = from.same_origin(to);
        if !self.method.is_safe() {
            if keeps_method && !same_origin {
                return Err("it would hand a change to another server");
            }
            if !keeps_method {
                self.method = Method::GET;
                self.body = Bytes::new();
                self.headers.remove(CONTENT_TYPE);
            }
        }
        if !same_origin {
            // Everything else may be a key, whatever it is called.
            self.headers = ordinary();
            self.way = TargetOrigin::Led;
        }
        Ok(self)
    }

    /// Returns how it asks.
    pub(crate) fn fetch_method(&self) -> FetchMethod {
        METHODS.into_iter().find(|known| method(*known) == self.method).unwrap_or(FetchMethod::Get)
    }
}

/// All that is ever asked by.
const METHODS: [FetchMethod; 6] = [
    FetchMethod::Get,
    FetchMethod::Head,
    FetchMethod::Post,
    FetchMethod::Put,
    FetchMethod::Patch,
    FetchMethod::Delete,
];

fn method(method: FetchMethod) -> Method {
    match method {
        FetchMethod::Get => Method::GET,
        FetchMethod::Head => Method::HEAD,
        FetchMethod::Post => Method::POST,
        FetchMethod::Put => Method::PUT,
        FetchMethod::Patch => Method::PATCH,
        FetchMethod::Delete => Method::DELETE,
    }
}

fn is_forbidden(name: &HeaderName) -> bool {
    FORBIDDEN.contains(&name.as_str())
        || FORBIDDEN_FAMILIES.iter().any(|family| name.as_str().starts_with(family))
}

/// What is said to every server, whoever asks.
fn ordinary() -> HeaderMap {
    let said = [
        (ACCEPT, "text/html, text/plain, application/json, */*;q=0.5"),
        (ACCEPT_ENCODING, "gzip, br"),
        (CONNECTION, "close"),
        (USER_AGENT, concat!("palyra/", env!("CARGO_PKG_VERSION"))),
    ];
    said.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(method: FetchMethod, headers: &[(&str, &str)]) -> Result<RequestParts, &'static str> {
        let mut request = FetchRequest::get("https://a.example/");
        request.method = method;
        if !matches!(method, FetchMethod::Get | FetchMethod::Head) {
            request.body = b"body".to_vec().into();
        }
        request.headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        RequestParts::read(&request)
    }

    fn target(text: &str) -> Target {
        Target::read(text).unwrap()
    }

    #[test]
    fn headers_that_steer_the_connection_are_refused() {
        for (name, value) in [
            ("Host", "evil.example"),
            ("Connection", "upgrade"),
            ("Transfer-Encoding", "chunked"),
            ("Content-Length", "3"),
            ("Proxy-Authorization", "Basic x"),
            ("Proxy-Connection", "x"),
            ("Upgrade", "h2c"),
            ("TE", "trailers"),
            ("Expect", "100-continue"),
            ("X-Forwarded-For", "127.0.0.1"),
            ("Sec-Fetch-Site", "none"),
            ("x", "a\r\nHost: evil.example"),
            ("x", "a\nb"),
            ("x", "a\0b"),
            ("x\r\nHost", "evil.example"),
            ("x y", "a"),
            ("", "a"),
            (":authority", "evil.example"),
        ] {
            assert!(asking(FetchMethod::Get, &[(name, value)]).is_err(), "{name}: {value:?}");
        }
        assert!(asking(FetchMethod::Get, &[("X-Thing", "a"), ("Authorization", "Bearer b")]).is_ok());
    }

    #[test]
    fn another_origin_hears_nothing_that_tells_who_asks() {
        let said = [
            ("authorization", "canary"),
            ("cookie", "canary"),
            ("x-api-key", "canary"),
            ("accept", "canary"),
            ("accept-language", "canary"),
            ("user-agent", "canary"),
            ("range", "bytes=0-canary"),
        ];
        for to in ["https://b.example/", "https://a.example:8443/", "https://sub.a.example/"] {
            let first = asking(FetchMethod::Get, &said).unwrap();
            let sent_on =
                first.sent_on(StatusCode::FOUND, &target("https://a.example/"), &target(to)).unwrap();
            assert_eq!(sent_on.headers, asking(FetchMethod::Get, &[]).unwrap().headers, "{to}");
        }
        let first = asking(FetchMethod::Get, &said).unwrap();
        let same =
            first.sent_on(StatusCode::FOUND, &target("https://a.example/"), &target("https://a.example/b"));
        let canaries = |headers: &HeaderMap| {
            headers.values().filter(|value| value.to_str().is_ok_and(|text| text.contains("canary"))).count()
        };
        assert_eq!(canaries(&same.unwrap().headers), said.len());
    }

    #[test]
    fn a_part_is_asked_for_unpacked() {
        let packed = |headers: &[(&str, &str)]| {
            asking(FetchMethod::Get, headers).unwrap().headers[ACCEPT_ENCODING].clone()
        };
        assert_eq!(packed(&[]), "gzip, br");
        assert_eq!(packed(&[("Range", "bytes=0-9")]), "identity");
    }

    #[test]
    fn a_change_is_handed_to_nobody_else() {
        let (here, there) = (target("https://a.example/"), target("https://b.example/"));
        for status in [301, 302, 303] {
            let status = StatusCode::from_u16(status).unwrap();
            let sent_on = asking(FetchMethod::Post, &[]).unwrap().sent_on(status, &here, &there).unwrap();
            assert_eq!((sent_on.method, sent_on.body.len()), (Method::GET, 0));
        }
        for status in [307, 308] {
            let status = StatusCode::from_u16(status).unwrap();
            assert!(asking(FetchMethod::Post, &[]).unwrap().sent_on(status, &here, &there).is_err());
            let sent_on = asking(FetchMethod::Put, &[]).unwrap().sent_on(status, &here, &here).unwrap();
            assert_eq!((sent_on.method, sent_on.body.len()), (Method::PUT, 4));
        }
    }

    #[test]
    fn only_a_post_becomes_a_question_on_its_way() {
        use FetchMethod::{Delete, Get, Head, Patch, Post, Put};
        let (here, there) = (target("https://a.example/"), target("https://b.example/"));
        let sent_on = |method, status, to| {
            let status = StatusCode::from_u16(status).unwrap();
            let asking = asking(method, &[]).unwrap().sent_on(status, &here, to);
            asking.map(|asking| (asking.fetch_method(), asking.body.len()))
        };
        for method in [Put, Patch, Delete] {
            for status in [301, 302, 307, 308] {
                assert_eq!(sent_on(method, status, &here), Ok((method, 4)), "{method:?} {status}");
                assert!(sent_on(method, status, &there).is_err(), "{method:?} {status}");
            }
            assert_eq!(sent_on(method, 303, &there), Ok((Get, 0)), "{method:?}");
        }
        for status in [301, 302, 303] {
            assert_eq!(sent_on(Post, status, &here), Ok((Get, 0)), "{status}");
        }
        for status in [301, 302, 303, 307, 308] {
            for method in [Get, Head] {
                assert_eq!(sent_on(method, status, &there), Ok((method, 0)), "{method:?} {status}");
            }
        }
    }

    #[test]
    fn nothing_leads_away_from_tls() {
        let (tls, plain) = (target("https://a.example/"), target("http://a.example/"));
        let ask = || asking(FetchMethod::Get, &[]).unwrap();
        assert!(ask().sent_on(StatusCode::FOUND, &tls, &plain).is_err());
        assert!(ask().sent_on(StatusCode::FOUND, &plain, &tls).is_ok());
    }
}
