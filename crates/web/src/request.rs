//! From what a model says to a request.
//!
//! Owns the headers that may be said, and whom a call covers: the host of its address, and those it names. Invariant: a
//! host is read once, by the reader of whoever fetches; a credential goes to the host of the address and nowhere else.
//! Begin at [`ParsedCall::read`].

use std::collections::BTreeMap;

use palyra_ports::{
    BoundCredential, CredentialHandle, CredentialUser, FetchLimits, FetchMethod, FetchRequest, HostRule,
    HostScope, ReadUrl, SecretName, UrlPrivacy, UrlServer,
};
use palyra_types::Content;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::WebFailure;

/// Hosts beside that of the address, at most.
const HOSTS_MAX: usize = 16;
/// Headers of one call, at most.
const HEADERS_MAX: usize = 16;
/// The longest value of a header.
const HEADER_VALUE_CHARS_MAX: usize = 1024;
/// The longest address.
const URL_CHARS_MAX: usize = 8192;

/// Headers that only ask.
const ASKING: [&str; 5] = ["accept", "accept-language", "if-none-match", "if-modified-since", "range"];
/// Headers that come with what is sent.
const SENDING: [&str; 4] = ["content-type", "if-match", "if-unmodified-since", "prefer"];
/// Headers by which interfaces tell their versions apart end like this.
const VERSION_END: &str = "-version";

/// Whether a call may only ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallManner {
    Asks,
    Sends,
}

/// What both tools understand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct CommonArguments {
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
    pub(crate) credential: Option<String>,
}

/// A call that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedCall {
    pub(crate) server: UrlServer,
    hosts: Vec<HostRule>,
    headers: Vec<(String, String)>,
    pub(crate) credential: Option<SecretName>,
    url: String,
}

impl ParsedCall {
    /// Reads what a call asks for, and of whom.
    pub(crate) fn read(
        reader: &dyn ReadUrl,
        common: &CommonArguments,
        manner: CallManner,
    ) -> Result<Self, WebFailure> {
        let refused = |reason| WebFailure::Fetch {
            code: palyra_types::ErrorCode::FetchRefused,
            told: format!("the address was refused: {reason}"),
        };
        let server = reader.read_url(&common.url).map_err(refused)?;
        let hosts = common.hosts.iter().map(|host| {
            host.parse().map_err(|error| WebFailure::Arguments(format!("`{host}` in `hosts`: {error}")))
        });
        let hosts: Vec<HostRule> = hosts.collect::<Result<_, _>>()?;
        let credential = common.credential.as_deref().map(|name| name.parse::<SecretName>()).transpose();
        let credential = credential.map_err(|error| WebFailure::Arguments(error.to_string()))?;
        if credential.is_some() && server.privacy == UrlPrivacy::Plain {
            return Err(WebFailure::Arguments(
                "a credential is sent over https:// only, and this address is http://: a server that speaks http:// alone gets none. \
                 Leave `credential` out, or use its https:// address if it has one; nothing was sent"
                    .to_owned(),
            ));
        }
        let headers = common.headers.iter().map(|(name, value)| {
            let name = name.to_ascii_lowercase();
            if is_shown_header(&name, manner) {
                Ok((name, value.clone()))
            } else {
                Err(refused_header(&name, manner))
            }
        });
        let headers = headers.collect::<Result<_, _>>()?;
        Ok(Self { server, hosts, headers, credential, url: common.url.clone() })
    }

    /// Returns the headers of the call, with lower-case names.
    pub(crate) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Returns the secret of the call, with the one server to which it is sent.
    pub(crate) fn secrets(&self, used_by: Option<CredentialUser>) -> Vec<BoundCredential> {
        let UrlServer { host, port, .. } = &self.server;
        let bound = |name: &SecretName| BoundCredential {
            host: host.clone(),
            port: *port,
            handle: CredentialHandle(name.as_str().to_owned()),
            used_by,
        };
        self.credential.iter().map(bound).collect()
    }

    /// Returns the request, made for one effect.
    pub(crate) fn request(&self, method: FetchMethod, body: Vec<u8>, user: CredentialUser) -> FetchRequest {
        let UrlServer { host, port, .. } = &self.server;
        let own = HostRule::exact(host.clone());
        let own = if own.covers(host, *port) { own } else { own.at(*port) };
        FetchRequest {
            method,
            url: Content::new(self.url.clone()),
            headers: self.headers.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect(),
            body: Content::new(body),
            hosts: HostScope::Only([own].into_iter().chain(self.hosts.iter().cloned()).collect()),
            credentials: self.secrets(Some(user)),
            limits: FetchLimits::default(),
        }
    }
}

fn is_shown_header(name: &str, manner: CallManner) -> bool {
    let version = name.ends_with(VERSION_END) && !name.starts_with("sec-") && !name.starts_with("proxy-");
    match manner {
        CallManner::Asks => version || ASKING.contains(&name),
        CallManner::Sends => version || ASKING.contains(&name) || SENDING.contains(&name),
    }
}

fn refused_header(name: &str, manner: CallManner) -> WebFailure {
    let more = match manner {
        CallManner::Asks => String::new(),
        CallManner::Sends => format!(", {}", SENDING.join(", ")),
    };
    let key = match name {
        "authorization" | "cookie" | "x-api-key" => "; a secret of the vault is named in `credential`",
        _ => "",
    };
    let shown: String = name.chars().filter(|c| c.is_ascii_graphic()).take(64).collect();
    WebFailure::Arguments(format!(
        "the header `{shown}` is not sent; there are {}{more} and those that end in {VERSION_END}{key}",
        ASKING.join(", ")
    ))
}

/// Returns the schema of what both tools understand.
pub(crate) fn shared_properties() -> Value {
    json!({
        "url": {
            "type": "string", "x-palyra-meaning": "host", "minLength": 1, "maxLength": URL_CHARS_MAX,
            "description": "The whole address, such as https://example.com/page.",
        },
        "headers": {
            "type": "object", "x-palyra-meaning": "text", "maxProperties": HEADERS_MAX,
            "additionalProperties": {"type": "string", "maxLength": HEADER_VALUE_CHARS_MAX},
            "description": "Further headers, such as {\"accept\": \"application/json\"}.",
        },
        "hosts": {
            "type": "array", "x-palyra-meaning": "host", "maxItems": HOSTS_MAX, "items": {"type": "string", "maxLength": 261},
            "description": "Other hosts to which redirects may lead, such as [\"www.example.com\"].",
        },
        "credential": {
            "type": "string", "x-palyra-meaning": "credential", "pattern": "^[a-z][a-z0-9_.-]{0,63}$",
            "description": "The name of a secret that the person keeps for this host; its value is added on the way.",
        },
    })
}

#[cfg(test)]
mod tests {
    use palyra_types::{EffectId, PrincipalId, RunId};

    use super::*;

    /// Reads nothing but what it was told.
    struct Known(UrlServer);

    impl ReadUrl for Known {
        fn read_url(&self, url: &str) -> Result<UrlServer, &'static str> {
            if url.starts_with("http") { Ok(self.0.clone()) } else { Err("it is odd") }
        }

        fn certain_refusal(&self, _url: &str) -> Option<String> {
            None
        }
    }

    fn server(port: u16, privacy: UrlPrivacy) -> Known {
        Known(UrlServer { host: "a.example".to_owned(), port, privacy })
    }

    fn common(more: &Value) -> CommonArguments {
        let mut whole = json!({"url": "https://a.example/x"});
        whole.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(whole).unwrap()
    }

    fn request(reader: &Known, more: &Value) -> FetchRequest {
        let asked = ParsedCall::read(reader, &common(more), CallManner::Sends).unwrap();
        let user = CredentialUser {
            principal: PrincipalId::from_parts(1, 1),
            run: RunId::from_parts(1, 1),
            effect: EffectId(1),
        };
        asked.request(FetchMethod::Post, Vec::new(), user)
    }

    #[test]
    fn a_call_covers_its_own_host_and_those_it_names() {
        let plain = request(&server(443, UrlPrivacy::Tls), &json!({"hosts": ["*.b.example"]}));
        for (host, port, covered) in [
            ("a.example", 443, true),
            ("a.example", 80, true),
            ("a.example", 8443, false),
            ("c.b.example", 443, true),
            ("b.example", 443, false),
            ("c.example", 443, false),
        ] {
            assert_eq!(plain.hosts.covers(host, port), covered, "{host}:{port}");
        }
        let other = request(&server(8443, UrlPrivacy::Tls), &json!({}));
        assert!(other.hosts.covers("a.example", 8443) && !other.hosts.covers("a.example", 443));
    }

    #[test]
    fn a_credential_is_for_the_host_of_the_address_under_tls() {
        let named = json!({"credential": "github", "hosts": ["b.example"]});
        let request = request(&server(443, UrlPrivacy::Tls), &named);
        let bound = &request.credentials[0];
        assert_eq!((bound.host.as_str(), bound.port, bound.handle.0.as_str()), ("a.example", 443, "github"));
        assert_eq!(request.credentials.len(), 1);
        let plain = ParsedCall::read(&server(80, UrlPrivacy::Plain), &common(&named), CallManner::Asks);
        assert!(matches!(plain, Err(WebFailure::Arguments(_))));
    }

    #[test]
    fn only_harmless_headers_are_said() {
        let reader = server(443, UrlPrivacy::Tls);
        let read = |name: &str, manner| {
            ParsedCall::read(&reader, &common(&json!({"headers": {name: "x"}})), manner)
                .map(|asked| asked.headers)
        };
        for name in ["Accept", "if-none-match", "X-GitHub-Api-Version"] {
            assert_eq!(read(name, CallManner::Asks).unwrap()[0].0, name.to_ascii_lowercase());
        }
        assert!(
            read("content-type", CallManner::Sends).is_ok()
                && read("content-type", CallManner::Asks).is_err()
        );
        for name in [
            "host",
            "cookie",
            "authorization",
            "x-http-method-override",
            "x-forwarded-for",
            "x-original-url",
            "idempotency-key",
            "content-length",
            "proxy-version",
            "sec-websocket-version",
            "",
        ] {
            assert!(matches!(read(name, CallManner::Sends), Err(WebFailure::Arguments(_))), "{name}");
        }
    }

    #[test]
    fn what_is_no_address_and_no_host_is_refused() {
        let reader = server(443, UrlPrivacy::Tls);
        let odd = CommonArguments { url: "odd".to_owned(), ..CommonArguments::default() };
        assert!(matches!(ParsedCall::read(&reader, &odd, CallManner::Asks), Err(WebFailure::Fetch { .. })));
        let host = common(&json!({"hosts": ["http://b.example"]}));
        assert!(matches!(ParsedCall::read(&reader, &host, CallManner::Asks), Err(WebFailure::Arguments(_))));
    }
}
