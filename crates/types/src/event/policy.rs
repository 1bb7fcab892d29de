//! Events of settings that decide about later calls.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::posture::PostureChanged;
use crate::shadow::ShadowCounts;
use crate::{PrincipalId, StoredGrantId};

/// Settings that decide about later calls: grants taken back, postures, counts of policies on trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyEvent {
    /// A stored grant no longer holds.
    GrantRevoked {
        /// The grant.
        grant: StoredGrantId,
        /// Who revoked it.
        by: PrincipalId,
    },
    /// A standing setting of a tool was made, replaced or taken back.
    PostureChanged(PostureChanged),
    /// What policies that are tried out would have decided so far.
    ShadowCounted(ShadowCounts),
}
