//! What the HTTP server takes, named and with defaults.

use std::time::Duration;

use palyra_connections::AdmissionLimits;

/// Bytes of a body below `/v1`, at most.
pub const OPENAI_BODY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of the body of an operation that takes files, at most.
pub(crate) const INPUT_BODY_BYTES_MAX: usize = 20 * 1024 * 1024;
/// Bytes of any other body, at most.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of the request line and all headers, at most.
pub(crate) const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Headers of a request, at most.
pub(crate) const HEADERS_MAX: usize = 64;

/// What one listener takes. The defaults are for use; tests choose smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Connections at once.
    pub connections_max: usize,
    /// Connections at once that have shown no token; never more than half of all.
    pub newcomers_max: usize,
    /// Streams at once of one principal.
    pub streams_of_one_max: usize,
    /// KiB of all bodies that are read at once.
    pub bodies_kib_max: usize,
    /// KiB of them that are one principal's.
    pub bodies_of_one_kib_max: usize,
    /// Time for the head of a request, and the longest rest between two requests of a connection.
    pub head_span: Duration,
    /// Time for the body of a request.
    pub body_span: Duration,
    /// Time to answer a call that is not a stream, after its body.
    pub call_span: Duration,
    /// Time that a client may take to read what waits for it.
    pub write_span: Duration,
    /// Time for the TLS handshake.
    pub handshake_span: Duration,
    /// Time to the first call of a connection, from any caller.
    pub first_call_span: Duration,
    /// Time to the first call with a token.
    pub newcomer_span: Duration,
    /// Time for open requests to end after the stop.
    pub drain_span: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections_max: 2_048,
            newcomers_max: 256,
            streams_of_one_max: 1_280,
            bodies_kib_max: 256 * 1024,
            bodies_of_one_kib_max: 128 * 1024,
            head_span: Duration::from_secs(20),
            body_span: Duration::from_secs(120),
            call_span: Duration::from_secs(120),
            write_span: Duration::from_secs(60),
            handshake_span: Duration::from_secs(10),
            first_call_span: Duration::from_secs(20),
            newcomer_span: Duration::from_secs(60),
            drain_span: Duration::from_secs(2),
        }
    }
}

impl HttpLimits {
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
