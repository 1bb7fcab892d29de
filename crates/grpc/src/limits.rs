//! What the transport takes, named and with defaults.

use std::time::Duration;

use palyra_connections::AdmissionLimits;

/// Bytes of one message from a client, unless a test chooses fewer.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What one transport may take. The defaults are meant for use; tests choose smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeLimits {
    /// Connections at once, per listener.
    pub connections_max: usize,
    /// Connections at once over TCP that have shown no token; never more than half of all.
    pub newcomers_max: usize,
    /// Calls at once, per connection.
    pub streams_per_connection_max: u32,
    /// Bytes of one message from a client.
    pub message_bytes_max: usize,
    /// Bytes of all headers of one call.
    pub header_bytes_max: u32,
    /// Time to send the HTTP/2 preface.
    pub greeting_span: Duration,
    /// Time to the first call of a connection over TCP, whoever calls.
    pub first_call_span: Duration,
    /// Time to the first call with a token of a connection over TCP.
    pub newcomer_span: Duration,
    /// Time to answer a call that is not a stream, its message included.
    pub call_span: Duration,
    /// Silence after which a connection is asked whether it lives, and time for its answer.
    pub keep_alive_span: Duration,
    /// Time for open calls to end after a stop.
    pub drain_span: Duration,
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self {
            connections_max: 1_024,
            newcomers_max: 256,
            streams_per_connection_max: 256,
            message_bytes_max: MESSAGE_BYTES_MAX,
            header_bytes_max: 16 * 1024,
            greeting_span: Duration::from_secs(10),
            first_call_span: Duration::from_secs(10),
            newcomer_span: Duration::from_secs(30),
            call_span: Duration::from_secs(120),
            keep_alive_span: Duration::from_secs(20),
            drain_span: Duration::from_secs(2),
        }
    }
}

impl ServeLimits {
    /// Returns what admission takes of them.
    pub(crate) fn admission(&self) -> AdmissionLimits {
        AdmissionLimits {
            connections_max: self.connections_max,
            newcomers_max: self.newcomers_max,
            first_call_span: self.first_call_span,
            newcomer_span: self.newcomer_span,
        }
    }
}
