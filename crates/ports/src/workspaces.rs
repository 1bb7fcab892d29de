//! Choosing the folder that a run's tools may see.

use std::path::{Path, PathBuf};

use palyra_types::session::SessionRef;
use palyra_types::{Content, ErrorCode, Redacted};

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

    /// Returns the folder that [`choose`](Self::choose) would return, and makes none: it may not be there.
    ///
    /// # Errors
    /// [`WorkspaceError`] when no folder can be named.
    fn look(
        &self,
        wanted: Option<&Content<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError>;

    /// Returns the real path of a folder that may be a workspace.
    ///
    /// # Errors
    /// Why this one may not be.
    fn real_folder(&self, folder: &Path) -> Result<PathBuf, FolderRefusal> {
        let real = folder.canonicalize();
        let real = real.map_err(|_| FolderRefusal("it does not exist, or the daemon may not enter it"))?;
        if real.is_dir() { Ok(real) } else { Err(FolderRefusal("it is not a folder")) }
    }

    /// Returns the real path of a folder that is one of some roots or below one; `None` for every other folder.
    fn below_roots(&self, folder: &Path, roots: &[Redacted<PathBuf>]) -> Option<Content<PathBuf>> {
        let real = self.real_folder(folder).ok()?;
        let is_below = |root: &Redacted<PathBuf>| {
            self.real_folder(root.expose()).is_ok_and(|root| real.starts_with(root))
        };
        roots.iter().any(is_below).then(|| Content::new(real))
    }

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

/// Why a folder may not be a workspace, as the end of a sentence: "it is not a folder".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FolderRefusal(pub &'static str);

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
