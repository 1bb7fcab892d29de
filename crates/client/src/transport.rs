//! One connection to a daemon: a Unix socket, or loopback TCP with a bearer token.
//!
//! Owns keep-alive and message limits. Knows neither lock files nor calls.

use std::time::Duration;

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

/// Puts the token, if any, on every call.
#[derive(Debug, Clone)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

/// An open connection and the name it goes by in messages.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) transport: Transport,
    pub(crate) endpoint: String,
}

/// Connects to a Unix socket.
pub(crate) async fn connect_unix(socket: &str) -> Result<Connection, ClientError> {
    connect(&format!("unix://{socket}"), socket, Bearer(None)).await
}

/// Connects to a TCP listener.
pub(crate) async fn connect_tcp(address: &TcpAddress) -> Result<Connection, ClientError> {
    let invalid = |reason| ClientError::InvalidAddress { address: address.uri.clone(), reason };
    let bearer = match &address.token {
        Some(token) => {
            let mut value: MetadataValue<Ascii> = format!("Bearer {}", token.expose())
                .parse()
                .map_err(|_| invalid("the token has characters no token has"))?;
            value.set_sensitive(true);
            Bearer(Some(value))
        }
        None => Bearer(None),
    };
    connect(&address.uri, &address.uri, bearer).await
}

async fn connect(uri: &str, name: &str, bearer: Bearer) -> Result<Connection, ClientError> {
    let lost = |cause: tonic::transport::Error| ClientError::Lost {
        endpoint: name.to_owned(),
        cause: Box::new(cause),
    };
    let endpoint = Endpoint::from_shared(uri.to_owned())
        .map_err(lost)?
        .connect_timeout(CONNECT_WITHIN)
        .http2_keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_ANSWERED_WITHIN)
        .keep_alive_while_idle(true);
    let channel = endpoint.connect().await.map_err(lost)?;
    let transport = InterceptedService::new(channel, bearer);
    Ok(Connection { transport, endpoint: name.to_owned() })
}
