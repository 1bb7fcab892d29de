//! A line to a server: dialled, and with TLS where that is spoken.
//!
//! Owns the order of the two, and one HTTP/1.1 exchange over a line. A line serves one exchange and is closed: what a
//! server leaves in it cannot become an answer to somebody else.
//! Begin at `UpstreamConnector::open`.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::HeaderMap;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::dial::{DialError, Dialer};
use crate::resolve::LookupRoom;
use crate::target::{Endpoint, Scheme};
use crate::tls::Tls;

/// How many headers one message may have.
pub const HEADERS_MAX: usize = 128;
/// The least room for headers that the library can be held to.
pub(crate) const HEADER_BYTES_MIN: usize = 8 << 10;

/// Opens lines.
#[derive(Clone)]
pub struct UpstreamConnector {
    dialer: Dialer,
    tls: Tls,
}

/// Both directions of a connection, whatever it is made of.
pub(crate) trait ByteLine: AsyncRead + AsyncWrite + Send + Unpin {}
impl<Anything: AsyncRead + AsyncWrite + Send + Unpin> ByteLine for Anything {}

/// An open line, and whom it leads to.
pub(crate) struct OpenLine {
    pub(crate) line: Box<dyn ByteLine>,
    pub(crate) address: IpAddr,
}

/// Why a line is not open.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("the server did not prove its name")]
    Tls(#[source] io::Error),
}

impl UpstreamConnector {
    /// Makes lines with a dialer, and TLS over them.
    #[must_use]
    pub fn new(dialer: Dialer, tls: Tls) -> Self {
        Self { dialer, tls }
    }

    /// Makes lines for a caller who has lookups of its own.
    pub(crate) fn looking_up_in(&self, room: LookupRoom) -> Self {
        Self { dialer: self.dialer.looking_up_in(room), tls: self.tls.clone() }
    }

    /// Opens a line within a time, the resolver's and TLS's included.
    pub(crate) async fn open(
        &self,
        scheme: Scheme,
        endpoint: &Endpoint,
        time_max: Duration,
    ) -> Result<OpenLine, LineError> {
        let deadline = Instant::now() + time_max;
        let connection = self.dialer.connect(endpoint, time_max).await?;
        let address = connection.address;
        let line: Box<dyn ByteLine> = match scheme {
            Scheme::Http => Box::new(connection.stream),
            Scheme::Https => {
                let hello = timeout_at(deadline, self.tls.connect(&endpoint.host, connection.stream)).await;
                let late = |_| Err(io::ErrorKind::TimedOut.into());
                Box::new(hello.unwrap_or_else(late).map_err(LineError::Tls)?)
            }
        };
        Ok(OpenLine { line, address })
    }
}

/// An answer whose body is still to come; dropping it closes the line.
pub(crate) struct PendingAnswer {
    pub(crate) response: Response<Incoming>,
    pub(crate) driver: AbortOnDropHandle<()>,
}

/// Why an exchange has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExchangeError {
    /// It says that it speaks something else from now on.
    #[error("the server changed the protocol")]
    Upgraded,
    /// Its head is longer than the limit.
    #[error("the headers of the answer are too long")]
    TooLong,
    /// It is no HTTP, or it ended too early.
    #[error("the answer could not be read")]
    Broken(#[source] hyper::Error),
}

/// Sends a request over a line and returns the head of the answer. What carries it is among `drivers` until it is gone.
pub(crate) async fn exchange<Sent>(
    line: Box<dyn ByteLine>,
    request: Request<Sent>,
    header_bytes_max: usize,
    drivers: &TaskTracker,
) -> Result<PendingAnswer, ExchangeError>
where
    Sent: Body + Send + 'static,
    Sent::Data: Send,
    Sent::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut builder = http1::Builder::new();
    builder.max_buf_size(header_bytes_max.max(HEADER_BYTES_MIN)).max_headers(HEADERS_MAX);
    let (mut sender, connection) = builder.handshake(TokioIo::new(line)).await.map_err(unread)?;
    // An error of the connection reaches whoever reads the answer.
    let driver = AbortOnDropHandle::new(drivers.spawn(async move { drop(connection.await) }));
    let response = sender.send_request(request).await.map_err(unread)?;
    if response.status().is_informational() {
        return Err(ExchangeError::Upgraded);
    }
    // The library's limit is on a buffer that may hold more than it has to.
    if header_bytes(response.headers()) > header_bytes_max {
        return Err(ExchangeError::TooLong);
    }
    Ok(PendingAnswer { response, driver })
}

/// Returns how long headers were on the wire.
pub(crate) fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len()).sum()
}

fn unread(cause: hyper::Error) -> ExchangeError {
    if cause.is_parse_too_large() { ExchangeError::TooLong } else { ExchangeError::Broken(cause) }
}
