//! What handlers share.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::{Clock, GatewayTrail};
use palyra_runtime::GatewayRuntimeState;
use tokio_util::sync::CancellationToken;

use super::attached_clients::AttachedClients;
use super::recent_bodies::RecentBodies;

/// How long clients and people are waited for. The defaults are for use; tests choose smaller ones.
#[derive(Debug, Clone, Copy)]
pub struct OpenAiSpans {
    /// How long an answer that is not streamed waits for a person.
    pub person_wait: Duration,
    /// How long before a client's own deadline such an answer is sent.
    pub client_reserve: Duration,
    /// How long a run goes on after its last client has left: a client that repeats itself comes back in this time.
    pub disconnect_grace: Duration,
    /// How long a request counts as repeated.
    pub repeat_window: Duration,
    /// How long a run waits for the results of functions that its client performs.
    pub client_tool_wait: Duration,
}

impl Default for OpenAiSpans {
    fn default() -> Self {
        Self {
            person_wait: Duration::from_secs(60),
            client_reserve: Duration::from_secs(5),
            disconnect_grace: Duration::from_secs(5),
            repeat_window: Duration::from_secs(15 * 60),
            client_tool_wait: Duration::from_secs(10 * 60),
        }
    }
}

/// What handlers share.
#[derive(Clone)]
pub(crate) struct OpenAiServices {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) spans: OpenAiSpans,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stop: CancellationToken,
    pub(crate) clients: AttachedClients,
    pub(crate) bodies: Arc<RecentBodies>,
    pub(crate) gateways: GatewayTrail,
}

impl OpenAiServices {
    pub(crate) fn new(
        state: GatewayRuntimeState,
        spans: OpenAiSpans,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
        gateways: GatewayTrail,
    ) -> Self {
        let clients = AttachedClients::new(state.runs.clone(), Arc::clone(&clock), spans.disconnect_grace);
        Self { state, spans, clock, stop, clients, bodies: Arc::default(), gateways }
    }
}
