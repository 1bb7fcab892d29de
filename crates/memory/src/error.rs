//! Why the index does not take an item or a query.

use palyra_types::MemoryId;

use crate::limits::{ITEM_TEXT_BYTES_MAX, ITEMS_MAX, QUERY_SCOPES_MAX, SCOPE_NAME_BYTES_MAX};

/// Why an item or a query is refused.
#[derive(Debug, thiserror::Error)]
pub enum MemoryIndexError {
    /// The index belongs to another principal.
    #[error("the memory index belongs to another principal; use the index of this principal")]
    OtherPrincipal,
    /// The text is too long.
    #[error(
        "the text of memory item {id} has {bytes} bytes, at most {ITEM_TEXT_BYTES_MAX} are possible; shorten it"
    )]
    TextTooLong {
        /// The item.
        id: MemoryId,
        /// Bytes of its text.
        bytes: usize,
    },
    /// The index is full.
    #[error("the memory index has {ITEMS_MAX} items, which is its limit; remove items that are not needed")]
    TooManyItems,
    /// The query names too many scopes.
    #[error("the query names {count} scopes, at most {QUERY_SCOPES_MAX} are possible; name fewer")]
    TooManyScopes {
        /// Named scopes.
        count: usize,
    },
    /// The name of a scope is empty or too long.
    #[error("the scope name has {bytes} bytes, 1 to {SCOPE_NAME_BYTES_MAX} are possible; use another name")]
    InvalidScopeName {
        /// Bytes of the name.
        bytes: usize,
    },
    /// An item holds in a folder that has no name in the index.
    #[error(
        "memory item {id} holds in a folder that the index does not know; build the memory index again from the journal"
    )]
    UnnamedFolder {
        /// The item.
        id: MemoryId,
    },
    /// The database in memory failed.
    #[error("the word index failed; build the memory index again from the journal")]
    WordIndex(#[from] rusqlite::Error),
}
