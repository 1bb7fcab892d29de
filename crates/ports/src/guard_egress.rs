//! The one door out of a program's sandbox: a filtering proxy for HTTP.

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::bound_credential::BoundCredential;
use crate::fetch_http::HostRule;

/// Serves programs that have no other network.
pub trait GuardEgress: Send + Sync {
    /// Serves as an HTTP/1.1 proxy on a TCP listener that was made where only the program can reach it.
    ///
    /// # Errors
    /// When the descriptor is no listener that can be served. Nothing was served then.
    fn serve(
        &self,
        listener: OwnedFd,
        grant: EgressGrant,
    ) -> Result<Box<dyn EgressSession>, GuardEgressError>;
}

/// A proxy that is at work. Dropping it cuts every connection through it.
pub trait EgressSession: Send {
    /// Returns whom it was asked for so far, and what became of that.
    fn contacts(&self) -> EgressContacts;

    /// Cuts every connection, and returns once none is left.
    fn stop(&mut self) -> BoxFuture<'_, ()>;
}

/// Whom one program may reach, for one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EgressGrant {
    /// The hosts; nobody when empty.
    pub hosts: Vec<HostRule>,
    /// Credentials that the proxy adds. A host with one is asked for in plain `http://host/`, and the proxy speaks
    /// TLS with it at the credential's port; a tunnel to such a host carries none.
    pub credentials: Vec<BoundCredential>,
    /// What may be used up.
    pub limits: EgressLimits,
}

/// What a program may use up through the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EgressLimits {
    /// Connections of the program at once; further ones wait.
    pub connections_max: usize,
    /// Start line and headers of one message, at least 8 KiB.
    pub header_bytes_max: usize,
    /// How long a program may take to send the headers of a request.
    pub header_time_max: Duration,
    /// How long connecting to a server may take, TLS included.
    pub connect_time_max: Duration,
    /// How long a connection may carry nothing.
    pub idle_time_max: Duration,
    /// How long one connection may live.
    pub connection_time_max: Duration,
    /// Bytes that leave through the proxy, all connections together.
    pub sent_bytes_max: u64,
    /// Bytes that come in through the proxy, all connections together.
    pub received_bytes_max: u64,
    /// How many different servers that were reached are remembered, and how many other contacts beside them.
    pub contacts_max: usize,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self {
            connections_max: 64,
            header_bytes_max: 64 << 10,
            header_time_max: Duration::from_secs(10),
            connect_time_max: Duration::from_secs(10),
            idle_time_max: Duration::from_secs(120),
            connection_time_max: Duration::from_secs(3600),
            sent_bytes_max: 256 << 20,
            received_bytes_max: 4 << 30,
            contacts_max: 256,
        }
    }
}

/// Whom a program asked for. Whom it reached is not displaced by whom it only asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressContacts {
    /// The different servers that were reached, in the order of their first time: at most
    /// [`EgressLimits::contacts_max`]. One that was reached at several addresses stands here with the first of them.
    pub reached: Vec<EgressContact>,
    /// The other contacts, in the same way.
    pub others: Vec<EgressContact>,
    /// How often a server was reached for which there was no room.
    pub reached_unnoted: u64,
    /// How often there was no room for another contact.
    pub others_unnoted: u64,
}

/// Somebody whom a program asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EgressContact {
    /// The host, as it was read; empty where nothing could be read.
    pub host: String,
    /// The port; 0 where nothing could be read.
    pub port: u16,
    /// What became of it.
    pub verdict: EgressVerdict,
}

/// What became of a contact.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum EgressVerdict {
    /// It was connected to.
    Reached {
        /// At which address.
        address: IpAddr,
    },
    /// It was refused, and no packet was sent.
    Refused {
        /// Why.
        reason: &'static str,
    },
    /// It was allowed, and could not be reached.
    Failed,
}

/// Why a listener is not served.
#[derive(Debug, thiserror::Error)]
#[error("the listener of a program's network cannot be served")]
pub struct GuardEgressError {
    /// The system's word.
    #[source]
    pub cause: std::io::Error,
}
