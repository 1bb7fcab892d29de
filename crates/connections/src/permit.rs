//! The permit of one connection, and how many there are.

use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, watch};

/// What one listener admits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Connections at once.
    pub connections_max: usize,
    /// Connections at once that have shown no token; never more than half of all.
    pub newcomers_max: usize,
    /// Time to the first call of a connection, from any caller.
    pub first_call_span: Duration,
    /// Time to the first call with a token.
    pub newcomer_span: Duration,
}

/// A permit for one connection, counted until it is dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    _permit: OwnedSemaphorePermit,
    open: watch::Sender<usize>,
}

impl ConnectionPermit {
    pub(crate) fn new(permit: OwnedSemaphorePermit, open: watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self { _permit: permit, open }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.open.send_modify(|open| *open -= 1);
    }
}
