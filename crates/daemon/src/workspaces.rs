//! Which folders may be workspaces on this machine.
//!
//! Invariant: no workspace holds the state directory, is the whole home, or is the root of the file system.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use palyra_ports::{WorkspaceChoice, WorkspaceError, Workspaces};
use palyra_types::Redacted;
use palyra_types::session::SessionRef;

/// Chooses the client's folder where that is safe, else one of the session's own below the state directory.
pub(crate) struct StateWorkspaces {
    state_dir: PathBuf,
    home: Option<PathBuf>,
}

impl StateWorkspaces {
    /// `state_dir` is a real path.
    pub(crate) fn new(state_dir: PathBuf, home: Option<PathBuf>) -> Self {
        Self { state_dir, home: home.and_then(|home| home.canonicalize().ok()) }
    }

    fn refuses(&self, root: &Path) -> Option<&'static str> {
        if root == Path::new("/") {
            return Some("it is the root of the file system");
        }
        if self.home.as_deref() == Some(root) {
            return Some("it is the whole home directory");
        }
        let related = self.state_dir.starts_with(root) || root.starts_with(&self.state_dir);
        related.then_some("the daemon's own state lies there")
    }

    fn own(&self, session: SessionRef) -> Result<PathBuf, WorkspaceError> {
        let root = self.state_dir.join("workspaces").join(session.id.to_string());
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&root);
        made.map(|()| root).map_err(|error| WorkspaceError { what: error.to_string() })
    }
}

impl Workspaces for StateWorkspaces {
    fn choose(
        &self,
        wanted: Option<&Redacted<PathBuf>>,
        session: SessionRef,
    ) -> Result<WorkspaceChoice, WorkspaceError> {
        let Some(wanted) = wanted else {
            return Ok(WorkspaceChoice { root: Redacted::new(self.own(session)?), note: None });
        };
        let refused = match wanted.expose().canonicalize() {
            Ok(root) if !root.is_dir() => "it is not a folder",
            Ok(root) => match self.refuses(&root) {
                None => return Ok(WorkspaceChoice { root: Redacted::new(root), note: None }),
                Some(reason) => reason,
            },
            Err(_) => "it does not exist, or the daemon may not enter it",
        };
        let root = self.own(session)?;
        let note =
            format!("this folder is not used as the workspace: {refused}; using {} instead", root.display());
        Ok(WorkspaceChoice { root: Redacted::new(root), note: Some(note) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palyra_types::{PrincipalId, SessionId};

    fn note(state: &Path, home: &Path, wanted: &Path) -> Option<String> {
        let workspaces = StateWorkspaces::new(state.to_owned(), Some(home.to_owned()));
        let session =
            SessionRef { principal: PrincipalId::from_parts(1, 1), id: SessionId::from_parts(1, 1) };
        workspaces.choose(Some(&Redacted::new(wanted.to_owned())), session).expect("a workspace").note
    }

    #[test]
    fn dangerous_folders_are_replaced_and_the_person_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let base = folder.path().canonicalize().expect("a real path");
        let (home, work) = (base.join("home"), base.join("home/work"));
        let state = home.join(".local/state/palyra");
        std::fs::create_dir_all(&state).expect("state");
        std::fs::create_dir_all(&work).expect("work");
        assert_eq!(note(&state, &home, &work), None);
        for bad in [Path::new("/"), &home, &base, &state, &state.join("workspaces"), &base.join("missing")] {
            assert!(note(&state, &home, bad).is_some(), "{} was accepted", bad.display());
        }
    }
}
