//! The transports of one daemon, served side by side until the stop.

use std::sync::Arc;

use palyra_api::DaemonFacts;
use palyra_console::console_routes;
use palyra_grpc::ServeLimits;
use palyra_http::{HttpLimits, HttpServer};
use palyra_openai::{OpenAiSpans, openai_routes};
use palyra_ports::Clock;
use palyra_runtime::GatewayRuntimeState;
use palyra_types::ErrorCode;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::listeners::Listeners;
use crate::refusal::StartRefusal;
use crate::system::SystemClock;

/// Serves gRPC and HTTP; `connections` counts the open connections of both.
pub(crate) async fn serve(
    state: GatewayRuntimeState,
    daemon: DaemonFacts,
    mut listeners: Listeners,
    connections: watch::Sender<usize>,
    rebound: mpsc::Receiver<std::os::unix::net::UnixListener>,
    stop: CancellationToken,
) -> Result<(), StartRefusal> {
    let http = listeners.take_http(&connections);
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let spans = OpenAiSpans::default();
    let openai =
        openai_routes(state.clone(), spans, Arc::clone(&clock), stop.clone(), daemon.gateways.clone());
    let console = http.as_ref().map(|http| {
        let clock = Arc::clone(&clock);
        console_routes(state.clone(), daemon.clone(), &http.origin, clock, stop.clone())
    });
    let mounted = std::iter::once(openai).chain(console).collect();
    let server = HttpServer { state: state.clone(), daemon: daemon.clone(), clock, mounted };
    let serving_http = async {
        let Some(http) = http else { return Ok(()) };
        let served = palyra_http::serve(server, http, HttpLimits::default(), stop.clone()).await;
        served.map_err(|error| StartRefusal::new(ErrorCode::Internal, &error))
    };
    let grpc = listeners.into_grpc(connections, rebound);
    let serving_grpc = palyra_grpc::serve(state, daemon, grpc, ServeLimits::default(), stop.clone());
    let serving_grpc =
        async { serving_grpc.await.map_err(|error| StartRefusal::new(ErrorCode::Internal, &error)) };
    tokio::try_join!(serving_http, serving_grpc).map(|_| ())
}
