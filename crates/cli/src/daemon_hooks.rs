//! What the daemon's side does for the command line: functions handed in, since the two do not know each other.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use palyra_client::OwnModel;
use palyra_types::ErrorCode;
use serde_json::Value;

/// The functions of the daemon's side.
#[derive(Debug, Clone, Copy)]
pub struct DaemonHooks {
    /// Serves until a signal or a client stops it.
    pub serve: fn(ServeArgs) -> anyhow::Result<ExitCode>,
    /// Looks for mistakes in the configuration that a daemon would start with, in this file or the usual one.
    pub check_config: fn(Option<&Path>) -> ConfigVerdict,
    /// Returns the default model that a daemon would use that is started with this configuration file, or the usual one.
    pub own_model: fn(Option<&Path>) -> OwnModel,
    /// Checks or tests files of rules in this folder, or in the one that this configuration file names, with the components
    /// of this state directory.
    pub policies: fn(PolicyWork, Option<&Path>, Option<&Path>, Option<&Path>) -> PolicyReport,
    /// Returns the files of rules that ship, as names and texts.
    pub shipped_policies: fn() -> Vec<(String, String)>,
    /// Returns every setting as a file of comments that changes nothing.
    pub config_template: fn() -> String,
    /// Returns every setting as a JSON schema.
    pub config_schema: fn() -> Value,
}

/// What `serve` was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServeArgs {
    /// Started by a client: log to a file, stop when idle.
    pub auto_started: bool,
    /// The state directory, instead of the environment's.
    pub state_dir: Option<PathBuf>,
    /// The configuration file, instead of the usual one.
    pub config: Option<PathBuf>,
    /// A loopback address for clients with a token.
    pub listen: Option<String>,
}

/// What a look at the configuration found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigVerdict {
    /// The file that was read; `None` where there is none, so that defaults and environment hold.
    pub file: Option<PathBuf>,
    /// Every mistake, in reading order.
    pub mistakes: Vec<ConfigMistake>,
    /// Whether the search ended before the end.
    pub incomplete: bool,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigMistake {
    /// Its stable code.
    pub code: ErrorCode,
    /// What is wrong, with place and mend.
    pub message: String,
    /// The key it is about.
    pub key: Option<String>,
    /// Line and character in the file, from 1.
    pub place: Option<(usize, usize)>,
    /// Whether a variable of the environment holds it.
    pub in_environment: bool,
}

/// What to do with files of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyWork {
    /// Look for mistakes.
    Check,
    /// Run the fixtures beside them.
    Test,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PolicyReport {
    /// The folder that was read; `None` where there is none, so that only what ships holds.
    pub folder: Option<PathBuf>,
    /// The folder of the rules that the configuration puts in force, where that is another one.
    pub in_force: Option<PathBuf>,
    /// Files of rules in it.
    pub files: u64,
    /// Fixtures that came out as expected.
    pub passed: u64,
    /// What is wrong, each with its place and its mend.
    pub mistakes: Vec<String>,
    /// Likely oversights beside the mistakes.
    pub remarks: Vec<String>,
}
