//! Files beside the journal that it pins by a digest: components, their native code, copies of skills.
//!
//! Outputs, attachments and summaries are not among them: they are entries of the journal, of which no other copy is written
//! while the daemon works.

use futures::FutureExt;
use futures::future::BoxFuture;

/// Compares artifacts with the digests that pin them, and mends them where that is possible without a loss.
pub trait CheckArtifacts: Send + Sync {
    /// Reads an artifact whole, and compares it.
    fn check(&self, artifact: ArtifactRef) -> BoxFuture<'static, Result<ArtifactCheck, ArtifactError>>;

    /// Makes a damaged artifact again, or puts back a copy of it with the pinned digest, and compares it. The damaged bytes of
    /// one that cannot be made again are moved aside before.
    fn repair(&self, artifact: ArtifactRef) -> BoxFuture<'static, Result<(), ArtifactError>>;

    /// Returns the artifacts whose use failed since the last time, because they differ.
    fn take_failed_reads(&self) -> Vec<ArtifactRef>;
}

/// Names an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactRef {
    /// What it is.
    pub kind: ArtifactKind,
    /// The digest that pins it; of native code that of its component.
    pub sha256: [u8; 32],
}

/// What an artifact is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArtifactKind {
    /// The bytes of a component.
    Component,
    /// What the compiler made of a component.
    NativeCode,
    /// The folder of a skill.
    SkillCopy,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactCheck {
    /// It has its digest, or it is one that is made when it is needed and was not made yet.
    Whole {
        /// Bytes that were read.
        bytes: u64,
    },
    /// It is missing or differs, and it can be made again or put back.
    Repairable,
    /// It is missing or differs, and there is no copy of it with its digest.
    Lost,
}

/// Why an artifact could not be compared or mended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ArtifactError {
    /// The reason in words.
    pub what: String,
}

/// A host without such files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoArtifacts;

impl CheckArtifacts for NoArtifacts {
    fn check(&self, _artifact: ArtifactRef) -> BoxFuture<'static, Result<ArtifactCheck, ArtifactError>> {
        async { Ok(ArtifactCheck::Whole { bytes: 0 }) }.boxed()
    }

    fn repair(&self, _artifact: ArtifactRef) -> BoxFuture<'static, Result<(), ArtifactError>> {
        async { Err(ArtifactError { what: "this host has no artifacts".to_owned() }) }.boxed()
    }

    fn take_failed_reads(&self) -> Vec<ArtifactRef> {
        Vec::new()
    }
}
