//! Which folders may be workspaces on this machine.
//!
//! Invariant: no workspace holds the state directory, is the whole home, or is the root of the file system. A folder below
//! the state directory belongs to one principal and one session: clients choose the ids of their sessions, so an id
//! alone names nobody's folder.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use palyra_ports::{FolderRefusal, WorkspaceChoice, WorkspaceError, Workspaces};
use palyra_types::session::SessionRef;
use palyra_types::{Content, PrincipalId};

/// The folder of the state directory.
const FOLDER: &str = "workspaces";

/// Chooses the client's folder where that is safe, else one of the session's own below the state directory.
pub(crate) struct StateWorkspaces {
    state_dir: PathBuf,
    home: Option<PathBuf>,
    /// The owner of the daemon; `None` before the first start has registered one.
    owner: Option<PrincipalId>,
}

/// Whether a folder is the own one of a session, which is made when it is needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IsOwn {
    Yes,
    No,
}

impl StateWorkspaces {
    /// `state_dir` is a real path.
    pub(crate) fn new(state_dir: PathBuf, home: Option<PathBuf>) -> Self {
        Self { state_dir, home: home.and_then(|home| home.canonicalize().ok()), owner: None }
    }

    /// Names the owner, whose sessions go on in the folders that were made before folders had principals.
    pub(crate) fn owned_by(self, owner: Option<PrincipalId>) -> Self {
        Self { owner, ..self }
    }

    fn refuses(&self, root: &Path) -> Option<&'static str> {
        if root == Path::new("/") {
            return Some("it is the root of the file system");
        }
        if self.home.as_deref() == Some(root) {
            return Some("it is the whole home directory");
        }
        let related = self.state_dir.starts_with(root) || root.starts_with(&self.state_dir);
        related.then_some("the daemon's own state is there")
    }

    /// Returns the folder of a session's own, which may not be there.
    fn own(&self, session: SessionRef) -> PathBuf {
        let folder = self.state_dir.join(FOLDER);
        let before = folder.join(session.id.to_string());
        if self.owner == Some(session.principal) && is_folder(&before) {
            return before;
        }
        folder.join(session.principal.to_string()).join(session.id.to_string())
    }

    /// Returns the folder that is used, and whether it is the session's own.
    fn find(&self, wanted: Option<&Content<PathBuf>>, session: SessionRef) -> (WorkspaceChoice, IsOwn) {
        let Some(wanted) = wanted else {
            let root = Content::new(self.own(session));
            return (WorkspaceChoice { root, note: None }, IsOwn::Yes);
        };
        let refused = match self.real_folder(wanted.expose()) {
            Ok(root) => return (WorkspaceChoice { root: Content::new(root), note: None }, IsOwn::No),
            Err(refused) => refused,
        };
        let root = self.own(session);
        let note =
            format!("this folder is not used as the workspace: {refused}; using {} instead", root.display());
        (WorkspaceChoice { root: Content::new(root), note: Some(note) }, IsOwn::Yes)
    }
}

impl Workspaces for StateWorkspaces {
    fn choose(
        &self,
        wanted: Option<&Content<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        let (choice, is_own) = self.find(wanted, session);
        if is_own == IsOwn::Yes {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(choice.root.expose());
            made.map_err(|error| WorkspaceError { what: error.to_string() })?;
        }
        Ok(choice)
    }

    fn look(
        &self,
        wanted: Option<&Content<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        Ok(self.find(wanted, session).0)
    }

    fn real_folder(&self, folder: &Path) -> Result<PathBuf, FolderRefusal> {
        let Ok(root) = folder.canonicalize() else {
            return Err(FolderRefusal("it does not exist, or the daemon may not enter it"));
        };
        if !root.is_dir() {
            return Err(FolderRefusal("it is not a folder"));
        }
        self.refuses(&root).map_or(Ok(root), |reason| Err(FolderRefusal(reason)))
    }

    fn is_of_folder(&self, folder: &Path, root: &Path, _session: SessionRef) -> bool {
        match self.real_folder(folder) {
            Ok(real) => real == root,
            Err(_) => root.starts_with(self.state_dir.join(FOLDER)),
        }
    }
}

/// Returns whether a folder is there, and no link to one.
fn is_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

#[cfg(test)]
mod tests;
