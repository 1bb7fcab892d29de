//! What a response stream waits for beside its own entries: the next heartbeat, the end of its credential, the stop.
//!
//! Invariant: a stream is silent for at most the heartbeat, and a stream whose token was revoked ends within one.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use palyra_admin::access::AccessHandle;
use palyra_api::ApiError;
use palyra_ports::Clock;
use palyra_runtime::GatewayRuntimeState;
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;

use crate::identity::HttpIdentity;

/// The longest silence on a stream, and the longest life of a stream whose token was revoked.
const HEARTBEAT_SPAN_MAX: Duration = Duration::from_secs(10);
const HEARTBEAT_SPAN_MIN: Duration = Duration::from_millis(10);
/// How long a stream may go on after the stop, to send what was committed before.
const LAST_ENTRIES_SPAN_MAX: Duration = Duration::from_millis(500);

/// What a stream has to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamSignal {
    /// Send a sign of life.
    Heartbeat,
    /// Send this refusal and end.
    Ended(ApiError),
}

/// Watches over one response stream.
pub struct StreamWatch {
    identity: HttpIdentity,
    access: AccessHandle,
    clock: Arc<dyn Clock>,
    span: Duration,
    alarm: BoxFuture<'static, ()>,
    stop: CancellationToken,
    /// Set once the daemon stops.
    grace: Option<Pin<Box<Sleep>>>,
}

impl StreamWatch {
    /// Makes a watch over a stream of a caller; it ends a while after `stop`.
    #[must_use]
    pub fn new(
        identity: HttpIdentity,
        state: &GatewayRuntimeState,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
    ) -> Self {
        let span = state.sessions.config().heartbeat.clamp(HEARTBEAT_SPAN_MIN, HEARTBEAT_SPAN_MAX);
        let alarm = clock.sleep_until(clock.boot().after(span));
        Self { identity, access: state.admin.access.clone(), clock, span, alarm, stop, grace: None }
    }

    /// Returns the next signal. Cancel-safe.
    pub async fn next(&mut self) -> StreamSignal {
        loop {
            if let Some(grace) = &mut self.grace {
                grace.as_mut().await;
                return StreamSignal::Ended(ApiError::shutting_down());
            }
            tokio::select! {
                biased;
                () = self.stop.cancelled() => {
                    self.grace = Some(Box::pin(tokio::time::sleep(LAST_ENTRIES_SPAN_MAX)));
                }
                () = self.alarm.as_mut() => {
                    self.alarm = self.clock.sleep_until(self.clock.boot().after(self.span));
                    return if self.identity.still_holds(&self.access) {
                        StreamSignal::Heartbeat
                    } else {
                        StreamSignal::Ended(ApiError::unauthenticated())
                    };
                }
            }
        }
    }
}
