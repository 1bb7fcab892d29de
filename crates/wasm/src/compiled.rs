//! A component as native code.
//!
//! Owns the digest by which it is known and its checks: size, imports, exports.

use std::sync::Arc;

#[cfg(feature = "compiler")]
use sha2::{Digest, Sha256};
use wasmtime::component::Component;

use crate::bindings::ToolPre;
use crate::engine::Engine;
use crate::inside::InstanceState;
use crate::limits::COMPONENT_BYTES_MAX;

/// Why a component was not compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// It is larger than is taken.
    #[error("the component has {bytes} bytes, and {COMPONENT_BYTES_MAX} are taken at most")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// It is no component.
    #[error("it is not a WebAssembly component: {why}")]
    Malformed {
        /// What the compiler says, in one line.
        why: String,
    },
    /// It imports what is not offered, or does not export what a tool has.
    #[error("the component does not fit the world `palyra:tool`: {why}")]
    Unfit {
        /// What does not fit.
        why: String,
    },
}

/// A component that can be called. Cheap to clone.
#[derive(Clone)]
pub struct CompiledComponent {
    pub(crate) digest: [u8; 32],
    pub(crate) ready: Arc<ToolPre<InstanceState>>,
}

impl Engine {
    #[cfg(feature = "compiler")]
    /// Compiles a component; takes seconds of a processor for a large one. A hostile one can make that minutes and
    /// gigabytes, so this is for tests and for a process that is held to limits.
    ///
    /// # Errors
    /// [`CompileError`] for what is no component, is too large, or wants what is not offered.
    pub fn compile(&self, bytes: &[u8]) -> Result<CompiledComponent, CompileError> {
        if bytes.len() > COMPONENT_BYTES_MAX {
            return Err(CompileError::TooLarge { bytes: bytes.len() });
        }
        let malformed = |error: wasmtime::Error| CompileError::Malformed { why: one_line(&error) };
        let component = Component::new(&self.engine, bytes).map_err(malformed)?;
        CompiledComponent::of(self, &component, Sha256::digest(bytes).into())
    }

    /// Takes up what another process compiled.
    ///
    /// # Errors
    /// [`CompileError::Malformed`] for what another version or processor was meant for;
    /// [`CompileError::Unfit`] for what wants what is not offered.
    ///
    /// # Safety
    /// `native` comes from the compiler that the cache started, and nobody else could have changed it since.
    pub(crate) unsafe fn take_up(
        &self,
        native: &[u8],
        digest: [u8; 32],
    ) -> Result<CompiledComponent, CompileError> {
        let malformed = |error: wasmtime::Error| CompileError::Malformed { why: one_line(&error) };
        // SAFETY: the caller vouches for the bytes.
        let component = unsafe { Component::deserialize(&self.engine, native) }.map_err(malformed)?;
        CompiledComponent::of(self, &component, digest)
    }
}

impl CompiledComponent {
    fn of(engine: &Engine, component: &Component, digest: [u8; 32]) -> Result<Self, CompileError> {
        let unfit = |error: wasmtime::Error| CompileError::Unfit { why: one_line(&error) };
        let ready = engine.linker.instantiate_pre(component).and_then(ToolPre::new).map_err(unfit)?;
        Ok(Self { digest, ready: Arc::new(ready) })
    }

    /// Returns the SHA-256 of the component's bytes.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }
}

pub(crate) fn one_line(error: &wasmtime::Error) -> String {
    let text = format!("{error:#}");
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(400).collect()
}
