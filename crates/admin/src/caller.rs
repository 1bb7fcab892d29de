//! Who calls: made by a transport from what the connection proves, never from a message.

use palyra_types::access::{Actor, Credential, Scope, Scopes};
use palyra_types::surface::Surface;
use palyra_types::{PrincipalId, TokenId};

/// Whether a person confirmed this very call with a one-time code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confirmation {
    /// No.
    #[default]
    None,
    /// Yes, and the code is used up.
    Fresh,
}

/// The authenticated origin of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// On whose behalf.
    pub principal: PrincipalId,
    /// Over which transport.
    pub surface: Surface,
    /// The token that proved it; `None` at the daemon's own socket.
    pub credential: Option<TokenId>,
    /// What the call may be used for.
    pub scopes: Scopes,
    /// Whether a person confirmed it.
    pub confirmation: Confirmation,
}

impl Caller {
    /// Returns a caller at the daemon's own socket: every scope, and no credential but the user id of the process.
    #[must_use]
    pub fn at_socket(principal: PrincipalId) -> Self {
        Self {
            principal,
            surface: Surface::LocalSocket,
            credential: None,
            scopes: Scopes::ALL,
            confirmation: Confirmation::None,
        }
    }

    /// Returns a caller with a credential that holds, over any other surface.
    #[must_use]
    pub fn with_credential(credential: &Credential, surface: Surface) -> Self {
        Self {
            principal: credential.principal,
            surface,
            credential: Some(credential.token),
            scopes: credential.scopes_on(surface),
            confirmation: Confirmation::None,
        }
    }

    /// Returns whether the call may be used to look after the daemon.
    #[must_use]
    pub fn is_owner(self) -> bool {
        self.scopes.contains(Scope::Admin)
    }

    /// Returns whether an owner is behind this very call: at the daemon's own socket, or with a fresh confirmation. No
    /// run, no tool and no token alone is.
    #[must_use]
    pub fn is_in_person(self) -> bool {
        self.is_owner() && (self.surface == Surface::LocalSocket || self.confirmation == Confirmation::Fresh)
    }

    /// Returns what is recorded of who acts.
    #[must_use]
    pub fn actor(self) -> Actor {
        Actor { principal: self.principal, credential: self.credential, surface: self.surface }
    }

    /// Checks that an owner is behind this very call.
    ///
    /// # Errors
    /// The refusal that is given, for every other caller.
    pub fn check_person<E>(self, refusal: E) -> Result<(), E> {
        if self.is_in_person() { Ok(()) } else { Err(refusal) }
    }
}
