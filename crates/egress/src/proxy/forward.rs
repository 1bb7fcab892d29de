//! One request through the proxy, and its answer back.
//!
//! Owns what is changed on the way: headers that steer a connection are taken off on both sides, and a credential is
//! put on where one is bound. Invariant: a message is taken apart and made anew, so that what is sent has one reading.
//! Begin at [`answer`].

use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Request, Response, StatusCode, Uri};
use palyra_ports::EgressVerdict;
use tokio_util::task::AbortOnDropHandle;

use super::gate::{self, ProxyPassage, ProxyRefusal, Upstream};
use super::masked::{self, MaskedBody};
use super::meter::{LastActivity, MeteredLine};
use super::tunnel::Tunnel;
use super::{Call, TunnelSlot};
use crate::dial::DialError;
use crate::fetcher::credential_header;
use crate::server_line::{LineError, OpenLine, exchange};
use crate::target::{Endpoint, Scheme};

/// Headers that are between two neighbours only (RFC 9110, section 7.6.1), and those that speak to proxies.
const NEIGHBOURLY: &[&str] = &[
    "connection",
    "expect",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// An answer of ours, or a server's.
pub(super) type ReplyBody = Either<Full<Bytes>, ForwardedBody>;

/// Answers one request of the program.
pub(super) async fn answer(
    mut request: Request<Incoming>,
    call: &Call,
    slot: &TunnelSlot,
) -> Response<ReplyBody> {
    let upgrade = hyper::upgrade::on(&mut request);
    let (head, body) = request.into_parts();
    let answered = match gate::judge(&head, &call.grant) {
        Err(refusal) => Err(refusal),
        Ok(ProxyPassage::Tunnel { endpoint }) => open(call, Scheme::Http, &endpoint).await.map(|open| {
            let tunnel = Tunnel { client: upgrade, server: open.line, endpoint };
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(tunnel);
            Response::new(Either::Left(Full::default()))
        }),
        Ok(ProxyPassage::Forward { upstream, uri }) => forward(call, head, body, *upstream, uri).await,
    };
    answered.unwrap_or_else(|refusal| {
        let reason = refusal.reason;
        call.contacts.note(refusal.endpoint.as_ref(), EgressVerdict::Refused { reason });
        reply(refusal.status, reason)
    })
}

async fn forward(
    call: &Call,
    head: Parts,
    body: Incoming,
    upstream: Upstream,
    uri: Uri,
) -> Result<Response<ReplyBody>, ProxyRefusal> {
    let mut headers = head.headers;
    take_off_neighbourly(&mut headers);
    let malformed = |_| ProxyRefusal {
        status: StatusCode::BAD_REQUEST,
        reason: "its host is not a valid header",
        endpoint: None,
    };
    headers.insert(HOST, HeaderValue::from_str(&upstream.host_header).map_err(malformed)?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if body.size_hint().exact().is_none() {
        // Its chunks are made anew. Unless it is said, the library sends no body with some methods.
        headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    let mask = upstream.credential.as_ref().and(call.mask.as_ref());
    if mask.is_some() {
        masked::ask_plainly(&mut headers);
    }
    if let Some(credential) = upstream.credential {
        let filled = credential_header(&*call.credentials, credential).await;
        let (name, value) = filled.map_err(|_| ProxyRefusal {
            status: StatusCode::FORBIDDEN,
            reason: "its credential could not be had",
            endpoint: Some(upstream.endpoint.clone()),
        })?;
        headers.insert(name, value);
    }
    let open = open(call, upstream.scheme, &upstream.endpoint).await?;
    let line = MeteredLine::new(open.line, Arc::new(LastActivity::default()), Some(call.budget.clone()));
    let mut message = Request::new(body);
    *message.method_mut() = head.method;
    *message.uri_mut() = uri;
    *message.headers_mut() = headers;
    let header_bytes_max = call.grant.limits.header_bytes_max;
    let Ok(answer) = exchange(Box::new(line), message, header_bytes_max, &call.drivers).await else {
        return Ok(reply(StatusCode::BAD_GATEWAY, "the server's answer was given up"));
    };
    let (mut head, body) = answer.response.into_parts();
    take_off_neighbourly(&mut head.headers);
    let body = match mask {
        Some(_) if !masked::is_searchable(&head.headers) => {
            let reason = "its answer is packed, so that the credential cannot be looked for in it";
            return Ok(reply(StatusCode::BAD_GATEWAY, reason));
        }
        Some(mask) => {
            head.headers = masked::mask_headers(&head.headers, &**mask);
            AnswerBody::Masked(MaskedBody::new(body, mask.begin()))
        }
        None => AnswerBody::Whole(body),
    };
    let mut response = Response::new(Either::Right(ForwardedBody { body, _driver: answer.driver }));
    *response.status_mut() = head.status;
    *response.headers_mut() = head.headers;
    Ok(response)
}

/// Opens a line and notes what came of it.
async fn open(call: &Call, scheme: Scheme, endpoint: &Endpoint) -> Result<OpenLine, ProxyRefusal> {
    let refused = |status, reason| ProxyRefusal { status, reason, endpoint: Some(endpoint.clone()) };
    match call.lines.open(scheme, endpoint, call.grant.limits.connect_time_max).await {
        Ok(open) => {
            call.contacts.note(Some(endpoint), EgressVerdict::Reached { address: open.address });
            Ok(open)
        }
        Err(LineError::Dial(DialError::LocalName)) => {
            Err(refused(StatusCode::FORBIDDEN, "its host is of a local network"))
        }
        Err(LineError::Dial(DialError::Address { what, .. })) => Err(refused(StatusCode::FORBIDDEN, what)),
        Err(LineError::Dial(DialError::Unresolved(_) | DialError::Unreachable(_)) | LineError::Tls(_)) => {
            call.contacts.note(Some(endpoint), EgressVerdict::Failed);
            Err(refused(StatusCode::BAD_GATEWAY, "it could not be reached"))
        }
    }
}

fn reply(status: StatusCode, reason: &'static str) -> Response<ReplyBody> {
    let mut response = Response::new(Either::Left(Full::from(format!("palyra: {reason}\n"))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    // Whatever is left of the request is not read.
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn take_off_neighbourly(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in NEIGHBOURLY {
        headers.remove(*name);
    }
}

/// A server's body; its line is open as long as this lives.
pub(super) struct ForwardedBody {
    body: AnswerBody,
    _driver: AbortOnDropHandle<()>,
}

/// As it came, or without secrets.
enum AnswerBody {
    Whole(Incoming),
    Masked(MaskedBody),
}

impl Body for ForwardedBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.body {
            AnswerBody::Whole(body) => Pin::new(body).poll_frame(context),
            AnswerBody::Masked(body) => body.poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.body {
            AnswerBody::Whole(body) => body.is_end_stream(),
            AnswerBody::Masked(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            AnswerBody::Whole(body) => body.size_hint(),
            AnswerBody::Masked(body) => body.size_hint(),
        }
    }
}
