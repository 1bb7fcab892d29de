//! What only the daemon knows about itself, and this transport shows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palyra_admin::health::{HealthCheck, LiveChecks};
use palyra_ports::GatewayTrail;
use palyra_types::Timestamp;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::model_changes::ModelChanges;
use crate::reload::ReloadHandle;

/// The daemon, as its status tells it.
#[derive(Debug, Clone)]
pub struct DaemonFacts {
    /// Its version.
    pub version: String,
    /// Its build, as in the lock file.
    pub build: String,
    /// Its process.
    pub pid: u32,
    /// When it started.
    pub started: Timestamp,
    /// Where its state is.
    pub state_dir: PathBuf,
    /// The addresses it serves, such as `unix:/run/palyra/daemon.sock`.
    pub listening: Vec<String>,
    /// The origin of the HTTP server, such as `http://localhost:7787`; `None` where it is off.
    pub http_origin: Option<String>,
    /// The configuration file that it reads, whether that is there or not.
    pub config_file: Option<PathBuf>,
    /// Every configuration value in force; secrets are references.
    pub config: watch::Receiver<Arc<Vec<ConfigFact>>>,
    /// What only the daemon can check.
    pub checks: watch::Receiver<Arc<Vec<HealthCheck>>>,
    /// Checks that are made at each request for the status.
    pub live_checks: LiveChecks,
    /// Its id in requests to models, and the gateways that it answers.
    pub gateways: GatewayTrail,
    /// The way to have the configuration read again.
    pub reload: ReloadHandle,
    /// The way to add servers of models to the configuration.
    pub model_changes: ModelChanges,
    /// Whether it may make room for a daemon with another model.
    pub replacement: Arc<dyn ReplaceDaemon>,
    /// Cancelled when the owner asks the daemon to stop; the daemon stops once it has drained.
    pub stop_requested: CancellationToken,
}

impl DaemonFacts {
    /// Returns the facts of a daemon of a test: it has no configuration and no listener, and is never replaced. A test
    /// names what it wants to be different, so that a further fact changes this function only.
    #[must_use]
    pub fn of_test(state_dir: &Path) -> Self {
        Self {
            version: "1.2.3".to_owned(),
            build: "build-7".to_owned(),
            pid: 4_242,
            started: Timestamp(1_000_000),
            state_dir: state_dir.to_owned(),
            listening: Vec::new(),
            http_origin: None,
            config_file: None,
            config: watch::channel(Arc::default()).1,
            checks: watch::channel(Arc::default()).1,
            live_checks: LiveChecks::default(),
            gateways: GatewayTrail::default(),
            reload: ReloadHandle::channel().0,
            model_changes: ModelChanges::none(),
            replacement: Arc::new(NeverReplaced),
            stop_requested: CancellationToken::new(),
        }
    }
}

/// How the daemon that comes differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplacementKind {
    /// By its model, its server or its key.
    OtherModel,
    /// It has the key that this one lacks, and is the same otherwise: two that take turns so wait before each second turn.
    KeyIsThere,
}

/// Why a daemon does not make room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDaemon {
    /// The reason.
    pub why: String,
    /// Seconds after which it makes room all the same; 0 where that depends on more than time.
    pub wait_seconds: u32,
    /// Runs that are open and keep it.
    pub open_runs: u32,
}

impl KeptDaemon {
    /// Makes a reason that does not end by itself.
    #[must_use]
    pub fn because(why: impl Into<String>) -> Self {
        Self { why: why.into(), wait_seconds: 0, open_runs: 0 }
    }

    /// Makes the reason of a daemon with this many open runs.
    #[must_use]
    pub fn by_runs(open: u64) -> Self {
        let why = if open == 1 { "it has 1 open run".to_owned() } else { format!("it has {open} open runs") };
        Self { open_runs: u32::try_from(open).unwrap_or(u32::MAX), ..Self::because(why) }
    }

    /// Returns the reason of the same daemon with this many open runs: they keep it when the seconds have passed, and a
    /// reason that does not end by itself has them beside it.
    #[must_use]
    pub fn with_runs(self, open: u64) -> Self {
        match (open, self.wait_seconds) {
            (0, _) => self,
            (_, 0) => {
                let runs = Self::by_runs(open);
                Self { why: format!("{}, and {}", self.why, runs.why), ..runs }
            }
            (_, _) => Self::by_runs(open),
        }
    }
}

/// Decides whether this daemon makes room for one with another model.
pub trait ReplaceDaemon: std::fmt::Debug + Send + Sync {
    /// Returns why it does not; `None` when it may.
    fn kept_because(&self, replacement: ReplacementKind) -> Option<KeptDaemon>;

    /// Takes note that it does.
    fn replaced(&self);
}

/// A daemon that never makes room.
#[derive(Debug, Clone, Copy)]
pub struct NeverReplaced;

impl ReplaceDaemon for NeverReplaced {
    fn kept_because(&self, _replacement: ReplacementKind) -> Option<KeptDaemon> {
        Some(KeptDaemon::because("it was not started by a client"))
    }

    fn replaced(&self) {}
}

/// One configuration value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFact {
    /// Dotted key.
    pub key: String,
    /// The value as TOML.
    pub value: String,
    /// `default`, `file`, `environment` or `flag`, with the place.
    pub origin: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_runs_keep_a_daemon_longer_than_the_time_after_a_replacement() {
        let recent = KeptDaemon { wait_seconds: 55, ..KeptDaemon::because("another one was replaced") };
        let served = KeptDaemon::because("it was started by `palyra serve`");
        for (kept, open, why, wait_seconds) in [
            (&recent, 0, "another one was replaced", 55),
            (&recent, 1, "it has 1 open run", 0),
            (&recent, 3, "it has 3 open runs", 0),
            (&served, 0, "it was started by `palyra serve`", 0),
            (&served, 2, "it was started by `palyra serve`, and it has 2 open runs", 0),
        ] {
            let open_runs = u32::try_from(open).unwrap();
            let wanted = KeptDaemon { why: why.to_owned(), wait_seconds, open_runs };
            assert_eq!(kept.clone().with_runs(open), wanted);
        }
    }
}
