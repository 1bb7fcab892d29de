//! The border between an erasure and those who remember content.

use futures::future::BoxFuture;

/// Remembers content, and is asked to forget what was erased.
pub trait ErasureSubscriber: Send + Sync {
    /// Drops what it remembers of content, or reads it again; logs what it cannot do.
    fn forget_erased(&self) -> BoxFuture<'_, ()>;
}
