//! Why a component is not looked at, added or removed.

use palyra_ports::ComponentStoreError;
use palyra_types::ErrorCode;

/// Components added at once, at most.
pub const COMPONENTS_MAX: usize = 64;

/// Why a component is not looked at, added or removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ComponentError {
    /// Only the person who owns this daemon decides about components, and only at its own socket.
    #[error("only the owner of the daemon decides about components, over its own Unix socket")]
    NotAPerson,
    /// No component of this name or id was added.
    #[error("no such component was added; tools that ship cannot be removed")]
    NotFound,
    /// A tool that is no component has its name.
    #[error("`{name}` is the name of a tool that ships; the component has to take another one")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// Its name is a word of Palyra's own.
    #[error(
        "`{name}` looks like a word of Palyra itself, such as a verb or an answer; the component has to take another name"
    )]
    Reserved {
        /// The name.
        name: String,
    },
    /// Its name could be taken for another tool's.
    #[error("`{name}` could be taken for the tool `{twin}`; the component has to take another name")]
    Twin {
        /// Its name.
        name: String,
        /// The other's.
        twin: String,
    },
    /// Its file has other bytes than were looked at.
    #[error("the file was changed since it was shown; look at it again")]
    Changed,
    /// Too many were added.
    #[error("{COMPONENTS_MAX} components are added already; remove one")]
    TooMany,
    /// The daemon ended meanwhile.
    #[error("the change was interrupted; `palyra tools list` tells whether it was made")]
    Interrupted,
    /// It cannot be looked at, or not be offered.
    #[error(transparent)]
    Shelf(#[from] ComponentStoreError),
}

impl ComponentError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotAPerson => ErrorCode::PermissionDenied,
            Self::NotFound => ErrorCode::ComponentNotFound,
            Self::NameTaken { .. } | Self::Reserved { .. } | Self::Twin { .. } => ErrorCode::ComponentInvalid,
            Self::Changed => ErrorCode::ComponentChanged,
            Self::TooMany => ErrorCode::ComponentLimit,
            Self::Interrupted => ErrorCode::ShuttingDown,
            Self::Shelf(error) => error.code(),
        }
    }
}
