//! Fetching: one request, the redirects it meets, and a bounded answer.
//!
//! Owns the walk from hop to hop and the limits of the whole. What a hop may carry is `asking`'s, how an answer's
//! body is read is `unpacking`'s. Invariant: every hop is read, matched with the grant and dialled as the first one
//! is; no proxy that the environment names is used.
//! Begin at `Fetcher::walk`.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::Full;
use hyper::header::{HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use hyper::{Request, StatusCode, Uri};
use palyra_ports::{
    CancelFlag, FetchError, FetchFailure, FetchHop, FetchHttp, FetchReach, FetchRequest, FetchResponse,
    FillCredential,
};
use palyra_types::{Content, ErrorCode, PrincipalId};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::dial::DialError;
use crate::resolve::LookupRooms;
use crate::server_line::{ExchangeError, LineError, PendingAnswer, UpstreamConnector, exchange};
use crate::target::{Endpoint, Scheme, Target, TargetRefusal};
use crate::tls::is_no_tls;
use request_parts::{RequestParts, TargetOrigin};

pub(crate) mod request_parts;
mod unpacking;

/// How long connecting to one server may take, TLS included.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Fetches over lines of its own.
#[derive(Clone)]
pub struct Fetcher {
    lines: UpstreamConnector,
    credentials: Arc<dyn FillCredential>,
    rooms: Arc<LookupRooms>,
}

impl Fetcher {
    /// Makes a fetcher.
    pub fn new(lines: UpstreamConnector, credentials: Arc<dyn FillCredential>) -> Self {
        Self { lines, credentials, rooms: Arc::default() }
    }

    /// Makes one for a principal, whose lookups take nobody else's room.
    #[must_use]
    pub fn serving(&self, principal: PrincipalId) -> Self {
        Self { lines: self.lines.looking_up_in(self.rooms.of(principal)), ..self.clone() }
    }
}

impl FetchHttp for Fetcher {
    fn fetch(
        &self,
        request: FetchRequest,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<FetchResponse, FetchError>> {
        let fetcher = self.clone();
        Box::pin(async move {
            let mut reached = FetchReach::Nobody;
            let limit = request.limits.time_max;
            let outcome = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(FetchFailure::Cancelled),
                walked = timeout(limit, fetcher.walk(&request, &mut reached)) => {
                    walked.unwrap_or(Err(FetchFailure::TimedOut { limit }))
                }
            };
            outcome.map_err(|failure| FetchError { failure, reached })
        })
    }
}

impl Fetcher {
    async fn walk(
        &self,
        request: &FetchRequest,
        reached: &mut FetchReach,
    ) -> Result<FetchResponse, FetchFailure> {
        let mut asking = RequestParts::read(request).map_err(|reason| FetchFailure::Request { reason })?;
        let mut target = Target::read(request.url.expose()).map_err(unreadable)?;
        let mut hops = Vec::new();
        loop {
            let answer = self.ask(&target, &asking, request, reached).await?;
            let status = answer.response.status();
            if !asking.method.is_safe() {
                *reached = FetchReach::Answered { status: status.as_u16() };
            }
            let Some(location) = location(status, answer.response.headers())? else {
                return finish(answer, &target, hops, request).await;
            };
            if hops.len() >= request.limits.redirects_max as usize {
                return Err(FetchFailure::Redirect { reason: "there are too many" });
            }
            let next = target.follow(location).map_err(|refusal| redirect(refusal.reason()))?;
            asking = asking.sent_on(status, &target, &next).map_err(redirect)?;
            let (from, next_method) = (Content::new(target.to_url()), asking.fetch_method());
            hops.push(FetchHop { status: status.as_u16(), from, next: next_method });
            target = next;
        }
    }

    async fn ask(
        &self,
        target: &Target,
        asking: &RequestParts,
        request: &FetchRequest,
        reached: &mut FetchReach,
    ) -> Result<PendingAnswer, FetchFailure> {
        let endpoint = target.endpoint();
        if !request.hosts.covers(&endpoint.host.to_string(), endpoint.port) {
            return Err(FetchFailure::HostNotGranted {
                host: endpoint.host.to_string(),
                port: endpoint.port,
            });
        }
        let uri: Uri = target.path_and_query().parse().map_err(|_| FetchFailure::Url {
            reason: "its path holds a character that has no place there",
        })?;
        let mut headers = asking.headers.clone();
        match asking.way {
            TargetOrigin::Own => self.add_credentials(target, request, &mut headers).await?,
            TargetOrigin::Led => (),
        }
        let host = HeaderValue::from_str(&target.host_header())
            .map_err(|_| FetchFailure::Url { reason: TargetRefusal::Host.reason() })?;
        headers.insert(hyper::header::HOST, host);

        let open = self.lines.open(target.scheme(), endpoint, CONNECT_TIME_MAX).await;
        let open = open.map_err(|cause| not_open(endpoint, cause))?;
        let mut message = Request::new(Full::new(asking.body.clone()));
        *message.method_mut() = asking.method.clone();
        *message.uri_mut() = uri;
        *message.headers_mut() = headers;
        *reached = further(*reached, asking.method.is_safe());
        let header_bytes_max = request.limits.header_bytes_max;
        let answer = exchange(open.line, message, header_bytes_max, &TaskTracker::new()).await;
        answer.map_err(|cause| broken(&cause))
    }

    /// Adds what is bound to this very server; nothing leaves without TLS.
    async fn add_credentials(
        &self,
        target: &Target,
        request: &FetchRequest,
        headers: &mut HeaderMap,
    ) -> Result<(), FetchFailure> {
        if target.scheme() != Scheme::Https {
            return Ok(());
        }
        let endpoint = target.endpoint();
        let host = endpoint.host.to_string();
        for bound in &request.credentials {
            if bound.host == host && bound.port == endpoint.port {
                let (name, value) = credential_header(&*self.credentials, bound.clone()).await?;
                headers.insert(name, value);
            }
        }
        Ok(())
    }
}

/// Looks up what a handle stands for, as a header that no log shows.
pub(crate) async fn credential_header(
    credentials: &dyn FillCredential,
    credential: palyra_ports::BoundCredential,
) -> Result<(HeaderName, HeaderValue), palyra_ports::CredentialUnavailable> {
    let unusable = palyra_ports::CredentialUnavailable {
        handle: credential.handle.clone(),
        code: ErrorCode::SecretUnsuitable,
        why: "it is not a valid header".to_owned(),
    };
    let filled = credentials.fill(credential).await?;
    let name = HeaderName::try_from(filled.name.as_str());
    let value = HeaderValue::try_from(filled.value.into_exposed());
    let (Ok(name), Ok(mut value)) = (name, value) else { return Err(unusable) };
    value.set_sensitive(true);
    Ok((name, value))
}

/// Returns where an answer sends us on to, if it does.
fn location(status: StatusCode, headers: &HeaderMap) -> Result<Option<&str>, FetchFailure> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let mut values = headers.get_all(LOCATION).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            std::str::from_utf8(value.as_bytes()).map(Some).map_err(|_| redirect("its address is not text"))
        }
        (Some(_), Some(_)) => Err(redirect("it names two addresses")),
    }
}

async fn finish(
    answer: PendingAnswer,
    target: &Target,
    hops: Vec<FetchHop>,
    request: &FetchRequest,
) -> Result<FetchResponse, FetchFailure> {
    let (head, body) = answer.response.into_parts();
    let (body, completeness) = unpacking::read(body, &head.headers, &request.limits).await?;
    drop(answer.driver);
    let told = head.headers.iter().filter(|(name, _)| *name != SET_COOKIE);
    let text = |value: &HeaderValue| Content::new(String::from_utf8_lossy(value.as_bytes()).into_owned());
    Ok(FetchResponse {
        url: Content::new(target.to_url()),
        hops,
        status: head.status.as_u16(),
        headers: told.map(|(name, value)| (name.as_str().to_owned(), text(value))).collect(),
        body: Content::new(Bytes::into(body)),
        completeness,
    })
}

fn further(reached: FetchReach, is_safe: bool) -> FetchReach {
    match (reached, is_safe) {
        (FetchReach::Nobody | FetchReach::OnlyAsked, true) => FetchReach::OnlyAsked,
        (answered @ FetchReach::Answered { .. }, true) => answered,
        (FetchReach::PerhapsDone, _) | (_, false) => FetchReach::PerhapsDone,
    }
}

fn redirect(reason: &'static str) -> FetchFailure {
    FetchFailure::Redirect { reason }
}

fn unreadable(refusal: TargetRefusal) -> FetchFailure {
    FetchFailure::Url { reason: refusal.reason() }
}

fn broken(cause: &ExchangeError) -> FetchFailure {
    let reason = match cause {
        ExchangeError::Upgraded => "it changed the protocol",
        ExchangeError::TooLong => "its headers are too long",
        ExchangeError::Broken(cause) if cause.is_parse() => "it is not HTTP",
        ExchangeError::Broken(_) => "it ended before its headers did",
    };
    FetchFailure::Answer { reason }
}

fn not_open(endpoint: &Endpoint, cause: LineError) -> FetchFailure {
    let (host, port) = (endpoint.host.to_string(), endpoint.port);
    match cause {
        LineError::Dial(DialError::LocalName) => {
            FetchFailure::Url { reason: "its host is of a local network" }
        }
        LineError::Dial(DialError::Address { address, what }) => {
            FetchFailure::Address { host, address, what }
        }
        LineError::Dial(DialError::Unresolved(cause)) => FetchFailure::Unresolved { host, cause },
        LineError::Dial(DialError::Unreachable(cause)) => FetchFailure::Unreachable { host, port, cause },
        LineError::Tls(cause) if is_no_tls(&cause) => FetchFailure::NoTls { host, port },
        LineError::Tls(cause) => FetchFailure::Tls { host, cause },
    }
}
