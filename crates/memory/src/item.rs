//! An item of a principal's memory, and where it applies.

use palyra_types::{MemoryId, PrincipalId, SessionId, Timestamp};

use crate::error::MemoryIndexError;
use crate::limits::SCOPE_NAME_BYTES_MAX;

/// The name of a channel or a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeName(String);

impl ScopeName {
    /// Takes a name.
    ///
    /// # Errors
    /// [`MemoryIndexError::InvalidScopeName`] for an empty name and for one of more than [`SCOPE_NAME_BYTES_MAX`] bytes.
    pub fn new(name: impl Into<String>) -> Result<Self, MemoryIndexError> {
        let name = name.into();
        if name.is_empty() || name.len() > SCOPE_NAME_BYTES_MAX {
            return Err(MemoryIndexError::InvalidScopeName { bytes: name.len() });
        }
        Ok(Self(name))
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where an item applies.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryScope {
    /// In everything that the principal does.
    Principal,
    /// In one session.
    Session(SessionId),
    /// In the conversations of one channel.
    Channel(ScopeName),
    /// In one workspace.
    Workspace(ScopeName),
}

/// An item of memory, as the journal keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryItem {
    /// Its name.
    pub id: MemoryId,
    /// Whose memory it belongs to.
    pub principal: PrincipalId,
    /// Where it applies.
    pub scope: MemoryScope,
    /// What is to be remembered.
    pub text: String,
    /// When it was written.
    pub created: Timestamp,
    /// From when on it is not found any more.
    pub expires: Option<Timestamp>,
    /// The item that says the same more recently or corrects it.
    pub superseded_by: Option<MemoryId>,
}
