//! Holding components: looking at a file that may be anything, keeping its bytes, offering what was added.
//!
//! How a component is compiled and run is the adapter's to know.

use std::path::PathBuf;

use futures::future::BoxFuture;
use palyra_types::component::{ComponentRecord, ExaminedComponent};
use palyra_types::tool::ToolName;
use palyra_types::{Content, ErrorCode};

/// Looks at components and offers them as tools.
pub trait ComponentStore: Send + Sync {
    /// Reads a file, compiles it where it can do no harm, asks it what it is, and keeps its bytes under their digest.
    /// Nothing is offered by that.
    fn examine(
        &self,
        source: Content<PathBuf>,
    ) -> BoxFuture<'static, Result<ExaminedComponent, ComponentStoreError>>;

    /// Says whether exactly these could be offered: by the rules in force, among the tools there are.
    ///
    /// # Errors
    /// [`ComponentStoreError::Invalid`] says why.
    fn check(&self, components: &[ComponentRecord]) -> Result<(), ComponentStoreError>;

    /// Offers exactly these from now on, and forgets what all others kept; answers when the rules know them. They are
    /// offered also where the answer is an error of the disk.
    fn offer(&self, components: Vec<ComponentRecord>) -> BoxFuture<'static, Result<(), ComponentStoreError>>;

    /// Forgets what a tool kept between its calls.
    fn forget_values(&self, tool: ToolName) -> BoxFuture<'static, Result<(), ComponentStoreError>>;
}

/// Why a component is not looked at or not offered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComponentStoreError {
    /// It is no component, asks for what is not offered, or says what cannot be.
    #[error("{what}")]
    Invalid {
        /// What is wrong with it.
        what: String,
    },
    /// It was ended while it was asked what it is.
    #[error("{what}")]
    Trapped {
        /// What ended it.
        what: String,
    },
    /// It, or its compilation, took more than is given.
    #[error("{what}")]
    Limit {
        /// Which limit.
        what: String,
    },
    /// The host lacks what it takes to compile or run it.
    #[error("{what}")]
    Host {
        /// What is missing.
        what: String,
    },
    /// A file could not be read or written this time.
    #[error("{what}")]
    System {
        /// What the system says.
        what: String,
    },
}

impl ComponentStoreError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Invalid { .. } => ErrorCode::ComponentInvalid,
            Self::Trapped { .. } => ErrorCode::ComponentTrapped,
            Self::Limit { .. } => ErrorCode::ComponentLimit,
            Self::Host { .. } => ErrorCode::SandboxMissing,
            Self::System { .. } => ErrorCode::ComponentUnreadable,
        }
    }
}
