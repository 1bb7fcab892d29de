//! Choosing the folder that a run's tools may see.

use std::path::{Path, PathBuf};

use palyra_types::session::SessionRef;
use palyra_types::{Content, ErrorCode};

/// Knows which folders may be workspaces on this machine.
pub trait Workspaces: Send + Sync {
    /// Returns the folder for a run: the one the client asks for where that is safe, else the session's own,
    /// which is made if needed.
    ///
    /// # Errors
    /// [`WorkspaceError`] when the session's own folder cannot be made.
    fn choose(
        &self,
        wanted: Option<&Content<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError>;

    /// Returns whether a run of this session that has `root` is one of the folder that a client names: that folder, or,
    /// where it may not be a workspace, a folder of the session's own.
    fn is_of_folder(&self, folder: &Path, root: &Path, _session: SessionRef) -> bool {
        folder == root
    }
}

/// The folder chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceChoice {
    /// Its real path.
    pub root: Content<PathBuf>,
    /// Why it is not the one asked for, to be shown to the person.
    pub note: Option<String>,
}

/// No folder could be provided.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no workspace folder could be made: {what}")]
pub struct WorkspaceError {
    /// What failed.
    pub what: String,
}

impl WorkspaceError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        ErrorCode::StateDirUnusable
    }
}
