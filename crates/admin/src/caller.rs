//! Who calls: made by a transport from what the connection proves, never from a message.

use palyra_types::PrincipalId;
use palyra_types::access::{AccessScope, ActorIdentity, Credential, ScopeSet};
use palyra_types::surface::Surface;

/// Whether a person confirmed this very call with a one-time code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CallConfirmation {
    /// No.
    #[default]
    None,
    /// Yes, and the code is used up.
    Fresh,
}

/// The authenticated origin of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// On whose behalf, what proved it, and over which transport; recorded with what the call changes.
    pub actor: ActorIdentity,
    /// What the call may be used for.
    pub scopes: ScopeSet,
    /// Whether a person confirmed it.
    pub confirmation: CallConfirmation,
}

impl Caller {
    /// Returns a caller at the daemon's own socket: every scope, and no credential but the user id of the process.
    #[must_use]
    pub fn at_socket(principal: PrincipalId) -> Self {
        Self {
            actor: ActorIdentity { principal, credential: None, surface: Surface::LocalSocket },
            scopes: ScopeSet::ALL,
            confirmation: CallConfirmation::None,
        }
    }

    /// Returns a caller with a credential that holds, over any other surface.
    #[must_use]
    pub fn with_credential(credential: &Credential, surface: Surface) -> Self {
        Self {
            actor: ActorIdentity {
                principal: credential.principal,
                credential: Some(credential.token),
                surface,
            },
            scopes: credential.scopes_on(surface),
            confirmation: CallConfirmation::None,
        }
    }

    /// Returns whether the call may be used to look after the daemon.
    #[must_use]
    pub fn is_owner(self) -> bool {
        self.scopes.contains(AccessScope::Admin)
    }

    /// Returns whether an owner is behind this very call: at the daemon's own socket, or with a fresh confirmation. No
    /// run, no tool and no token alone is.
    #[must_use]
    pub fn is_in_person(self) -> bool {
        self.is_owner()
            && (self.actor.surface == Surface::LocalSocket || self.confirmation == CallConfirmation::Fresh)
    }

    /// Checks that the call may be used to look after the daemon.
    ///
    /// # Errors
    /// The refusal that is given, for every other caller.
    pub fn check_owner<E>(self, refusal: E) -> Result<(), E> {
        if self.is_owner() { Ok(()) } else { Err(refusal) }
    }

    /// Checks that an owner is behind this very call.
    ///
    /// # Errors
    /// The refusal that is given, for every other caller.
    pub fn check_person<E>(self, refusal: E) -> Result<(), E> {
        if self.is_in_person() { Ok(()) } else { Err(refusal) }
    }
}
