//! The connection to a server: sends requests, hands over bytes, and says why it could not.
//!
//! Owns the credential and every timeout. Invariant: the credential goes to the configured address
//! only (no redirects), and into no message.

use std::future::Future;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::Bytes;
use palyra_ports::{GATEWAY_HEADER, GatewayTrail, TRUST_FILE_VARIABLE, trust_file_hint};
use palyra_types::Content;
use palyra_types::model::{ModelFailure, ModelFailureClass, ProviderName};
use reqwest::header::{ACCEPT, CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, Url};
use tokio::time::{Instant, Sleep};

use super::failure::{DETAIL_BYTES_MAX, Rows, bounded, failure, status_failure};
use super::http_client::HttpClient;
use super::retry_after::{PauseHeaders, retry_after};
use super::server::{ProviderConfigError, Timeouts};
use crate::secret::Secret;

/// How much of an error's body is read.
const ERROR_BODY_BYTES_MAX: usize = 64 * 1024;
/// How long, and for how many reads, the end of a body is waited for once the answer is complete.
const REST_TIMEOUT: Duration = Duration::from_millis(500);
const REST_CHUNKS_MAX: usize = 4;
/// How much of what a server said is kept beside the words about the key.
const SAID_BESIDE_KEY_BYTES_MAX: usize = DETAIL_BYTES_MAX / 2;
/// The name of the provider that the environment selects, whose key is in the environment, too.
const ENVIRONMENT_PROVIDER: &str = "openai";
/// How large a list of models may be.
const LIST_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A way to a server.
pub(crate) struct ServerLink {
    client: HttpClient,
    headers: HeaderMap,
    key: Option<Secret>,
    /// What to say of the key where a server does not take it, or wants one and there is none.
    of_key: Option<String>,
    timeouts: Timeouts,
    failures: Rows,
    /// Names the gateways that a request passes.
    gateways: GatewayTrail,
}

/// What a way to a server is made from.
pub(crate) struct LinkParts<'a> {
    /// The operator's name for the provider.
    pub(crate) provider: &'a ProviderName,
    /// Any address of the server.
    pub(crate) server: &'a Url,
    /// How long it is waited for.
    pub(crate) timeouts: Timeouts,
    /// The classes of its errors.
    pub(crate) failures: Rows,
    /// The credential.
    pub(crate) key: Option<&'a Secret>,
    /// The header that carries the credential, and what stands before it there.
    pub(crate) key_header: (HeaderName, &'static str),
    /// What else goes with every request.
    pub(crate) headers: &'a [(HeaderName, &'static str)],
    /// Names the gateways that a request passes.
    pub(crate) gateways: &'a GatewayTrail,
}

/// How long a reply may be silent, watched by one timer for all of it: one for each piece would cost as much as
/// reading the piece.
pub(crate) struct SilenceTimer {
    span: Duration,
    alarm: Pin<Box<Sleep>>,
}

impl SilenceTimer {
    fn new(span: Duration) -> Self {
        Self { span, alarm: Box::pin(tokio::time::sleep(span)) }
    }

    /// Waits for a future, but for no longer than the span; `None` then.
    async fn broken_by<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let until = Instant::now() + self.span;
        let mut future = pin!(future);
        loop {
            tokio::select! {
                biased;
                done = future.as_mut() => return Some(done),
                () = self.alarm.as_mut() => {
                    if Instant::now() >= until {
                        return None;
                    }
                    // It was set for an earlier piece.
                    self.alarm.as_mut().reset(until);
                }
            }
        }
    }
}

impl ServerLink {
    /// Makes the way; connects to nothing yet.
    pub(crate) fn new(parts: LinkParts<'_>) -> Result<Self, ProviderConfigError> {
        let mut headers = HeaderMap::new();
        for (name, value) in parts.headers {
            headers.insert(name.clone(), HeaderValue::from_static(value));
        }
        if let Some(key) = parts.key {
            let (name, prefix) = parts.key_header;
            let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose()))
                .map_err(|_| ProviderConfigError::Key)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let client = HttpClient::new(parts.server, parts.timeouts.connect);
        let (key, timeouts, failures) = (parts.key.cloned(), parts.timeouts, parts.failures);
        let of_key = match parts.key {
            Some(key) => key.origin().map(|origin| format!("the key is `{origin}`")),
            None => Some(no_key(parts.provider)),
        };
        let gateways = parts.gateways.clone();
        Ok(Self { client, headers, key, of_key, timeouts, failures, gateways })
    }

    /// Posts a request and returns the reply once its head has come and is a good one.
    pub(crate) async fn post(&self, url: &Url, body: String) -> Result<Response, ModelFailure> {
        let request = self.client()?.post(url.clone()).header(CONTENT_TYPE, "application/json");
        self.send(request.header(ACCEPT, "text/event-stream, application/json").body(body)).await
    }

    /// Posts a request and returns the whole document that answers it.
    pub(crate) async fn post_for_document(
        &self,
        url: &Url,
        body: String,
        bytes_max: usize,
    ) -> Result<Vec<u8>, ModelFailure> {
        let request = self.client()?.post(url.clone()).header(CONTENT_TYPE, "application/json");
        let mut response = self.send(request.header(ACCEPT, "application/json").body(body)).await?;
        // One byte more shows that there is more.
        let body = self.body(&mut response, bytes_max.saturating_add(1)).await;
        let body = body.map_err(|failure| self.scrubbed(failure))?;
        if body.len() > bytes_max {
            let detail =
                format!("the answer has more than the {bytes_max} bytes that are read for this request");
            return Err(failure(ModelFailureClass::Malformed, &detail));
        }
        Ok(body)
    }

    /// Gets a document.
    pub(crate) async fn get(&self, url: &Url) -> Result<Vec<u8>, ModelFailure> {
        let mut response =
            self.send(self.client()?.get(url.clone()).header(ACCEPT, "application/json")).await?;
        let body = self.body(&mut response, LIST_BODY_BYTES_MAX).await;
        body.map_err(|failure| self.scrubbed(failure))
    }

    /// Returns the next bytes of a reply, `None` at its end.
    pub(crate) async fn next(
        &self,
        response: &mut Response,
        silence: &mut SilenceTimer,
    ) -> Result<Option<Bytes>, ModelFailure> {
        match silence.broken_by(response.chunk()).await {
            Some(Ok(chunk)) => Ok(chunk),
            Some(Err(error)) => Err(self.scrubbed(transport_failure(error))),
            None => Err(silent_for(silence.span)),
        }
    }

    /// Begins to watch over the silence of a reply.
    pub(crate) fn silence(&self) -> SilenceTimer {
        SilenceTimer::new(self.timeouts.idle)
    }

    /// Reads what little is left behind the end of an answer, so that the connection can serve the
    /// next request; a server that goes on is hung up on.
    pub(crate) async fn finish(mut response: Response) {
        let rest = async {
            for _ in 0..REST_CHUNKS_MAX {
                if !matches!(response.chunk().await, Ok(Some(_))) {
                    return;
                }
            }
        };
        // Whether it ended or not, there is nothing more to do.
        drop(tokio::time::timeout(REST_TIMEOUT, rest).await);
    }

    /// Takes the credential out of what a server said, and keeps so much of it as failures may hold.
    pub(crate) fn scrubbed(&self, failure: ModelFailure) -> ModelFailure {
        let ModelFailure { class, detail, retry_after } = failure;
        let said = detail.expose();
        let clean = self.key.as_ref().map_or_else(|| said.clone(), |key| key.scrub(said));
        let is_about_key = match class {
            ModelFailureClass::Auth => true,
            ModelFailureClass::Permission => self.key.is_some(),
            _ => false,
        };
        // A failure of the request itself comes here twice.
        let of_key = self.of_key.as_ref().filter(|of_key| is_about_key && !clean.ends_with(*of_key));
        let detail = match of_key {
            Some(of_key) => format!("{}; {of_key}", bounded(&clean, SAID_BESIDE_KEY_BYTES_MAX)),
            None => bounded(&clean, DETAIL_BYTES_MAX).to_owned(),
        };
        let detail = Content::new(detail);
        ModelFailure { class, detail, retry_after }
    }

    fn client(&self) -> Result<&Client, ModelFailure> {
        let unmade = |_| failure(ModelFailureClass::Permanent, "no HTTP client can be made on this machine");
        self.client.get().map_err(unmade)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ModelFailure> {
        let request = match self.gateways.header() {
            Some(gateways) => request.header(GATEWAY_HEADER, gateways),
            None => request,
        };
        let request = request.headers(self.headers.clone());
        let mut response = match tokio::time::timeout(self.timeouts.first_byte, request.send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.scrubbed(transport_failure(error))),
            Err(_) => return Err(silent_for(self.timeouts.first_byte)),
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let pause = retry_after(pause_headers(response.headers()));
        // The status alone tells the class: a body that breaks off takes nothing away.
        let body = self.body(&mut response, ERROR_BODY_BYTES_MAX).await.unwrap_or_default();
        Err(self.scrubbed(status_failure(self.failures, status.as_u16(), &body, pause)))
    }

    async fn body(&self, response: &mut Response, bytes_max: usize) -> Result<Vec<u8>, ModelFailure> {
        let (mut body, mut silence) = (Vec::new(), self.silence());
        while let Some(chunk) = self.next(response, &mut silence).await? {
            let room = bytes_max - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == bytes_max {
                break;
            }
        }
        Ok(body)
    }
}

/// Says that no key is configured, and which setting names one.
fn no_key(provider: &ProviderName) -> String {
    let setting = if provider.as_str() == ENVIRONMENT_PROVIDER {
        "OPENAI_API_KEY, or `key` in its section of the configuration file where it has one".to_owned()
    } else {
        format!("`providers.{provider}.key = \"env:NAME\"`")
    };
    format!("no key is configured for `{provider}`: {setting}")
}

fn silent_for(span: Duration) -> ModelFailure {
    failure(ModelFailureClass::Timeout, &format!("the server was silent for {} s", span.as_secs_f64()))
}

fn pause_headers(headers: &HeaderMap) -> PauseHeaders<'_> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    PauseHeaders {
        retry_after_ms: text("retry-after-ms"),
        retry_after: text(RETRY_AFTER.as_str()),
        date: text(DATE.as_str()),
    }
}

fn transport_failure(error: reqwest::Error) -> ModelFailure {
    let class = if error.is_timeout() { ModelFailureClass::Timeout } else { ModelFailureClass::Network };
    // The URL may carry what its owner would not show.
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(below) = cause.source() {
        cause = below;
    }
    let cause = cause.to_string();
    let what = if error.is_connect() {
        unconnected(&cause)
    } else if error.is_body() || error.is_decode() {
        "the connection broke in the middle of the answer"
    } else {
        "the connection broke before an answer"
    };
    failure(class, &format!("{what}: {cause}{}", certificate_hint(&cause)))
}

/// Says what to check where a server's certificate is not accepted.
fn certificate_hint(cause: &str) -> String {
    if !cause.starts_with("invalid peer certificate") {
        return String::new();
    }
    match std::env::var_os(TRUST_FILE_VARIABLE).map(PathBuf::from) {
        Some(file) => format!("; {}", trust_file_hint(&file, &std::fs::File::open(&file))),
        None => {
            "; `palyra explain docs/http-fetch.md#certificates` says how an authority is added".to_owned()
        }
    }
}

/// How the library begins to say that a server answers TLS with something else.
const NO_TLS: [&str; 2] = ["received corrupt message", "tls handshake eof"];

/// Says why there is no connection; `cause` is what the system says.
fn unconnected(cause: &str) -> &'static str {
    if NO_TLS.iter().any(|words| cause.starts_with(words)) {
        "the server does not answer in TLS at that port, which may speak plain http: use the port where it speaks https, or \
         begin its address with http://"
    } else if cause.starts_with("failed to lookup address information") {
        "no connection to the server, since its host name cannot be resolved"
    } else {
        "no connection to the server"
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    const SPAN: Duration = Duration::from_secs(10);

    #[test]
    fn a_name_that_is_not_resolved_differs_from_a_server_that_is_not_reached() {
        for (cause, is_name) in [
            ("failed to lookup address information: Name or service not known", true),
            ("failed to lookup address information: Temporary failure in name resolution", true),
            ("Connection refused (os error 111)", false),
            ("Network is unreachable (os error 101)", false),
        ] {
            assert_eq!(unconnected(cause).contains("cannot be resolved"), is_name, "{cause}");
        }
    }

    #[tokio::test]
    async fn a_server_that_speaks_plain_http_to_an_https_address_is_no_matter_of_certificates() {
        use std::io::{Read, Write};

        for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b""] {
            let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = format!("https://{}/", server.local_addr().expect("an address"));
            let plain = std::thread::spawn(move || {
                let (mut line, _) = server.accept().expect("a client");
                let _ = line.read(&mut [0; 4096]);
                line.write_all(answer)
            });
            let client = HttpClient::new(&Url::parse(&address).expect("an address"), SPAN);
            let asked = client.get().expect("a client").get(&address).send().await;
            let told = transport_failure(asked.expect_err("no TLS")).detail.expose().clone();
            assert!(told.starts_with("the server does not answer in TLS at that port"), "{told}");
            assert!(!told.contains("certificate"), "{told}");
            plain.join().expect("a server").expect("answered");
        }
    }

    #[test]
    fn a_refused_key_is_named_by_its_place_and_never_by_its_value() {
        let link = |key: Option<&Secret>| {
            let server = Url::parse("http://h/v1").expect("an address");
            ServerLink::new(LinkParts {
                provider: &ProviderName::new("box"),
                server: &server,
                timeouts: Timeouts::default(),
                failures: &[],
                key,
                key_header: (reqwest::header::AUTHORIZATION, "Bearer "),
                headers: &[],
                gateways: &GatewayTrail::default(),
            })
            .expect("a link")
        };
        let refused = |link: &ServerLink, class| {
            let said = link.scrubbed(failure(class, "HTTP 401: no canary-17"));
            // A failure of the request itself is scrubbed twice.
            link.scrubbed(said).detail.expose().clone()
        };
        let keyed = link(Some(&Secret::new("canary-17").found_at(&"env:BOX_KEY")));
        let told = "HTTP 401: no [credential]; the key is `env:BOX_KEY`";
        assert_eq!(refused(&keyed, ModelFailureClass::Auth), told);
        assert_eq!(refused(&keyed, ModelFailureClass::Permission), told);
        assert_eq!(refused(&keyed, ModelFailureClass::Quota), "HTTP 401: no [credential]");
        let keyless = refused(&link(None), ModelFailureClass::Auth);
        assert!(
            keyless.ends_with("no key is configured for `box`: `providers.box.key = \"env:NAME\"`"),
            "{keyless}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_silence_begins_anew_with_each_piece() {
        let begun = Instant::now();
        let mut silence = SilenceTimer::new(SPAN);
        for _ in 0..3 {
            assert_eq!(silence.broken_by(tokio::time::sleep(SPAN * 9 / 10)).await, Some(()));
        }
        assert_eq!(begun.elapsed(), SPAN * 27 / 10);
        assert_eq!(silence.broken_by(pending::<()>()).await, None);
        assert_eq!(begun.elapsed(), SPAN * 37 / 10);
    }
}
