//! Accepts connections and serves HTTP/1.1 on them until the stop.
//!
//! Invariant: every connection has a permit and a deadline for its head; once the stop is given everything ends within
//! [`HttpLimits::drain_span`]. Begin at [`serve`].

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use palyra_api::DaemonFacts;
use palyra_connections::{AdmittedConnection, ConnectionAdmission};
use palyra_ports::Clock;
use palyra_runtime::GatewayRuntimeState;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_util::sync::CancellationToken;

use crate::gate::{MountedRoutes, RequestGate};
use crate::limits::{HEAD_BYTES_MAX, HEADERS_MAX, HttpLimits};
use crate::origin::{OriginRules, PublicOrigin, TransportSecurity};
use crate::services::HttpServices;
use crate::socket::{SocketStream, WatchedSocket};

/// Rest after a failed accept, so that a lack of descriptors does not become a hot loop.
const ACCEPT_REST: Duration = Duration::from_millis(50);

/// Who may connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenerReach {
    /// Everyone who reaches the address.
    Everyone,
    /// This machine and these addresses, from which TLS was taken off already.
    Proxies(Vec<IpAddr>),
}

/// A socket to serve, already bound.
pub struct HttpListener {
    /// The socket.
    pub listener: std::net::TcpListener,
    /// With what it proves itself; without it the bytes are in clear text.
    pub tls: Option<Arc<ServerConfig>>,
    /// Who may connect.
    pub reach: ListenerReach,
    /// Under what people know it.
    pub origin: PublicOrigin,
    /// Counts open connections, beside those of other listeners.
    pub open: watch::Sender<usize>,
}

/// What is served.
pub struct HttpServer {
    /// The runtime's handles.
    pub state: GatewayRuntimeState,
    /// The daemon, as its status tells it.
    pub daemon: DaemonFacts,
    /// Times heartbeats and ages; limits of sockets and calls are timed by tokio.
    pub clock: Arc<dyn Clock>,
    /// Other surfaces.
    pub mounted: Vec<MountedRoutes>,
}

/// Why serving did not begin.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The socket cannot be used.
    #[error("the HTTP socket cannot be used")]
    Listener(#[from] io::Error),
}

/// Serves until `stop` is cancelled and open requests have ended.
///
/// # Errors
/// [`ServeError`]; nothing is served then.
pub fn serve(
    server: HttpServer,
    listener: HttpListener,
    limits: HttpLimits,
    stop: CancellationToken,
) -> BoxFuture<'static, Result<(), ServeError>> {
    // Boxed, so that its body is compiled here and not again where it is waited for.
    serving(server, listener, limits, stop).boxed()
}

async fn serving(
    server: HttpServer,
    listener: HttpListener,
    limits: HttpLimits,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    listener.listener.set_nonblocking(true)?;
    let socket = TcpListener::from_std(listener.listener)?;
    let security = if listener.tls.is_some() { TransportSecurity::Tls } else { TransportSecurity::Clear };
    let rules = OriginRules::new(listener.origin, security);
    let services =
        Arc::new(HttpServices::new(server.state, server.daemon, server.clock, limits, stop.clone()));
    let gate = Arc::new(RequestGate::new(services, rules, security, server.mounted));
    let acceptor = ConnectionAcceptor {
        admission: ConnectionAdmission::new(limits.admission(), listener.open),
        tls: listener.tls.map(TlsAcceptor::from),
        reach: listener.reach,
        socket,
    };
    let mut tasks = JoinSet::new();
    loop {
        let (stream, admitted) = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = tasks.join_next() => continue,
            accepted = acceptor.next() => accepted,
        };
        let connection = Connection { gate: Arc::clone(&gate), tls: acceptor.tls.clone(), limits };
        tasks.spawn(connection.serve(stream, admitted, stop.clone()));
    }
    drop(acceptor);
    let ended = async { while tasks.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.drain_span, ended).await.is_err() {
        tracing::warn!("some HTTP requests did not end in time after the stop");
        tasks.shutdown().await;
    }
    Ok(())
}

/// Takes connections from the socket.
struct ConnectionAcceptor {
    socket: TcpListener,
    reach: ListenerReach,
    admission: ConnectionAdmission,
    tls: Option<TlsAcceptor>,
}

impl ConnectionAcceptor {
    /// Waits for a connection that gets a permit; others are closed at once.
    async fn next(&self) -> (TcpStream, AdmittedConnection) {
        loop {
            let accepted = tokio::select! {
                accepted = self.socket.accept() => accepted,
                () = self.admission.closed().log_when_due() => continue,
            };
            match accepted {
                Ok((stream, peer)) => {
                    if let Some(admitted) = self.admit(&stream, peer) {
                        return (stream, admitted);
                    }
                }
                Err(error) => {
                    self.admission.closed().note_failed(&error);
                    tokio::time::sleep(ACCEPT_REST).await;
                }
            }
        }
    }

    fn admit(&self, stream: &TcpStream, peer: SocketAddr) -> Option<AdmittedConnection> {
        let address = peer.ip().to_canonical();
        if !self.reach.takes(address) {
            self.admission.closed().note_closed();
            return None;
        }
        // Small events go out at once.
        stream.set_nodelay(true).ok()?;
        self.admission.admit(address)
    }
}

impl ListenerReach {
    fn takes(&self, address: IpAddr) -> bool {
        match self {
            Self::Everyone => true,
            Self::Proxies(proxies) => address.is_loopback() || proxies.contains(&address),
        }
    }
}

/// What one connection needs.
struct Connection {
    gate: Arc<RequestGate>,
    tls: Option<TlsAcceptor>,
    limits: HttpLimits,
}

impl Connection {
    async fn serve(self, stream: TcpStream, admitted: AdmittedConnection, stop: CancellationToken) {
        let Some(stream) = self.handshake(stream).await else { return };
        let socket = WatchedSocket::new(stream, admitted, self.limits.write_span);
        let state = socket.state();
        let service = service_fn(|request| {
            let gate = Arc::clone(&self.gate);
            let state = Arc::clone(&state);
            async move { Ok::<_, Infallible>(gate.answer(request, &state).await) }
        });
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head_span)
            .max_headers(HEADERS_MAX)
            .max_buf_size(HEAD_BYTES_MAX);
        let mut connection = pin!(builder.serve_connection(TokioIo::new(socket), service));
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "an HTTP connection ended early");
        }
    }

    async fn handshake(&self, stream: TcpStream) -> Option<SocketStream> {
        let Some(acceptor) = &self.tls else { return Some(SocketStream::Plain(stream)) };
        match tokio::time::timeout(self.limits.handshake_span, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => Some(SocketStream::Tls(Box::new(stream))),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
            Err(_) => None,
        }
    }
}
