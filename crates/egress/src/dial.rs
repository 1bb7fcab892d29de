//! The one dialer: nothing in this crate connects but here.
//!
//! Owns the road from a host to a connection: judge its name, resolve it once, judge *every* address, connect to one
//! of those that were judged. Knows no HTTP. Invariant: no packet goes to an address that was not judged, and none
//! at all when one address of a name is refused; no name is resolved twice for one connection.
//! Begin at [`Dialer::connect`].

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use crate::address::{PolicyOverride, special};
use crate::private_hosts::PrivateHosts;
use crate::resolve::{LookupRoom, Resolve};
use crate::target::{Endpoint, Host};

/// How many addresses of one name are judged; a name with more is refused.
pub const ADDRESSES_MAX: usize = 64;
/// How long one of several addresses may take before the next one is tried.
const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(3);

/// Connects to hosts of the open network, and to those that the operator named.
#[derive(Clone)]
pub struct Dialer {
    resolver: Arc<dyn Resolve>,
    room: LookupRoom,
    private_hosts: Arc<PrivateHosts>,
}

/// A connection, and whom it leads to.
#[derive(Debug)]
pub struct Connection {
    /// The connection; small packets leave at once.
    pub stream: TcpStream,
    /// The address that was judged and connected to.
    pub address: IpAddr,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The name is of this machine or its surroundings; it was not resolved.
    #[error("the name is of a local network")]
    LocalName,
    /// An address is not of the open network; nothing was sent to any.
    #[error("{address} is {what}")]
    Address {
        /// The address.
        address: IpAddr,
        /// What it is.
        what: &'static str,
    },
    /// The name has no address, or too many.
    #[error("the name has no address")]
    Unresolved(#[source] io::Error),
    /// Nobody answers.
    #[error("no server answers")]
    Unreachable(#[source] io::Error),
}

impl Dialer {
    /// Makes a dialer.
    pub fn new(resolver: Arc<dyn Resolve>, private_hosts: PrivateHosts) -> Self {
        Self { resolver, room: LookupRoom::default(), private_hosts: Arc::new(private_hosts) }
    }

    /// Makes one for a caller who has lookups of its own.
    pub(crate) fn looking_up_in(&self, room: LookupRoom) -> Self {
        Self { room, ..self.clone() }
    }

    /// Connects to a host, within a time that includes the resolver's.
    ///
    /// # Errors
    /// See [`DialError`]; after `LocalName`, `Address` and `Unresolved`, no packet was sent to the host.
    pub async fn connect(&self, endpoint: &Endpoint, time_max: Duration) -> Result<Connection, DialError> {
        let deadline = Instant::now() + time_max;
        let standing = self.standing(endpoint);
        let addresses = match &endpoint.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => {
                let asked = question(name, standing)?;
                let answer = timeout_at(deadline, self.room.resolve(&*self.resolver, asked)).await;
                answer
                    .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
                    .map_err(DialError::Unresolved)?
            }
        };
        judge_all(&addresses, standing)?;
        connect_to_first(&addresses, endpoint.port, deadline).await
    }

    fn standing(&self, endpoint: &Endpoint) -> HostStanding {
        standing(&self.private_hosts, endpoint)
    }
}

fn standing(private_hosts: &PrivateHosts, endpoint: &Endpoint) -> HostStanding {
    if private_hosts.lift(endpoint) { HostStanding::NamedByOperator } else { HostStanding::Anybody }
}

/// Returns why a host is refused, where [`Dialer::connect`] would not need a resolver for it, and whether the operator can
/// permit it.
pub(crate) fn certain_refusal(
    private_hosts: &PrivateHosts,
    endpoint: &Endpoint,
) -> Option<(&'static str, PolicyOverride)> {
    let standing = standing(private_hosts, endpoint);
    match &endpoint.host {
        Host::Address(address) => {
            let what = refusal(*address, standing)?;
            Some((what, special(*address).map_or(PolicyOverride::ByOperator, |found| found.lift)))
        }
        Host::Name(name) => match question(name, standing) {
            Ok(_) => None,
            Err(_) => Some(("a name of this machine or its local network", PolicyOverride::ByOperator)),
        },
    }
}

/// What a host is to us before anything is known of its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostStanding {
    Anybody,
    NamedByOperator,
}

/// Returns what to ask the resolver for a name.
fn question(name: &str, standing: HostStanding) -> Result<String, DialError> {
    match standing {
        HostStanding::NamedByOperator => Ok(name.to_owned()),
        HostStanding::Anybody if is_local_name(name) => Err(DialError::LocalName),
        // The dot keeps the resolver from trying the name below the local domains.
        HostStanding::Anybody => Ok(format!("{name}.")),
    }
}

/// Names that no public name server answers for (RFC 6761, RFC 6762, RFC 7686, RFC 8375, and `internal`).
fn is_local_name(name: &str) -> bool {
    const LOCAL: [&str; 7] =
        ["localhost", "localdomain", "local", "internal", "home.arpa", "onion", "intranet"];
    let below = |domain: &str| name.strip_suffix(domain).is_some_and(|front| front.ends_with('.'));
    !name.contains('.') || LOCAL.into_iter().any(below)
}

fn judge_all(addresses: &[IpAddr], standing: HostStanding) -> Result<(), DialError> {
    if addresses.is_empty() || addresses.len() > ADDRESSES_MAX {
        let cause = io::Error::other(format!("{} addresses", addresses.len()));
        return Err(DialError::Unresolved(cause));
    }
    for address in addresses {
        if let Some(what) = refusal(*address, standing) {
            return Err(DialError::Address { address: *address, what });
        }
    }
    Ok(())
}

fn refusal(address: IpAddr, standing: HostStanding) -> Option<&'static str> {
    match (special(address), standing) {
        (Some(found), HostStanding::Anybody) => Some(found.what),
        (Some(found), HostStanding::NamedByOperator) => match found.lift {
            PolicyOverride::ByOperator => None,
            PolicyOverride::Never => Some(found.what),
        },
        (None, HostStanding::NamedByOperator) => None,
        (None, HostStanding::Anybody) => own(address, source_towards(address)),
    }
}

/// Whether packets to an address would come back to this machine, and so to its own listeners, as far as the system told
/// from where it would send them.
fn own(address: IpAddr, source: io::Result<IpAddr>) -> Option<&'static str> {
    match source {
        Ok(source) => (source == address).then_some("an address of this machine"),
        // Nothing would leave for it, and nothing come back.
        Err(cause) if leads_nowhere(&cause) => None,
        Err(_) => Some("an address that could not be compared with this machine's addresses"),
    }
}

fn leads_nowhere(cause: &io::Error) -> bool {
    /// This machine does not speak that version of the protocol (errno(3)).
    const EAFNOSUPPORT: i32 = 97;
    let unreachable = [
        io::ErrorKind::NetworkUnreachable,
        io::ErrorKind::HostUnreachable,
        io::ErrorKind::NetworkDown,
        io::ErrorKind::AddrNotAvailable,
    ];
    unreachable.contains(&cause.kind()) || cause.raw_os_error() == Some(EAFNOSUPPORT)
}

/// Asks the system from which address it would talk to another one.
fn source_towards(address: IpAddr) -> io::Result<IpAddr> {
    let unspecified: IpAddr = match address {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Connecting a datagram socket asks the kernel for the route and sends nothing. The kernel talks to an address of
    // its own from that very address.
    let socket = UdpSocket::bind((unspecified, 0))?;
    socket.connect((address, 9))?;
    Ok(socket.local_addr()?.ip())
}

async fn connect_to_first(
    addresses: &[IpAddr],
    port: u16,
    deadline: Instant,
) -> Result<Connection, DialError> {
    let mut failed: io::Error = io::ErrorKind::TimedOut.into();
    for (index, address) in addresses.iter().enumerate() {
        let is_last = index + 1 == addresses.len();
        let until = if is_last { deadline } else { deadline.min(Instant::now() + ATTEMPT_TIME_MAX) };
        let attempt = timeout_at(until, TcpStream::connect(SocketAddr::new(*address, port))).await;
        match attempt.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
            Ok(stream) => {
                stream.set_nodelay(true).map_err(DialError::Unreachable)?;
                return Ok(Connection { stream, address: *address });
            }
            Err(cause) => failed = cause,
        }
    }
    Err(DialError::Unreachable(failed))
}

#[cfg(test)]
mod tests;
