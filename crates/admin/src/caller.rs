//! Who calls: made by a transport from what the connection proves, never from a message.

use palyra_types::PrincipalId;
use palyra_types::run::Surface;

/// The authenticated origin of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// On whose behalf.
    pub principal: PrincipalId,
    /// Over which transport.
    pub surface: Surface,
}

impl Caller {
    /// Returns whether this is the owner at the daemon's own socket. No run, no tool and no token is.
    #[must_use]
    pub fn is_in_person(self, owner: PrincipalId) -> bool {
        self.surface == Surface::LocalSocket && self.principal == owner
    }
}
