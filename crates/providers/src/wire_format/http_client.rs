//! The HTTP client that all adapters of this crate start from.

use std::sync::Once;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};

/// How long an unused connection is kept for the next request.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// How many unused connections are kept for each server.
const POOL_IDLE_CONNECTIONS_MAX: usize = 16;

/// Begins a client: ring for TLS unless the program chose something else, small packets at once,
/// connections kept for the next request, and no redirect followed, so that no credential leaves for a
/// host that was not configured.
pub(crate) fn builder(connect_timeout: Duration) -> ClientBuilder {
    static CRYPTO: Once = Once::new();
    CRYPTO.call_once(|| {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Losing the race against another installer is as good as winning it.
            drop(rustls::crypto::ring::default_provider().install_default());
        }
    });
    Client::builder()
        .tcp_nodelay(true)
        .connect_timeout(connect_timeout)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .pool_max_idle_per_host(POOL_IDLE_CONNECTIONS_MAX)
        .redirect(redirect::Policy::none())
        .user_agent(concat!("palyra/", env!("CARGO_PKG_VERSION")))
}
