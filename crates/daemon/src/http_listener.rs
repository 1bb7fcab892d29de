//! The socket of the HTTP API: bound at its address, or at the next free port where the address is the default.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use palyra_http::{HttpListener, ListenerReach, PublicOrigin, TransportSecurity, server_config};
use palyra_types::ErrorCode;
use rustls::ServerConfig;
use tokio::sync::watch;

use crate::config::{AddressChoice, Config, HttpSettings};
use crate::refusal::StartRefusal;

/// Ports after the default one that are tried.
const NEXT_PORTS_MAX: u16 = 32;

/// The bound socket, with what it is served with.
pub(crate) struct BoundHttp {
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    reach: ListenerReach,
    origin: PublicOrigin,
}

/// Binds the socket of the HTTP API; `None` where it is off, or the address is the default
/// and no port is free.
pub(crate) fn bind(config: &Config) -> Result<Option<BoundHttp>, StartRefusal> {
    let Some(settings) = config.http() else { return Ok(None) };
    let bound = match settings.chosen {
        AddressChoice::Explicit => TcpListener::bind(settings.address),
        AddressChoice::Default => bind_next_free(settings.address),
    };
    let bound = bound.and_then(|listener| Ok((listener.local_addr()?.port(), listener)));
    match (bound, settings.chosen) {
        (Ok((port, listener)), _) => {
            let tls = settings.tls.as_ref().map(server_config).transpose();
            let tls = tls.map_err(|error| StartRefusal::new(ErrorCode::ConfigInvalid, &error))?;
            let reach = reach_of(&settings);
            let security = if tls.is_some() { TransportSecurity::Tls } else { TransportSecurity::Clear };
            let local = || PublicOrigin::local(port, security);
            let origin = settings.public_url.unwrap_or_else(local);
            Ok(Some(BoundHttp { listener, tls, reach, origin }))
        }
        (Err(error), AddressChoice::Default) => {
            tracing::warn!(%error, "the HTTP API is not served: no port from {} on is free", settings.address);
            Ok(None)
        }
        (Err(error), AddressChoice::Explicit) => {
            let place = config.origin("http.listen").place();
            let what =
                format!("{place}: `http.listen` is {}, which cannot be bound: {error}", settings.address);
            Err(StartRefusal::new(ErrorCode::ConfigInvalid, &what))
        }
    }
}

fn bind_next_free(address: SocketAddr) -> std::io::Result<TcpListener> {
    let first = address.port();
    let last = first.saturating_add(NEXT_PORTS_MAX);
    for port in first..=last {
        match TcpListener::bind((address.ip(), port)) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && port < last => {}
            Ok(listener) if port != first => {
                tracing::warn!(
                    "port {first} is taken, so the HTTP API is at port {port}; `http.listen` sets another"
                );
                return Ok(listener);
            }
            bound => return bound,
        }
    }
    Err(ErrorKind::AddrInUse.into())
}

impl BoundHttp {
    /// Returns what to show people.
    pub(crate) fn address(&self) -> String {
        self.origin.to_string()
    }

    /// Hands the socket over; `open` counts its connections.
    pub(crate) fn into_listener(self, open: watch::Sender<usize>) -> HttpListener {
        let Self { listener, tls, reach, origin } = self;
        HttpListener { listener, tls, reach, origin, open }
    }
}

/// Returns who may connect: without TLS beyond this machine only the proxies that are named.
fn reach_of(settings: &HttpSettings) -> ListenerReach {
    let in_clear_beyond = settings.tls.is_none() && !settings.address.ip().to_canonical().is_loopback();
    if in_clear_beyond || !settings.proxies.is_empty() {
        ListenerReach::Proxies(settings.proxies.clone())
    } else {
        ListenerReach::Everyone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_taken_leads_to_the_next_one() {
        let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = taken.local_addr().expect("bound");
        let next = bind_next_free(address).expect("one of the next is free");
        let port = next.local_addr().expect("bound").port();
        assert!(port > address.port() && port <= address.port() + NEXT_PORTS_MAX, "{port}");
    }
}
