//! Files in which a project says how to work on it (`AGENTS.md`), and which of them a person accepted.
//!
//! Invariant: what such a file says is data until a person accepted its digest for the root of the workspace.

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Redacted, Seq, Timestamp};

/// The name of such a file.
pub const PROJECT_FILE_NAME: &str = "AGENTS.md";
/// Bytes of one that a model is shown, at most; a longer one is cut at a line.
pub const PROJECT_FILE_BYTES_MAX: usize = 32 * 1024;
/// Files that a run is given, at most: those nearest to the folder in question.
pub const PROJECT_FILES_MAX: usize = 8;
/// Files that a principal accepts at once, at most.
pub const ACCEPTED_PROJECT_FILES_MAX: usize = 500;

/// A file as a run was given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Its path below the root, with `/`.
    pub path: Redacted<String>,
    /// SHA-256 of what was read of it; zeros when erased.
    pub sha256: Redacted<[u8; 32]>,
    /// The text as read.
    pub text: Redacted<Arc<str>>,
    /// Whether the person of the run had accepted it when the run was admitted.
    pub standing: ProjectFileStanding,
}

/// Whether what a file says are rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ProjectFileStanding {
    /// It is data: no person accepted this digest for the root.
    #[default]
    Data,
    /// It has rules: the person of the run accepted this digest for the root.
    Accepted,
}

/// A file that a person accepted. Whose it is, is in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedProjectFile {
    /// The real path of the workspace; empty when erased.
    pub root: Redacted<PathBuf>,
    /// Its path below the root, with `/`; empty when erased.
    pub path: Redacted<String>,
    /// SHA-256 of what was read of it; zeros when erased.
    pub sha256: Redacted<[u8; 32]>,
}

/// An acceptance that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedProjectFileRecord {
    /// The entry that made it.
    pub seq: Seq,
    /// When it was made.
    pub accepted: Timestamp,
    /// The file.
    pub file: AcceptedProjectFile,
}

/// Returns a digest as people read and type it: 64 hexadecimal digits.
#[must_use]
pub fn digest_text(sha256: &[u8; 32]) -> String {
    sha256.iter().map(|byte| format!("{byte:02x}")).collect()
}
