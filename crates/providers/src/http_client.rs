//! The HTTP client that all adapters of this crate start from.

use std::sync::Once;

use reqwest::{Client, ClientBuilder};

/// Begins a client: ring for TLS unless the program chose something else, small packets at once.
pub(crate) fn builder() -> ClientBuilder {
    static CRYPTO: Once = Once::new();
    CRYPTO.call_once(|| {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Losing the race against another installer is as good as winning it.
            drop(rustls::crypto::ring::default_provider().install_default());
        }
    });
    Client::builder().tcp_nodelay(true).user_agent(concat!("palyra/", env!("CARGO_PKG_VERSION")))
}
