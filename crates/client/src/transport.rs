//! One connection to a daemon: a Unix socket, or loopback TCP with a bearer token.
//!
//! Owns keep-alive and message limits. Knows neither lock files nor calls.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tonic::codegen::http::Uri;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use crate::error::ClientError;
use crate::options::TcpAddress;

/// More than a page of a tape with one oversize entry.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
const PING_EVERY: Duration = Duration::from_secs(15);
const PING_ANSWERED_WITHIN: Duration = Duration::from_secs(10);

/// What the generated clients are built on.
pub(crate) type Transport = InterceptedService<Channel, Bearer>;

/// Puts the token and the one-time code, if any, on every call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bearer {
    token: Option<MetadataValue<Ascii>>,
    confirmation: Option<MetadataValue<Ascii>>,
}

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        if let Some(code) = &self.confirmation {
            request.metadata_mut().insert("palyra-confirmation", code.clone());
        }
        Ok(request)
    }
}

/// An open connection and the name it goes by in messages.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) transport: Transport,
    pub(crate) endpoint: String,
    /// The fingerprint of the model that was found there and is meant; empty where none is.
    pub(crate) model: Vec<u8>,
}

/// Connects to a Unix socket, and only to a process of this very user: what is typed here is for nobody else.
pub(crate) async fn connect_unix(socket: &str) -> Result<Connection, ClientError> {
    let path = PathBuf::from(socket);
    let connector = tower::service_fn(move |_: Uri| {
        let path = path.clone();
        async move { to_own_process(path).await.map(TokioIo::new) }
    });
    // The address is never looked up.
    let endpoint = with_limits(Endpoint::from_static("http://localhost"));
    let channel = endpoint.connect_with_connector(connector).await;
    open(channel, socket, Bearer::default())
}

async fn to_own_process(path: PathBuf) -> io::Result<UnixStream> {
    let stream = UnixStream::connect(path).await?;
    if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("the socket is another user's"));
    }
    Ok(stream)
}

/// Connects to a TCP listener.
pub(crate) async fn connect_tcp(address: &TcpAddress) -> Result<Connection, ClientError> {
    let invalid = |reason| ClientError::InvalidAddress { address: address.uri.clone(), reason };
    let secret = |text: String, reason| {
        let mut value: MetadataValue<Ascii> = text.parse().map_err(|_| invalid(reason))?;
        value.set_sensitive(true);
        Ok(value)
    };
    let token = address
        .token
        .as_ref()
        .map(|token| secret(format!("Bearer {}", token.expose()), "the token has characters no token has"));
    let confirmation = address
        .confirmation
        .as_ref()
        .map(|code| secret(code.expose().clone(), "the confirmation has characters no code has"));
    let bearer = Bearer { token: token.transpose()?, confirmation: confirmation.transpose()? };
    let endpoint = Endpoint::from_shared(address.uri.clone());
    let endpoint = with_limits(endpoint.map_err(|error| ClientError::lost(&address.uri, &error))?);
    open(endpoint.connect().await, &address.uri, bearer)
}

fn with_limits(endpoint: Endpoint) -> Endpoint {
    endpoint
        .connect_timeout(CONNECT_WITHIN)
        .http2_keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_ANSWERED_WITHIN)
        .keep_alive_while_idle(true)
}

fn open(
    channel: Result<Channel, tonic::transport::Error>,
    name: &str,
    bearer: Bearer,
) -> Result<Connection, ClientError> {
    let channel = channel.map_err(|error| ClientError::lost(name, &error))?;
    Ok(Connection {
        transport: InterceptedService::new(channel, bearer),
        endpoint: name.to_owned(),
        model: Vec::new(),
    })
}
