//! What is backed up, where to, and how.

use std::path::PathBuf;

/// Whether a backup holds the files that open what is sealed in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFiles {
    /// It does not: anyone who has only the backup cannot open the vault.
    LeftOut,
    /// It does.
    Included,
}

/// Whether the journal is written during the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyPace {
    /// It is: half of the time is left to the writer.
    BesideWriter,
    /// It is not.
    Alone,
}

/// Where the configuration is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigPlaces {
    /// Its file.
    pub file: Option<PathBuf>,
    /// The folder of the operator's policies.
    pub policies: Option<PathBuf>,
}

/// What is backed up, and where to.
#[derive(Debug, Clone)]
pub struct BackupPlan {
    /// The state directory; the caller has its lock, or is its daemon.
    pub state_dir: PathBuf,
    /// The configuration.
    pub config: ConfigPlaces,
    /// The folder that is to be the backup; it may not exist.
    pub target: PathBuf,
    /// Whether root keys belong to it.
    pub keys: KeyFiles,
    /// Whether the journal is written during the copy.
    pub pace: CopyPace,
    /// The version of this program.
    pub program_version: String,
    /// The time.
    pub now_unix_us: i64,
}
