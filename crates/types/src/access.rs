//! Who may call: principals known by name and access tokens known by digest.

pub mod scope;

use crate::surface::{ApprovalAuthority, Surface};
use crate::{PrincipalId, Redacted, Timestamp, TokenId};

pub use scope::{AccessScope, Role, ScopeSet};

/// The name of the principal behind the daemon's own Unix socket.
pub const LOCAL_PRINCIPAL_NAME: &str = "user:local";

/// What a principal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PrincipalKind {
    /// A person.
    #[default]
    Person,
    /// An account of a channel that no person is linked to.
    ChannelAccount,
    /// A program that acts on its own behalf.
    Service,
    /// A worker on another machine.
    Worker,
}

/// A principal, its name, and what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrincipalRecord {
    /// Its id, which carries no content.
    pub id: PrincipalId,
    /// Its name, such as `user:local`; content, so erasable.
    pub name: Redacted<String>,
    /// What it is.
    pub kind: PrincipalKind,
    /// What it may do.
    pub role: Role,
    /// Since when none of its credentials work; `None` while they do.
    pub disabled: Option<Timestamp>,
    /// Its time zone, a name of the IANA database; empty for the zone of the daemon's machine.
    pub time_zone: Redacted<String>,
}

/// Who did something, what proved it, and where: every recorded act of a person has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ActorIdentity {
    /// Who.
    pub principal: PrincipalId,
    /// The token that proved it; `None` at the daemon's own socket.
    pub credential: Option<TokenId>,
    /// On which surface.
    pub surface: Surface,
}

/// For whom a credential was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CredentialKind {
    /// A token that a program keeps. It never decides approvals.
    #[default]
    Program,
    /// A person's own session, such as a console login.
    PersonSession,
}

/// A credential that holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credential {
    /// The principal that it proves.
    pub principal: PrincipalId,
    /// Which token it is.
    pub token: TokenId,
    /// For whom it was made.
    pub kind: CredentialKind,
    /// What it may be used for.
    pub scopes: ScopeSet,
}

impl Credential {
    /// Returns what it may be used for over a surface: a program decides no approval, and where programs call no one does.
    #[must_use]
    pub fn scopes_on(&self, surface: Surface) -> ScopeSet {
        let decides = self.kind == CredentialKind::PersonSession
            && surface.profile().approvals == ApprovalAuthority::ByScope;
        if decides { self.scopes } else { self.scopes.without(AccessScope::Approve) }
    }
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
    /// For whom it was made.
    pub kind: CredentialKind,
    /// What it may be used for.
    pub scopes: ScopeSet,
    /// What it is for, in the maker's words.
    pub label: Redacted<String>,
}
