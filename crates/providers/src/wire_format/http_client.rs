//! The HTTP client that all adapters of this crate start from.
//!
//! Invariant: the certificates of the system, hundreds of files, are read when a server is first asked that may
//! need them, and never for a server of this machine that speaks plain HTTP.

use std::sync::{Once, OnceLock};
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Url, redirect};

use super::server::is_loopback;

/// How long an unused connection is kept for the next request.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// How many unused connections are kept for each server.
const POOL_IDLE_CONNECTIONS_MAX: usize = 16;

/// A client that is made when it is first used.
pub(crate) struct HttpClient {
    made: OnceLock<Client>,
    connect_timeout: Duration,
    way: ServerRoute,
}

/// What lies between here and a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerRoute {
    /// Nothing, and nothing is encrypted.
    PlainOnThisMachine,
    /// Nothing.
    OnThisMachine,
    /// The network, with the proxies that the environment names.
    Network,
}

impl HttpClient {
    /// Prepares the client for a server; reads nothing yet.
    pub(crate) fn new(server: &Url, connect_timeout: Duration) -> Self {
        let way = match (is_loopback(server), server.scheme()) {
            (true, "http") => ServerRoute::PlainOnThisMachine,
            (true, _) => ServerRoute::OnThisMachine,
            (false, _) => ServerRoute::Network,
        };
        Self { made: OnceLock::new(), connect_timeout, way }
    }

    /// Returns the client.
    ///
    /// # Errors
    /// When none can be made on this machine.
    pub(crate) fn get(&self) -> reqwest::Result<&Client> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let builder = builder(self.connect_timeout);
        let made = match self.way {
            // No redirect is followed, so that nothing encrypted is ever spoken there.
            ServerRoute::PlainOnThisMachine => builder.no_proxy().tls_certs_only([]),
            // What listens on this machine is not to be asked through a proxy elsewhere.
            ServerRoute::OnThisMachine => builder.no_proxy(),
            ServerRoute::Network => builder,
        };
        let made = made.build()?;
        Ok(self.made.get_or_init(|| made))
    }
}

/// Begins a client: ring for TLS unless the program chose something else, small packets at once,
/// connections kept for the next request, and no redirect followed, so that no credential leaves for a
/// host that was not configured.
fn builder(connect_timeout: Duration) -> ClientBuilder {
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
