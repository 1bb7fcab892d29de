//! The client: one connection that all its clones share, replaced when the daemon was.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use palyra_wire::v1;

use crate::error::ClientError;
use crate::find::{DaemonSearch, ModelRule, WhenAbsent, find, read_lock_record, until_ended, until_gone};
use crate::options::{ConnectOptions, DaemonTarget};
use crate::transport::Connection;

/// The pause before a daemon that ended right after it was found is looked for again.
const RESTORE_PAUSE: Duration = Duration::from_millis(100);

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
    /// [`ClientError::NotRunning`], [`ClientError::StartFailed`] or, over TCP, [`ClientError::Lost`]; with
    /// [`ConnectOptions::heads`] also [`ClientError::RolledBack`] and [`ClientError::Forked`].
    pub async fn connect(options: ConnectOptions) -> Result<Self, ClientError> {
        let search = DaemonSearch {
            when_absent: WhenAbsent::StartOrFail,
            model: ModelRule::Demand,
            deadline: Instant::now() + options.ready_within,
        };
        let connection = find(&options, search).await?;
        let client = Self { options: Arc::new(options), current: Arc::new(Mutex::new(connection)) };
        loop {
            match client.witness().await {
                // It was about to go when it was found: whoever comes after it is looked for.
                Err(ClientError::Lost { .. }) if Instant::now() < search.deadline => {
                    let connection = find(&client.options, search).await?;
                    *client.current.lock().unwrap_or_else(PoisonError::into_inner) = connection;
                }
                witnessed => return witnessed.map(|()| client),
            }
        }
    }

    /// Finds the daemon again after it was lost, and uses the new connection in every clone.
    pub(crate) async fn reconnect(&self, give_up: Instant, model: ModelRule) -> Result<(), ClientError> {
        let search = DaemonSearch { when_absent: WhenAbsent::StartOrWait, model, deadline: give_up };
        let connection = find(&self.options, search).await?;
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = connection;
        self.witness().await
    }

    /// Makes sure that a daemon answers before something is sent to it: one that is gone is looked for, and started where
    /// that is allowed. Returns whether it was gone.
    ///
    /// # Errors
    /// [`ClientError::GaveUp`] when none answers within [`ConnectOptions::reattach_within`], or why none can be started.
    pub async fn restore(&self) -> Result<bool, ClientError> {
        match self.config().await {
            Err(error) if error.is_lost() => {}
            // One that refuses this call answers, too.
            Ok(_) | Err(_) => return Ok(false),
        }
        let waited = self.options.reattach_within;
        let give_up = Instant::now() + waited;
        loop {
            match self.reconnect(give_up, ModelRule::Demand).await {
                Ok(()) => return Ok(true),
                Err(error) if !error.is_lost() => return Err(error),
                // It ended again while it was found.
                Err(ClientError::Lost { .. }) if Instant::now() < give_up => {
                    tokio::time::sleep(RESTORE_PAUSE).await;
                }
                Err(last) => return Err(ClientError::GaveUp { waited, last: Box::new(last) }),
            }
        }
    }

    /// Asks the daemon to stop and returns when it no longer serves, which it does until what runs has finished or
    /// had the time its configuration gives; open runs go on at its next start.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`] when it still serves after that and the time a start may take.
    pub async fn stop_daemon(&self) -> Result<(), ClientError> {
        self.end_daemon(v1::ShutdownRequest::default()).await.map(drop)
    }

    /// Asks the daemon to make room for one of this environment; returns why it stays, or nothing once it is gone.
    ///
    /// # Errors
    /// As [`stop_daemon`](Self::stop_daemon).
    pub async fn make_room(&self) -> Result<Option<String>, ClientError> {
        let kept_because =
            self.end_daemon(v1::ShutdownRequest { only_if_replaceable: true, ..Default::default() }).await?;
        Ok(Some(kept_because).filter(|why| !why.is_empty()))
    }

    /// Ends the daemon; returns why it stays, which is empty once it is gone.
    async fn end_daemon(&self, request: v1::ShutdownRequest) -> Result<String, ClientError> {
        let connection = self.connection();
        let holder = match &self.options.target {
            DaemonTarget::StateDir(dir) => read_lock_record(dir).map(|record| record.pid),
            DaemonTarget::Tcp(_) => None,
        };
        // One that cannot tell is about to go.
        let drains = self.config().await.map_or(Duration::ZERO, |config| drain_span(&config));
        match self.shutdown(request).await {
            Ok(kept_because) if !kept_because.is_empty() => return Ok(kept_because),
            // One that goes at once may not get its answer out.
            Ok(_) | Err(ClientError::Lost { .. }) => {}
            Err(error) => return Err(error),
        }
        let deadline = Instant::now() + drains + self.options.ready_within;
        let gone = until_gone(&self.options, &connection.endpoint, deadline).await;
        if gone && until_ended(holder, deadline).await {
            return Ok(String::new());
        }
        let cause = "it was asked to stop and still serves".to_owned();
        Err(ClientError::Lost { endpoint: connection.endpoint, cause })
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

/// The setting that says how long a stop may take.
const DRAIN_KEY: &str = "daemon.drain_seconds";

/// Returns how long a daemon gives what runs to finish.
fn drain_span(config: &v1::GetConfigResponse) -> Duration {
    let value = config.values.iter().find(|value| value.key == DRAIN_KEY);
    let seconds = value.and_then(|value| value.value.parse().ok());
    Duration::from_secs(seconds.unwrap_or_default())
}
