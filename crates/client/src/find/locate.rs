//! The search: look into the lock file, connect, start, wait, until a deadline.
//!
//! Invariant: of several clients that start a daemon at once, all end up with the same one.

use std::path::Path;
use std::time::{Duration, Instant};

use palyra_types::ErrorCode;
use palyra_types::daemon_lock::DaemonLockRecord;
use palyra_wire::v1;
use palyra_wire::v1::admin_service_client::AdminServiceClient;

use super::build_id::is_same_build;
use super::folder_watch::FolderWatch;
use super::lock::read_lock_record;
use super::log_tail::log_tail;
use super::spawn::{Spawned, spawn_daemon};
use crate::error::ClientError;
use crate::notice::Notice;
use crate::options::{ConnectOptions, StartPolicy, Target};
use crate::transport::{Connection, connect_tcp, connect_unix};

/// The longest wait between two looks, for what no event tells.
const LOOK_AGAIN_MAX: Duration = Duration::from_millis(250);
const STATUS_WITHIN: Duration = Duration::from_secs(3);

/// What to do where no daemon serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenAbsent {
    /// Start one, or fail when that is not allowed.
    StartOrFail,
    /// Start one, or wait for somebody else to do it when that is not allowed.
    StartOrWait,
}

/// How to search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    /// What to do where no daemon serves.
    pub(crate) when_absent: WhenAbsent,
    /// When to give up.
    pub(crate) deadline: Instant,
}

/// Returns a connection to the daemon, which may have been started for it.
pub(crate) async fn find(options: &ConnectOptions, search: Search) -> Result<Connection, ClientError> {
    match &options.target {
        Target::StateDir(dir) => {
            let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
            Finder { options, dir: &dir, search, retiring: None, announced: false }.run().await
        }
        Target::Tcp(address) => loop {
            match connect_tcp(address).await {
                Err(_)
                    if search.when_absent == WhenAbsent::StartOrWait && Instant::now() < search.deadline =>
                {
                    tokio::time::sleep(LOOK_AGAIN_MAX).await;
                }
                outcome => return outcome,
            }
        },
    }
}

/// Returns whether the daemon at `endpoint` stops serving before the deadline.
pub(crate) async fn until_gone(options: &ConnectOptions, endpoint: &str, deadline: Instant) -> bool {
    loop {
        let (gone, watch) = match &options.target {
            Target::StateDir(dir) => {
                let watch = FolderWatch::new(dir);
                (connect_unix(endpoint).await.is_err(), Some(watch))
            }
            Target::Tcp(address) => (connect_tcp(address).await.is_err(), None),
        };
        if gone || Instant::now() >= deadline {
            return gone;
        }
        match watch {
            Some(mut watch) => watch.changed(LOOK_AGAIN_MAX).await,
            None => tokio::time::sleep(LOOK_AGAIN_MAX).await,
        }
    }
}

struct Finder<'a> {
    options: &'a ConnectOptions,
    dir: &'a Path,
    search: Search,
    /// The process that was asked to make room.
    retiring: Option<u32>,
    announced: bool,
}

impl Finder<'_> {
    async fn run(mut self) -> Result<Connection, ClientError> {
        loop {
            // The watch is set before the look, so that nothing falls between the two.
            let mut watch = FolderWatch::new(self.dir);
            match self.serving().await {
                Some((record, _)) if self.retiring == Some(record.pid) => {}
                Some((record, connection)) => {
                    if self.keeps(&record, &connection).await {
                        return Ok(connection);
                    }
                    self.retiring = Some(record.pid);
                    continue;
                }
                None => {
                    if let Some(connection) = self.start().await? {
                        return Ok(connection);
                    }
                }
            }
            if Instant::now() >= self.search.deadline {
                return Err(self.timed_out());
            }
            watch.changed(LOOK_AGAIN_MAX).await;
        }
    }

    /// Returns the daemon that answers at the socket of the lock file.
    async fn serving(&self) -> Option<(DaemonLockRecord, Connection)> {
        let record = read_lock_record(self.dir)?;
        if record.socket.is_empty() {
            return None;
        }
        let connection = connect_unix(&record.socket).await.ok()?;
        Some((record, connection))
    }

    /// Returns a connection to a daemon started here; `None` when one has to be waited for.
    async fn start(&mut self) -> Result<Option<Connection>, ClientError> {
        if self.options.start == StartPolicy::Never {
            return match self.search.when_absent {
                WhenAbsent::StartOrFail => Err(ClientError::NotRunning { state_dir: self.dir.to_owned() }),
                WhenAbsent::StartOrWait => Ok(None),
            };
        }
        let begun = Instant::now();
        if !std::mem::replace(&mut self.announced, true) {
            (self.options.notices)(Notice::Starting { state_dir: self.dir.to_owned() });
        }
        match spawn_daemon(self.options, self.dir, self.search.deadline).await? {
            Spawned::Ready { socket, model } => {
                let connection = connect_unix(&socket).await?;
                (self.options.notices)(Notice::Started { model, took: begun.elapsed() });
                Ok(Some(connection))
            }
            Spawned::LostRace => Ok(None),
        }
    }

    /// Returns whether this daemon is used; else it was asked to make room for this build.
    async fn keeps(&self, record: &DaemonLockRecord, connection: &Connection) -> bool {
        // Whoever may not start a daemon cannot replace one either.
        let replaces = self.options.start == StartPolicy::Allowed && self.retiring.is_none();
        if !replaces || is_same_build(&record.build_id, &self.options.program) {
            return true;
        }
        let takes_over = self.search.when_absent == WhenAbsent::StartOrFail;
        let mut admin = AdminServiceClient::new(connection.transport.clone());
        let status = tokio::time::timeout(STATUS_WITHIN, admin.get_status(v1::GetStatusRequest {})).await;
        let open_runs = status.ok().and_then(Result::ok).map(|status| status.into_inner().open_runs);
        if takes_over && open_runs == Some(0) {
            (self.options.notices)(Notice::ReplacingOtherBuild);
            let stop = tokio::time::timeout(STATUS_WITHIN, admin.shutdown(v1::ShutdownRequest {})).await;
            if stop.is_ok_and(|stopped| stopped.is_ok()) {
                return false;
            }
        }
        if self.search.when_absent == WhenAbsent::StartOrFail {
            (self.options.notices)(Notice::OtherBuildKept { open_runs });
        }
        true
    }

    fn timed_out(&self) -> ClientError {
        if self.options.start == StartPolicy::Never {
            return ClientError::NotRunning { state_dir: self.dir.to_owned() };
        }
        let message = match read_lock_record(self.dir) {
            Some(record) => format!("process {} holds the lock and does not answer", record.pid),
            None => "somebody holds the lock and does not answer".to_owned(),
        };
        let log = log_tail(self.dir, b"");
        ClientError::StartFailed { code: ErrorCode::DaemonStartFailed, message, log }
    }
}
