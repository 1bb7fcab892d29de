//! The places that messages of people come from.

/// Where an input came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Surface {
    /// The daemon's own Unix socket.
    LocalSocket,
    /// The loopback TCP listener.
    Tcp,
}
