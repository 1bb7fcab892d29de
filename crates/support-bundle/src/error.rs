//! Why there is no bundle.

use std::path::PathBuf;

use palyra_redaction::RegisterError;
use palyra_terminal::OutputError;
use palyra_types::ErrorCode;

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file exists already.
    #[error("{} exists already, and a bundle replaces no file", path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be written; nothing of it is left.
    #[error("{} could not be written: {cause}", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The secrets of this environment cannot be looked for, so nothing is gathered.
    #[error("the secrets of this environment cannot all be looked for: {0}")]
    Secrets(#[from] RegisterError),
    /// Standard output takes nothing more.
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl BundleError {
    /// Returns the stable code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Output(_) => ErrorCode::Internal,
            Self::FileExists { .. } | Self::NotWritten { .. } | Self::Secrets(_) => {
                ErrorCode::SupportBundleRefused
            }
        }
    }

    /// Returns what to do about exactly this.
    #[must_use]
    pub fn mend(&self) -> &'static str {
        match self {
            Self::FileExists { .. } => "name another file, or remove that one",
            Self::NotWritten { .. } => "name a file in a folder that you may write to, on a disk with room",
            Self::Output(_) => ErrorCode::Internal.mend(),
            Self::Secrets(_) => {
                "try again in an environment with fewer variables: `env -i HOME=\"$HOME\" PATH=\"$PATH\" palyra doctor --bundle`"
            }
        }
    }
}
