//! One workspace, open for the length of one call.
//!
//! Invariant: the root is opened once; every place in it is reached from that descriptor.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use palyra_ports::{GrantedState, GrantedWrites, WorkspaceRoot};

use super::file_slot::FileSlot;
use super::folders::MadeFolders;
use super::open::{OpenFile, open_file, open_folder};
use super::path::WorkspacePath;
use super::refusal::OpenRefusal;
use super::suggest::names_near;
use crate::failure::ToolFailure;

/// A workspace root, open.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: WorkspaceRoot,
    writes: GrantedWrites,
}

/// What was found at a path.
#[derive(Debug)]
pub(crate) enum PathTarget {
    /// A regular file.
    File(OpenFile),
    /// A folder.
    Folder,
}

impl Workspace {
    /// Opens the folder that a grant names.
    pub(crate) fn open(root_path: &Path) -> Result<Self, ToolFailure> {
        let root =
            WorkspaceRoot::open(root_path).map_err(|refusal| ToolFailure::System(refusal.to_string()))?;
        Ok(Self { root, writes: GrantedWrites::default() })
    }

    /// Returns it with the list in which its writes are recorded.
    pub(crate) fn recording(self, writes: &GrantedWrites) -> Self {
        Self { writes: writes.clone(), ..self }
    }

    /// Records that a file is about to become this, or to be removed.
    pub(crate) fn record_write(&self, path: &WorkspacePath, state: Option<GrantedState>) {
        self.writes.record(self.root.path().join(path.as_path()), state);
    }

    /// Reads a path as a model wrote it; none means the root.
    pub(crate) fn path(&self, text: Option<&str>) -> Result<WorkspacePath, ToolFailure> {
        WorkspacePath::parse(text.unwrap_or("."), self.root.path())
    }

    /// Opens a regular file.
    pub(crate) fn file(&self, path: &WorkspacePath) -> Result<OpenFile, ToolFailure> {
        open_file(&self.root, path.to_open()).map_err(|refusal| self.explain(refusal, path))
    }

    /// Opens a folder.
    pub(crate) fn folder(&self, path: &WorkspacePath) -> Result<OwnedFd, ToolFailure> {
        open_folder(&self.root, path.to_open()).map_err(|refusal| self.explain(refusal, path))
    }

    /// Opens whatever is there, if it is a folder or a regular file.
    pub(crate) fn place(&self, path: &WorkspacePath) -> Result<PathTarget, ToolFailure> {
        match open_folder(&self.root, path.to_open()) {
            Ok(_) => Ok(PathTarget::Folder),
            Err(OpenRefusal::NotAFolder) => self.file(path).map(PathTarget::File),
            Err(refusal) => Err(self.explain(refusal, path)),
        }
    }

    /// Returns the slot of a file; `None` when the folder that would hold it does not exist.
    pub(crate) fn slot(&self, path: &WorkspacePath) -> Result<Option<FileSlot>, ToolFailure> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else {
            return Err(ToolFailure::Unsuitable(
                "the workspace root itself is a folder, not a file".to_owned(),
            ));
        };
        match open_folder(&self.root, parent.to_open()) {
            Ok(folder) => Ok(Some(FileSlot::new(Arc::new(folder), name))),
            Err(OpenRefusal::NotFound) => Ok(None),
            Err(refusal) => Err(refusal.explain(&path.show())),
        }
    }

    /// Returns the slot of a file, making the folders that it lacks.
    pub(crate) fn slot_with_folders(
        &self,
        path: &WorkspacePath,
        made: &mut MadeFolders,
    ) -> Result<FileSlot, ToolFailure> {
        made.slot(self.root.descriptor(), path)
    }

    /// Returns the failure of a tool that wanted a file where there is none, with what it may have meant.
    pub(crate) fn not_found(&self, path: &WorkspacePath) -> ToolFailure {
        self.explain(OpenRefusal::NotFound, path)
    }

    fn explain(&self, refusal: OpenRefusal, path: &WorkspacePath) -> ToolFailure {
        match refusal {
            OpenRefusal::NotFound => {
                let near = names_near(path, |folder| open_folder(&self.root, folder.to_open()).ok());
                ToolFailure::NotFound(format!("`{}` does not exist{near}", path.show()))
            }
            OpenRefusal::NotAFolder if open_file(&self.root, path.to_open()).is_ok() => {
                ToolFailure::Unsuitable(format!(
                    "`{}` is a file, not a folder; read_file shows what is in it",
                    path.show()
                ))
            }
            _ => refusal.explain(&path.show()),
        }
    }
}
