//! Copies of skills' folders: taken from where a person points, kept beside the journal.
//!
//! Owns the limits of a folder. Knows no digest and no SKILL.md: what a folder is worth is decided above.

use std::path::PathBuf;

use futures::future::BoxFuture;
use palyra_types::Content;

/// Files of a skill, at most.
pub const SKILL_FILES_MAX: usize = 256;
/// Bytes of one of its files, at most.
pub const SKILL_FILE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of its files together, at most.
pub const SKILL_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Folders above one of its files, at most.
pub const SKILL_DEPTH_MAX: usize = 8;

/// Reads folders of skills, and keeps copies of them by name.
pub trait SkillFolders: Send + Sync {
    /// Reads a folder whole, following no link and leaving out a `.git` at its top.
    fn read(&self, source: Content<PathBuf>) -> BoxFuture<'static, Result<Vec<SkillFile>, SkillFolderError>>;

    /// Keeps a copy under a name, durably, in place of whatever had that name.
    fn keep(&self, name: String, files: Vec<SkillFile>) -> BoxFuture<'static, Result<(), SkillFolderError>>;

    /// Reads a copy that is kept, in the same way.
    fn kept(&self, name: String) -> BoxFuture<'static, Result<Vec<SkillFile>, SkillFolderError>>;

    /// Returns the names of all copies.
    fn names(&self) -> BoxFuture<'static, Result<Vec<String>, SkillFolderError>>;

    /// Removes a copy; one that is not there is no error.
    fn discard(&self, name: String) -> BoxFuture<'static, Result<(), SkillFolderError>>;
}

/// One file of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFile {
    /// Its path below the folder, with `/`; it is as the file system spells it.
    pub path: String,
    /// Whether it may be started.
    pub mode: SkillFileMode,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// Whether a file may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillFileMode {
    /// It may not.
    Plain,
    /// Its owner may.
    Executable,
}

/// Why a folder is not read, or a copy not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkillFolderError {
    /// It is not there.
    #[error("the folder does not exist")]
    Missing,
    /// What is there is not allowed in a skill.
    #[error("{what}")]
    Refused {
        /// What, and what to do about it.
        what: String,
    },
    /// The system failed.
    #[error("{what}")]
    System {
        /// What it says.
        what: String,
    },
}
