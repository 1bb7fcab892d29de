//! What decorators of a provider share.

use std::sync::{Arc, Mutex};

use super::circuit_breaker::CircuitBreaker;
use super::first_token_times::FirstTokenTimes;

/// What the requests of a provider say of it.
#[derive(Clone)]
pub(super) struct ProviderSigns {
    /// Whether it is asked at all.
    pub(super) breaker: Arc<Mutex<CircuitBreaker>>,
    /// How long its models take to their first words.
    pub(super) first_tokens: Arc<Mutex<FirstTokenTimes>>,
}
