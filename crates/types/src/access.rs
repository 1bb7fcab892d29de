//! Who may call: principals known by name and access tokens known by digest.

use crate::{PrincipalId, Redacted, Timestamp, TokenId};

/// The name of the principal behind the daemon's own Unix socket.
pub const LOCAL_PRINCIPAL_NAME: &str = "user:local";

/// A principal and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalRecord {
    /// Its id, which carries no content.
    pub id: PrincipalId,
    /// Its name, such as `user:local`; content, so erasable.
    pub name: Redacted<String>,
}

/// An access token for the loopback TCP listener, as stored: never the token itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    /// Its id.
    pub id: TokenId,
    /// Whom it stands for.
    pub principal: PrincipalId,
    /// SHA-256 of the token's text.
    pub sha256: [u8; 32],
    /// When it was made.
    pub created: Timestamp,
    /// When it ends; `None` never.
    pub expires: Option<Timestamp>,
    /// When it was revoked.
    pub revoked: Option<Timestamp>,
    /// What it is for, in the maker's words.
    pub label: Redacted<String>,
}
