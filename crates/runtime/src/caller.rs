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
