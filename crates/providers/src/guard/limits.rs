//! The limits of a provider, and the stack of decorators that keeps them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use palyra_ports::{Clock, ModelProvider};

use super::circuit_breaker::CircuitBreaker;
use super::fails_fast::FailsFast;
use super::first_token_times::FirstTokenTimes;
use super::leased::LeasedProvider;
use super::provider_signs::ProviderSigns;
use super::watched::WatchedProvider;

/// Requests one provider is sent at once, unless its configuration says otherwise.
pub const PARALLEL_REQUESTS_MAX: usize = 8;
/// Requests that wait for one provider; a further one fails at once.
pub const WAITING_REQUESTS_MAX: usize = 1_024;
/// Failures in a row after which a provider is left alone.
pub const FAILURES_MAX: u32 = 3;
/// How long it is left alone.
pub const OPEN_SPAN: Duration = Duration::from_secs(30);

/// How hard a provider may be pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardLimits {
    /// Requests at once, at least 1; more wait for their turn in the order they came.
    pub parallel_requests_max: usize,
    /// Requests that wait.
    pub waiting_requests_max: usize,
    /// Failures in a row (transient, network, timeout) after which it is left alone, at least 1.
    pub failures_max: u32,
    /// How long it is left alone before one request tries it again.
    pub open_span: Duration,
}

impl Default for GuardLimits {
    fn default() -> Self {
        Self {
            parallel_requests_max: PARALLEL_REQUESTS_MAX,
            waiting_requests_max: WAITING_REQUESTS_MAX,
            failures_max: FAILURES_MAX,
            open_span: OPEN_SPAN,
        }
    }
}

/// Guards a provider: refuses at once while it is left alone, queues what is too much, and watches how its
/// requests end.
///
/// The order matters. What is refused must not wait for a turn, so refusing stands outermost; and what has
/// waited must not be sent to a provider that went down meanwhile, so the breaker is asked again behind the
/// queue, where requests are also admitted and watched: only what was really sent tells of a provider.
///
/// There is no retry here. A repeated request costs money, may say something else, and its text may have
/// been shown already: it is a decision, recorded before it is carried out, and so the run machine's.
pub fn guarded(
    provider: Arc<dyn ModelProvider>,
    limits: GuardLimits,
    clock: Arc<dyn Clock>,
) -> Arc<dyn ModelProvider> {
    let breaker = Arc::new(Mutex::new(CircuitBreaker::new(limits.failures_max, limits.open_span)));
    let first_tokens = Arc::new(Mutex::new(FirstTokenTimes::default()));
    let signs = ProviderSigns { breaker: breaker.clone(), first_tokens: first_tokens.clone() };
    let watched = WatchedProvider::new(provider, signs, clock.clone());
    let leased =
        LeasedProvider::new(Arc::new(watched), limits.parallel_requests_max, limits.waiting_requests_max);
    let signs = ProviderSigns { breaker, first_tokens };
    Arc::new(FailsFast::new(Arc::new(leased), signs, clock))
}
