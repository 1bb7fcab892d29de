//! A credential by its name, with the one server that it is for and the effect that uses it.
//!
//! Knows no values.

use palyra_types::{EffectId, PrincipalId, RunId};

/// A credential, known by its handle, and the one server that it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundCredential {
    /// The host, as [`HostRule::host`](crate::HostRule::host).
    pub host: String,
    /// The port; over anything but TLS it is never sent.
    pub port: u16,
    /// What to look up when it is needed.
    pub handle: CredentialHandle,
    /// Which effect needs it, for the record of its use; `None` where no run is behind it.
    pub used_by: Option<CredentialUser>,
}

/// The effect on whose behalf a credential is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CredentialUser {
    /// Whose run it is.
    pub principal: PrincipalId,
    /// The run.
    pub run: RunId,
    /// The effect within the run.
    pub effect: EffectId,
}

/// The name of a credential, which tells nothing about its value. What stands behind a first space is left aside: how
/// a credential is sent is its owner's decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CredentialHandle(pub String);
