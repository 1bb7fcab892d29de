//! What commands left in protected places, which was kept aside.
//!
//! The store keeps files and never touches a workspace: what is put in place goes through
//! [`RestoreFiles`](crate::RestoreFiles).

use std::path::PathBuf;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_types::effect::KeptFileId;
use palyra_types::{Content, EffectId, PrincipalId, RunId, SessionId, Timestamp};

/// Lists, reads and deletes kept files.
pub trait KeptFiles: Send + Sync {
    /// Lists what was kept, oldest first; of one run, or of all.
    fn list(&self, run: Option<RunId>) -> BoxFuture<'static, Result<Vec<KeptFile>, KeptFileError>>;

    /// Reads a kept file with all that is in it, without following a link.
    fn read(&self, file: KeptFileId) -> BoxFuture<'static, Result<KeptContent, KeptFileError>>;

    /// Keeps a copy of what is displaced when `file` is put in place; returns once it is on the disk.
    fn keep_displaced(
        &self,
        file: KeptFileId,
        displaced: Vec<KeptEntry>,
    ) -> BoxFuture<'static, Result<(), KeptFileError>>;

    /// Deletes kept files; those that are gone are no error.
    fn remove(&self, files: Vec<KeptFileId>) -> BoxFuture<'static, Result<(), KeptFileError>>;
}

/// Whose call left something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptOwner {
    /// The principal of the run.
    pub principal: PrincipalId,
    /// Its session.
    pub session: SessionId,
    /// The run.
    pub run: RunId,
    /// The call.
    pub effect: EffectId,
}

/// Something that was kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Its name.
    pub id: KeptFileId,
    /// Who left it.
    pub owner: KeptOwner,
    /// The real path of the workspace it was taken from.
    pub workspace: PathBuf,
    /// Its place below that.
    pub place: PathBuf,
    /// What it was there.
    pub change: KeptChange,
    /// What it is.
    pub kind: KeptKind,
    /// Bytes of its content.
    pub bytes: u64,
    /// Digest of its content and permission bits; `None` when it is too large to be read.
    pub sha256: Option<[u8; 32]>,
    /// When it was taken.
    pub kept: Timestamp,
}

/// What a kept file was at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptChange {
    /// Nothing was there before.
    New,
    /// It took the place of another, which was put back.
    Replaced,
    /// Another kept file took its place.
    Displaced,
}

/// What a kept file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A folder with all that is in it.
    Folder,
    /// A pipe, a socket or a device.
    Other,
}

/// A kept file with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptContent {
    /// The file.
    pub file: KeptFile,
    /// Its regular files, by their places below the workspace root; of a file that is itself.
    pub entries: Vec<KeptEntry>,
    /// Why it cannot be put in place as a whole.
    pub refusal: Option<String>,
}

/// One regular file of what was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEntry {
    /// Its place below the workspace root.
    pub place: PathBuf,
    /// Its permission bits.
    pub mode: u32,
    /// Its bytes.
    pub bytes: Content<Vec<u8>>,
}

/// Why kept files cannot be read or deleted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum KeptFileError {
    /// There is none of this name.
    #[error("there is no such kept file any more")]
    NotFound,
    /// The folder of kept files cannot be used.
    #[error("the kept files in the state directory cannot be used: {0}")]
    Unusable(String),
}

/// A store without any files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoKeptFiles;

impl KeptFiles for NoKeptFiles {
    fn list(&self, _run: Option<RunId>) -> BoxFuture<'static, Result<Vec<KeptFile>, KeptFileError>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn read(&self, _file: KeptFileId) -> BoxFuture<'static, Result<KeptContent, KeptFileError>> {
        async { Err(KeptFileError::NotFound) }.boxed()
    }

    fn keep_displaced(
        &self,
        _file: KeptFileId,
        _displaced: Vec<KeptEntry>,
    ) -> BoxFuture<'static, Result<(), KeptFileError>> {
        async { Err(KeptFileError::NotFound) }.boxed()
    }

    fn remove(&self, _files: Vec<KeptFileId>) -> BoxFuture<'static, Result<(), KeptFileError>> {
        async { Ok(()) }.boxed()
    }
}
