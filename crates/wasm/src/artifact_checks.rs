//! Components on the disk compared with their digests, and put back, for the daemon's self-healing.
//!
//! Invariant: nothing is put in the place of a component whose digest is not the pinned one.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::PoisonError;

use palyra_ports::ComponentStoreError;

use crate::compile_cache::{KeptFault, blocking};
use crate::components::{ComponentTools, ComponentsInner};

impl ComponentTools {
    /// Returns the bytes of a component after its digest was compared; `None` where it is missing or differs. Blocks.
    ///
    /// # Errors
    /// What keeps it from being read.
    pub fn check_component(&self, digest: &[u8; 32]) -> std::io::Result<Option<u64>> {
        self.inner.cache.check(digest)
    }

    /// Returns the bytes of the native code of a component after its digest was compared, zero where there is none; `None`
    /// where it differs. Blocks.
    ///
    /// # Errors
    /// What keeps it from being read.
    pub fn check_native(&self, digest: &[u8; 32]) -> std::io::Result<Option<u64>> {
        self.inner.cache.check_native(digest)
    }

    /// Returns where the bytes of a component are.
    #[must_use]
    pub fn component_path(&self, digest: &[u8; 32]) -> PathBuf {
        self.inner.cache.path_of(digest)
    }

    /// Puts the bytes of a component back in their place. Blocks.
    ///
    /// # Errors
    /// They have another digest, or the disk failed.
    pub fn put_back(&self, digest: &[u8; 32], bytes: &[u8]) -> std::io::Result<()> {
        self.inner.cache.put_back(digest, bytes)
    }

    /// Removes native code that differs from its digest, and compiles the component again where that is possible now;
    /// otherwise it is compiled when it is called after the next start.
    ///
    /// # Errors
    /// [`ComponentStoreError::System`] when the damaged file could not be removed.
    pub async fn remake_native(&self, digest: [u8; 32]) -> Result<(), ComponentStoreError> {
        let cache = std::sync::Arc::clone(&self.inner.cache);
        let discarded = blocking(move || cache.discard_native(&digest)).await?;
        discarded.map_err(|error| ComponentStoreError::System {
            what: format!("the damaged native code could not be removed: {error}"),
        })?;
        let made = self.inner.cache.ready(&self.inner.engine()?, digest).await;
        if let Err(fault) = made {
            let why = match fault {
                KeptFault::Changed => "its bytes are not those that were pinned".to_owned(),
                KeptFault::Shelf(fault) => fault.to_string(),
            };
            tracing::warn!(why, "a component could not be compiled again; that is done when it is called");
        }
        Ok(())
    }

    /// Returns the components that could not be called since the last time, because their bytes are not the pinned ones.
    #[must_use]
    pub fn take_differing(&self) -> BTreeSet<[u8; 32]> {
        std::mem::take(&mut *self.inner.differing.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ComponentsInner {
    /// Takes note that a component could not be called.
    pub(crate) fn note_differing(&self, digest: [u8; 32]) {
        self.differing.lock().unwrap_or_else(PoisonError::into_inner).insert(digest);
    }
}
