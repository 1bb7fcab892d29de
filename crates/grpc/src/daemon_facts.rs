//! What only the daemon knows about itself, and this transport shows.

use std::path::PathBuf;
use std::sync::Arc;

use palyra_types::Timestamp;
use tokio::sync::watch;

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
    /// Where its state lies.
    pub state_dir: PathBuf,
    /// The addresses it serves, such as `unix:/run/palyra/daemon.sock`.
    pub listening: Vec<String>,
    /// Every configuration value in force; secrets are references.
    pub config: watch::Receiver<Arc<Vec<ConfigFact>>>,
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
