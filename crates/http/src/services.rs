//! What handlers share.

use std::sync::Arc;

use palyra_api::{ApiError, DaemonFacts, OperationHandlers};
use palyra_ports::Clock;
use palyra_runtime::GatewayRuntimeState;
use palyra_types::{ErrorCode, PrincipalId};
use tokio_util::sync::CancellationToken;

use crate::identity::HttpIdentity;
use crate::limits::HttpLimits;
use crate::metrics::HttpMetrics;
use crate::quota::{PrincipalQuota, QuotaShare};
use crate::stream_watch::StreamWatch;

/// What handlers share.
pub(crate) struct HttpServices {
    pub(crate) state: GatewayRuntimeState,
    pub(crate) operations: Arc<OperationHandlers>,
    pub(crate) daemon: DaemonFacts,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: HttpLimits,
    pub(crate) stop: CancellationToken,
    pub(crate) metrics: Arc<HttpMetrics>,
    streams: PrincipalQuota,
}

impl HttpServices {
    pub(crate) fn new(
        state: GatewayRuntimeState,
        daemon: DaemonFacts,
        clock: Arc<dyn Clock>,
        limits: HttpLimits,
        stop: CancellationToken,
    ) -> Self {
        let operations = Arc::new(OperationHandlers::new(state.clone(), daemon.clone(), stop.clone()));
        let streams = PrincipalQuota::new(limits.connections_max, limits.streams_of_one_max);
        Self { state, operations, daemon, clock, limits, stop, metrics: Arc::default(), streams }
    }

    /// Takes a stream of a principal's share.
    pub(crate) fn stream_share(&self, principal: PrincipalId) -> Result<QuotaShare, ApiError> {
        self.streams.take(principal, 1).ok_or_else(|| {
            let streams = self.limits.streams_of_one_max;
            ApiError::new(
                ErrorCode::TooManyStreams,
                format!("more than {streams} streams are open; close one"),
            )
        })
    }

    /// Returns a watch over a stream of a caller.
    pub(crate) fn watch(&self, identity: HttpIdentity) -> StreamWatch {
        StreamWatch::new(identity, &self.state, Arc::clone(&self.clock), self.stop.clone())
    }
}
