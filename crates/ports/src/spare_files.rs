//! Files beside the journal that need not be kept on a full disk.
//!
//! Never among them: the journal, its keys and its heads, what was kept aside, and backups that a person made.

use futures::FutureExt;
use futures::future::BoxFuture;

/// Measures and removes files that need not be kept.
pub trait SpareFiles: Send + Sync {
    /// Looks at the file system of the state directory and, where it is nearly full, at what could be freed there.
    fn measure(&self) -> BoxFuture<'static, Result<SpareSpace, SpareFilesError>>;

    /// Removes files of these kinds, in this order, until the file system is not nearly full any more; returns the bytes.
    fn free(&self, kinds: &'static [SpareKind]) -> BoxFuture<'static, Result<u64, SpareFilesError>>;
}

/// A kind of files that need not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpareKind {
    /// Scratch space of programs that ended.
    Scratch,
    /// Native code of components, which is made again when they are called.
    CompiledComponents,
    /// Automatic backups but for the newest one.
    OlderBackups,
}

impl SpareKind {
    /// Every kind, in the order in which they are freed.
    pub const ALL: &'static [Self] = &[Self::Scratch, Self::CompiledComponents, Self::OlderBackups];
}

/// How full the file system is, and what could be freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpareSpace {
    /// Whether it is nearly full; where it is not, nothing else was measured.
    pub is_disk_low: bool,
    /// Bytes of [`SpareKind::Scratch`].
    pub scratch: u64,
    /// Bytes of [`SpareKind::CompiledComponents`].
    pub compiled_components: u64,
    /// Bytes of [`SpareKind::OlderBackups`].
    pub older_backups: u64,
}

impl SpareSpace {
    /// Returns all bytes that could be freed.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.scratch.saturating_add(self.artifacts())
    }

    /// Returns the bytes of all but scratch space.
    #[must_use]
    pub fn artifacts(&self) -> u64 {
        self.compiled_components.saturating_add(self.older_backups)
    }
}

/// Why spare files could not be measured or removed.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct SpareFilesError {
    /// The reason in words.
    pub what: String,
}

/// A host without spare files, whose disk is never full.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSpareFiles;

impl SpareFiles for NoSpareFiles {
    fn measure(&self) -> BoxFuture<'static, Result<SpareSpace, SpareFilesError>> {
        async { Ok(SpareSpace::default()) }.boxed()
    }

    fn free(&self, _kinds: &'static [SpareKind]) -> BoxFuture<'static, Result<u64, SpareFilesError>> {
        async { Ok(0) }.boxed()
    }
}
