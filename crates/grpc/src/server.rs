//! Puts the services behind the gate and serves them on the sockets the daemon opened.
//!
//! Invariant: nothing is served that the gate did not let through, and once the stop is given everything ends
//! within [`ServeLimits::drain_span`].

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_api::files::UploadQuota;
use palyra_api::{DaemonFacts, OperationHandlers};
use palyra_runtime::GatewayRuntimeState;
use palyra_wire::FILE_DESCRIPTOR_SET;
use palyra_wire::operations::OPERATIONS;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::server::HealthReporter;
use tower::layer::util::{Identity, Stack};

use crate::auth::{AuthLayer, HEALTH};
use crate::connection::ConnectionAcceptor;
use crate::limits::ServeLimits;
use crate::services::{GatewayServiceImpl, ServedOperations};

/// Bytes of a health or reflection request, at most.
const PROBE_BYTES_MAX: usize = 64 * 1024;

/// The sockets to serve, already bound: the Unix socket with mode 0600 in a folder with mode 0700.
#[derive(Debug)]
pub struct Listeners {
    /// For the owner of the daemon.
    pub unix: std::os::unix::net::UnixListener,
    /// For holders of tokens; loopback only.
    pub tcp: Option<std::net::TcpListener>,
    /// Will hold the number of open connections, of both listeners together.
    pub open: watch::Sender<usize>,
    /// Unix sockets that take the place of the one before, which nobody can reach any more.
    pub rebound: Option<mpsc::Receiver<std::os::unix::net::UnixListener>>,
}

/// Why serving did not begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A listener cannot be used.
    #[error("a listening socket cannot be used")]
    Listener(#[from] std::io::Error),
    /// The schemas cannot be shown.
    #[error("the schemas compiled into this program are damaged")]
    Schemas(#[from] tonic_reflection::server::Error),
    /// The transport failed.
    #[error("the transport failed")]
    Transport(#[from] tonic::transport::Error),
}

/// Serves until `stop` is cancelled and open calls have ended; `AdminService.Shutdown` only asks the daemon to stop.
///
/// # Errors
/// [`ServeError`]; nothing is served then.
pub fn serve(
    gateway: GatewayRuntimeState,
    daemon: DaemonFacts,
    listeners: Listeners,
    limits: ServeLimits,
    stop: CancellationToken,
) -> BoxFuture<'static, Result<(), ServeError>> {
    // Boxed, so that its body is compiled here and not again where it is waited for.
    serving(gateway, daemon, listeners, limits, stop).boxed()
}

async fn serving(
    gateway: GatewayRuntimeState,
    daemon: DaemonFacts,
    listeners: Listeners,
    limits: ServeLimits,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let health = HealthReporter::new();
    for service in services() {
        health.set_service_status(service, ServingStatus::Serving).await;
    }
    let gate = AuthLayer::new(gateway.admin.access.clone());
    let stop_requested = daemon.stop_requested.clone();
    let routes = routes(gateway, daemon, &health, limits, &stop)?;

    let unix = ConnectionAcceptor::unix(unix_listener(listeners.unix)?, limits, listeners.open.clone())
        .rebound(listeners.rebound);
    let serving_unix = server(&gate, limits)
        .add_routes(routes.clone())
        .serve_with_incoming_shutdown(unix.into_stream(), stop.cancelled());
    let tcp = listeners.tcp.map(tcp_listener).transpose()?;
    let serving_tcp = async {
        let Some(listener) = tcp else { return Ok(()) };
        let tcp = ConnectionAcceptor::tcp(listener, limits, listeners.open.clone());
        server(&gate, limits)
            .add_routes(routes)
            .serve_with_incoming_shutdown(tcp.into_stream(), stop.cancelled())
            .await
    };
    let too_late = async {
        tokio::select! {
            () = stop_requested.cancelled() => {}
            () = stop.cancelled() => {}
        }
        say_not_serving(&health).await;
        stop.cancelled().await;
        end_watching(health).await;
        tokio::time::sleep(limits.drain_span).await;
    };
    tokio::select! {
        served = async { tokio::try_join!(serving_unix, serving_tcp) } => {
            served?;
        }
        () = too_late => tracing::warn!("some calls did not end in time after the stop"),
    }
    Ok(())
}

/// Every service of ours, and the health service itself.
fn services() -> Vec<&'static str> {
    let mut services = vec![HEALTH];
    services.extend(OPERATIONS.iter().map(|operation| operation.service));
    services.dedup();
    services
}

/// Tells everyone who watches that no new work is taken; what runs may still be looked at.
async fn say_not_serving(health: &HealthReporter) {
    for service in services().into_iter().chain([""]) {
        health.set_service_status(service, ServingStatus::NotServing).await;
    }
}

/// Ends the streams of everyone who watches.
async fn end_watching(mut health: HealthReporter) {
    for service in services().into_iter().chain([""]) {
        health.clear_service_status(service).await;
    }
}

fn server(gate: &AuthLayer, limits: ServeLimits) -> Server<Stack<AuthLayer, Identity>> {
    Server::builder()
        .max_concurrent_streams(limits.streams_per_connection_max)
        .http2_max_header_list_size(limits.header_bytes_max)
        .http2_keepalive_interval(Some(limits.keep_alive_span))
        .http2_keepalive_timeout(Some(limits.keep_alive_span))
        .timeout(limits.call_span)
        .layer(gate.clone())
}

fn routes(
    gateway: GatewayRuntimeState,
    daemon: DaemonFacts,
    health: &HealthReporter,
    limits: ServeLimits,
    stop: &CancellationToken,
) -> Result<Routes, ServeError> {
    let served = ServedOperations {
        operations: Arc::new(OperationHandlers::new(gateway.clone(), daemon, stop.clone())),
        state: gateway,
        stop: stop.clone(),
        uploads: UploadQuota::default(),
        message_bytes_max: limits.message_bytes_max,
    };
    let probes = tonic_health::server::HealthService::from_health_reporter(health.clone());
    let probes = tonic_health::pb::health_server::HealthServer::new(probes);
    let reflection = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let libraries = Routes::new(probes.max_decoding_message_size(PROBE_BYTES_MAX))
        .add_service(reflection().build_v1()?.max_decoding_message_size(PROBE_BYTES_MAX))
        .add_service(reflection().build_v1alpha()?.max_decoding_message_size(PROBE_BYTES_MAX));
    // Every other path, also of services that do not exist.
    Ok(libraries.into_axum_router().fallback_service(GatewayServiceImpl(Arc::new(served))).into())
}

fn unix_listener(listener: std::os::unix::net::UnixListener) -> std::io::Result<tokio::net::UnixListener> {
    listener.set_nonblocking(true)?;
    tokio::net::UnixListener::from_std(listener)
}

fn tcp_listener(listener: std::net::TcpListener) -> std::io::Result<tokio::net::TcpListener> {
    listener.set_nonblocking(true)?;
    tokio::net::TcpListener::from_std(listener)
}
