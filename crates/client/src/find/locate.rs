//! The search: look into the lock file, connect, start, wait, until a deadline.
//!
//! Invariant: of several clients that start a daemon at once, all end up with the same one.

use std::path::Path;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_types::ErrorCode;
use palyra_types::daemon_lock::DaemonLockRecord;
use palyra_wire::v1;
use palyra_wire::v1::admin_service_client::AdminServiceClient;

use super::build_id::is_same_build;
use super::folder_watch::FolderWatch;
use super::lock::read_lock_record;
use super::log_tail::log_tail;
use super::model_check::{self, ModelVerdict};
use super::spawn::{SpawnOutcome, spawn_daemon};
use crate::error::{ClientError, ReplacementTerms};
use crate::notice::DaemonNotice;
use crate::options::{ConnectOptions, DaemonTarget, OwnModel, StartPolicy};
use crate::transport::{Connection, connect_tcp, connect_unix};

/// The longest wait between two looks, for what no event tells.
const LOOK_AGAIN_MAX: Duration = Duration::from_millis(250);
const STATUS_WITHIN: Duration = Duration::from_secs(3);
/// How long a first sign of life may take before a person is told of the wait.
const SIGN_OF_LIFE_WITHIN: Duration = Duration::from_millis(1_500);
/// Whoever loses a race for the lock starts no other daemon for this long, and then twice as long each time.
const START_AGAIN_AFTER: Duration = Duration::from_millis(250);
/// After a lost race no start is tried with less time than this left.
const START_WITHIN_MIN: Duration = Duration::from_millis(500);

/// What to do where no daemon serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhenAbsent {
    /// Start one, or fail when that is not allowed.
    StartOrFail,
    /// Start one, or wait for somebody else to do it when that is not allowed.
    StartOrWait,
}

/// What to do with a daemon that uses another model than this environment selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelRule {
    /// Replace it, or fail when it stays.
    Demand,
    /// Use it and say so: the run that is followed began already.
    Report,
}

/// How to search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DaemonSearch {
    /// What to do where no daemon serves.
    pub(crate) when_absent: WhenAbsent,
    /// What to do with a daemon that uses another model.
    pub(crate) model: ModelRule,
    /// When to give up.
    pub(crate) deadline: Instant,
}

/// Returns a connection to the daemon, which may have been started for it. Boxed, so that the body is compiled here and not
/// again in each crate that connects.
pub(crate) fn find(
    options: &ConnectOptions,
    search: DaemonSearch,
) -> BoxFuture<'_, Result<Connection, ClientError>> {
    found(options, search).boxed()
}

async fn found(options: &ConnectOptions, search: DaemonSearch) -> Result<Connection, ClientError> {
    match &options.target {
        DaemonTarget::StateDir(dir) => {
            let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
            DaemonFinder::new(options, &dir, search).run().await
        }
        DaemonTarget::Tcp(address) => loop {
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
            DaemonTarget::StateDir(dir) => {
                let watch = FolderWatch::new(dir);
                (connect_unix(endpoint).await.is_err(), Some(watch))
            }
            DaemonTarget::Tcp(address) => (connect_tcp(address).await.is_err(), None),
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

struct DaemonFinder<'a> {
    options: &'a ConnectOptions,
    dir: &'a Path,
    search: DaemonSearch,
    /// The process that was asked to make room.
    retiring: Option<u32>,
    /// The process that was announced as replaced for its model.
    replaced: Option<u32>,
    /// The process that says nothing, and since when.
    silent: Option<(u32, Instant)>,
    races_lost: u32,
    start_after: Instant,
    announced: bool,
}

/// What the lock file leads to.
enum FoundDaemon {
    /// A daemon that answers.
    Serving(Box<(DaemonLockRecord, Connection, Option<v1::ModelOrigin>)>),
    /// A process that takes connections and says nothing.
    Silent(u32),
    Nobody,
}

impl<'a> DaemonFinder<'a> {
    fn new(options: &'a ConnectOptions, dir: &'a Path, search: DaemonSearch) -> Self {
        Self {
            options,
            dir,
            search,
            retiring: None,
            replaced: None,
            silent: None,
            races_lost: 0,
            start_after: Instant::now(),
            announced: false,
        }
    }

    async fn run(mut self) -> Result<Connection, ClientError> {
        loop {
            // The watch is set before the look, so that nothing falls between the two.
            let mut watch = FolderWatch::new(self.dir);
            match self.look().await {
                FoundDaemon::Serving(found) if self.retiring == Some(found.0.pid) => {}
                FoundDaemon::Serving(found) => {
                    let (record, mut connection, model) = *found;
                    if self.keeps(&record, &connection).await
                        && self.means(&record, &mut connection, model).await?
                    {
                        return Ok(connection);
                    }
                    self.retiring = Some(record.pid);
                    continue;
                }
                FoundDaemon::Silent(pid) => self.bear_silence(pid)?,
                FoundDaemon::Nobody => {
                    self.silent = None;
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

    /// Looks who answers at the socket of the lock file.
    async fn look(&self) -> FoundDaemon {
        let record = read_lock_record(self.dir).filter(|record| !record.socket.is_empty());
        let Some(record) = record else { return FoundDaemon::Nobody };
        let Ok(connection) = connect_unix(&record.socket).await else { return FoundDaemon::Nobody };
        let mut admin = AdminServiceClient::new(connection.transport.clone());
        let asked = admin.get_config(v1::GetConfigRequest {});
        match tokio::time::timeout(SIGN_OF_LIFE_WITHIN, asked).await {
            Err(_elapsed) => FoundDaemon::Silent(record.pid),
            Ok(Err(status)) if ClientError::from_status(&status, &record.socket).is_lost() => {
                FoundDaemon::Nobody
            }
            // Whatever it answers, it lives.
            Ok(answer) => {
                let model = answer.ok().and_then(|config| config.into_inner().model_origin);
                FoundDaemon::Serving(Box::new((record, connection, model)))
            }
        }
    }

    /// Tells once of a daemon that says nothing, and gives it up when it has had its time.
    fn bear_silence(&mut self, pid: u32) -> Result<(), ClientError> {
        let since = match self.silent {
            Some((known, since)) if known == pid => since,
            _ => {
                (self.options.notices)(DaemonNotice::NotAnswering { pid });
                let since = Instant::now();
                self.silent = Some((pid, since));
                since
            }
        };
        if since.elapsed() + SIGN_OF_LIFE_WITHIN >= self.options.answers_within {
            return Err(self.timed_out());
        }
        Ok(())
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
        let late = self.races_lost > 0 && begun + START_WITHIN_MIN > self.search.deadline;
        if late || begun < self.start_after {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.announced, true) {
            (self.options.notices)(DaemonNotice::Starting { state_dir: self.dir.to_owned() });
        }
        match spawn_daemon(self.options, self.dir, self.search.deadline).await? {
            SpawnOutcome::Ready { socket, model, denies_all } => {
                let mut connection = connect_unix(&socket).await?;
                if let Some(own) = &self.options.own_model
                    && let Some(origin) = model_check::origin(&connection).await
                {
                    // It was started in this very environment; what is left to learn is its salt.
                    self.report_unused(own, &origin, &model);
                    connection.model = origin.fingerprint;
                }
                (self.options.notices)(DaemonNotice::Started { model, took: begun.elapsed() });
                if !denies_all.is_empty() {
                    (self.options.notices)(DaemonNotice::DeniesAll { why: denies_all });
                }
                Ok(Some(connection))
            }
            SpawnOutcome::LostRace => {
                self.start_after = Instant::now() + START_AGAIN_AFTER * (1 << self.races_lost.min(3));
                self.races_lost += 1;
                Ok(None)
            }
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
            (self.options.notices)(DaemonNotice::ReplacingOtherBuild);
            let stop =
                tokio::time::timeout(STATUS_WITHIN, admin.shutdown(v1::ShutdownRequest::default())).await;
            if stop.is_ok_and(|stopped| stopped.is_ok()) {
                return false;
            }
        }
        if self.search.when_absent == WhenAbsent::StartOrFail {
            (self.options.notices)(DaemonNotice::OtherBuildKept { open_runs });
        }
        true
    }

    /// Returns whether the daemon's model is the one that is meant, or is named by its configuration; else it was asked
    /// to make room.
    async fn means(
        &mut self,
        record: &DaemonLockRecord,
        connection: &mut Connection,
        origin: Option<v1::ModelOrigin>,
    ) -> Result<bool, ClientError> {
        let (Some(own), Some(origin)) = (&self.options.own_model, origin) else { return Ok(true) };
        let notices = &self.options.notices;
        let kept_because = match model_check::judge(own, &origin) {
            ModelVerdict::Meant => {
                if model_check::ignores_variables(own, &origin) && self.search.model == ModelRule::Demand {
                    self.report_unused(own, &origin, &model_check::in_force(connection).await);
                }
                connection.model = origin.fingerprint;
                return Ok(true);
            }
            ModelVerdict::Unusable(why) => Some(why),
            ModelVerdict::Other => None,
        };
        let in_force = model_check::in_force(connection).await;
        if own.was_found(&origin, &in_force) {
            connection.model = origin.fingerprint;
            return Ok(true);
        }
        let only_key_is_missing = model_check::lacks_key(own, &origin);
        let unset_key = own.unset_key_beside(&origin);
        let request = v1::ShutdownRequest { only_if_replaceable: true, only_key_is_missing };
        let own = own.name_beside(&in_force);
        if self.search.model == ModelRule::Report {
            notices(DaemonNotice::OtherModel { in_force, own });
            return Ok(true);
        }
        let stays = |kept_because: String| v1::ShutdownResponse { kept_because, ..Default::default() };
        let v1::ShutdownResponse { kept_because, wait_seconds, open_runs } = match kept_because {
            Some(why) => stays(why),
            None if self.options.start == StartPolicy::Never => {
                stays("no daemon may be started from here".to_owned())
            }
            None => model_check::ask_to_make_room(connection, request).await,
        };
        if !kept_because.is_empty() {
            let terms = ReplacementTerms { wait_seconds, open_runs, unset_key };
            return Err(ClientError::OtherModel { in_force, own, kept_because, terms });
        }
        if self.replaced != Some(record.pid) {
            self.replaced = Some(record.pid);
            notices(DaemonNotice::ReplacingOtherModel { in_force, own });
        }
        // Its replacement says which model it has.
        self.announced = true;
        Ok(false)
    }

    /// Says so when the daemon's model is not selected by the variables that are there to select one.
    fn report_unused(&self, own: &OwnModel, origin: &v1::ModelOrigin, in_force: &str) {
        if model_check::ignores_variables(own, origin) {
            let (variables, in_force) = (own.variables.clone(), in_force.to_owned());
            let place = origin.place.clone();
            (self.options.notices)(DaemonNotice::VariablesNotUsed { variables, in_force, place });
        }
    }

    fn timed_out(&self) -> ClientError {
        let holder = || read_lock_record(self.dir).map(|record| record.pid).filter(|_| self.races_lost > 0);
        if let Some(pid) = self.silent.map(|(pid, _)| pid).or_else(holder) {
            return ClientError::NotAnswering { pid, state_dir: self.dir.to_owned() };
        }
        if self.options.start == StartPolicy::Never {
            return ClientError::NotRunning { state_dir: self.dir.to_owned() };
        }
        let message = "another process has the lock and does not answer".to_owned();
        let log = log_tail(self.dir, b"");
        ClientError::StartFailed { code: ErrorCode::DaemonStartFailed, message, log }
    }
}
