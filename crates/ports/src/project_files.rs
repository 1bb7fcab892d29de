//! Reading the files in which a project says how to work on it.

use std::path::Path;

use palyra_types::Content;

/// Reads such files below the root of a workspace, and never above it.
pub trait ProjectFiles: Send + Sync {
    /// Reads those of the root and of the folders between it and `folder`, from the root down; where `folder` is not
    /// below the root, that of the root alone. The root and `folder` are real paths.
    ///
    /// A file that is not there is left out. One that may not be read, such as a link, is named with the reason.
    fn read(&self, root: &Path, folder: Option<&Path>) -> FoundProjectFiles;
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FoundProjectFiles {
    /// The files, from the root down.
    pub files: Vec<FoundProjectFile>,
    /// Those that were not read, each in a sentence without a full stop.
    pub refused: Vec<String>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProjectFile {
    /// Its path below the root, with `/`.
    pub path: Content<String>,
    /// What it says, cut at a line where it is too long.
    pub text: Content<String>,
    /// SHA-256 of the text.
    pub sha256: [u8; 32],
    /// Whether the text is the whole file.
    pub extent: ProjectFileExtent,
}

/// How much of a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectFileExtent {
    /// All of it.
    Whole,
    /// Its beginning, up to a line.
    Beginning,
}

/// Finds none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProjectFiles;

impl ProjectFiles for NoProjectFiles {
    fn read(&self, _root: &Path, _folder: Option<&Path>) -> FoundProjectFiles {
        FoundProjectFiles::default()
    }
}
