//! The client: one connection that all its clones share, replaced when the daemon was.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::error::ClientError;
use crate::find::{Search, WhenAbsent, find};
use crate::options::ConnectOptions;
use crate::transport::Connection;

/// A client of one daemon; clones share its connection.
#[derive(Clone)]
pub struct Client {
    options: Arc<ConnectOptions>,
    current: Arc<Mutex<Connection>>,
}

impl Client {
    /// Finds the daemon, or starts it where that is allowed, and connects.
    ///
    /// # Errors
    /// [`ClientError::NotRunning`], [`ClientError::StartFailed`] or, over TCP, [`ClientError::Lost`].
    pub async fn connect(options: ConnectOptions) -> Result<Self, ClientError> {
        let deadline = Instant::now() + options.ready_within;
        let connection = find(&options, Search { when_absent: WhenAbsent::StartOrFail, deadline }).await?;
        Ok(Self { options: Arc::new(options), current: Arc::new(Mutex::new(connection)) })
    }

    /// Finds the daemon again after it was lost, and uses the new connection in every clone.
    pub(crate) async fn reconnect(&self, give_up: Instant) -> Result<(), ClientError> {
        let connection =
            find(&self.options, Search { when_absent: WhenAbsent::StartOrWait, deadline: give_up }).await?;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = connection;
        Ok(())
    }

    /// Returns how this client was connected.
    #[must_use]
    pub fn options(&self) -> &ConnectOptions {
        &self.options
    }

    /// Returns where the daemon is, for messages.
    #[must_use]
    pub fn endpoint(&self) -> String {
        self.connection().endpoint
    }

    pub(crate) fn connection(&self) -> Connection {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
