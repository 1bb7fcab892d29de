//! Why the verb failed, with a mend.

use std::path::{Path, PathBuf};

use palyra_client::ClientError;
use palyra_screen_text::shell_word;
use palyra_terminal::OutputError;
use palyra_types::ErrorCode;

/// Why the verb failed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceVerbError {
    /// A path cannot be written in a unit.
    #[error("{} cannot be written in a unit: {why}", path.display())]
    PathUnsuitable {
        /// The path.
        path: PathBuf,
        /// Why.
        why: &'static str,
    },
    /// A folder that the verb needs is not known.
    #[error("there is no home directory, so there is no folder for the {what}")]
    NoHome {
        /// Of what.
        what: &'static str,
    },
    /// There is no manager of user services.
    #[error("there is no systemd user session: {why}")]
    NoManager {
        /// What was found.
        why: String,
        /// The state directory.
        state_dir: PathBuf,
    },
    /// The unit was edited, or was written by other means.
    #[error("{} is not as `palyra admin service install` wrote it", unit.display())]
    UnitEdited {
        /// The file.
        unit: PathBuf,
        /// What to do.
        mend: String,
    },
    /// The unit is of another state directory.
    #[error("{} is the unit of another state directory, {}", unit.display(), state_dir.display())]
    OtherStateDir {
        /// The file.
        unit: PathBuf,
        /// The directory that it serves.
        state_dir: PathBuf,
    },
    /// A daemon that a person started serves the state directory.
    #[error("a daemon that a person started serves {}, process {pid}", state_dir.display())]
    DaemonRuns {
        /// The directory.
        state_dir: PathBuf,
        /// Its process.
        pid: u32,
    },
    /// A file could not be read, written or removed.
    #[error("{} could not be {act}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        act: &'static str,
        /// Why it failed.
        cause: std::io::Error,
    },
    /// systemd refused, or the service did not start.
    #[error("`{command}` failed: {why}")]
    Systemd {
        /// The command.
        command: String,
        /// What it printed.
        why: String,
    },
    /// The daemon that runs could not be asked.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Standard output takes nothing more.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl ServiceVerbError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::PathUnsuitable { .. } | Self::NoHome { .. } => ErrorCode::InvalidArgument,
            Self::NoManager { .. } => ErrorCode::ServiceManagerMissing,
            Self::UnitEdited { .. } | Self::OtherStateDir { .. } => ErrorCode::ServiceUnitKept,
            Self::DaemonRuns { .. } => ErrorCode::StateDirLocked,
            Self::File { .. } | Self::Systemd { .. } => ErrorCode::ServiceFailed,
            Self::Client(error) => error.code(),
            Self::Output(_) => ErrorCode::Internal,
        }
    }

    /// Returns what to do about exactly this.
    #[must_use]
    pub fn mend(&self) -> String {
        match self {
            Self::PathUnsuitable { .. } => "use another path for it".to_owned(),
            Self::NoHome { .. } => "set HOME".to_owned(),
            Self::NoManager { state_dir, .. } => format!(
                "let what starts programs here (the container's engine, an init script) run `palyra serve --state-dir {}` in the \
                 foreground and stop it with SIGTERM; where systemd is PID 1: `loginctl enable-linger`, log in again, and try \
                 again; `palyra admin service install --print` prints the unit",
                path_word(state_dir)
            ),
            Self::UnitEdited { mend, .. } => mend.clone(),
            Self::OtherStateDir { state_dir, .. } => format!(
                "`palyra admin service install --force` replaces it; `palyra --state-dir {} admin service status` shows the other one",
                path_word(state_dir)
            ),
            Self::DaemonRuns { .. } => "stop it: `palyra admin stop`; then try again".to_owned(),
            Self::File { .. } => "look at the permissions of its folder".to_owned(),
            Self::Systemd { .. } => {
                "`systemctl --user status palyrad` and `journalctl --user -u palyrad -n 50` show more"
                    .to_owned()
            }
            Self::Client(error) => error.code().mend().to_owned(),
            Self::Output(_) => ErrorCode::Internal.mend().to_owned(),
        }
    }
}

/// Returns a path as a word of a command.
pub(crate) fn path_word(path: &Path) -> String {
    shell_word(&path.display().to_string())
}
