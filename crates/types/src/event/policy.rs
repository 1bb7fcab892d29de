//! Events of settings that decide about later calls.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::content_walk::ContentClass::Identity;
use crate::content_walk::content_rows;
use crate::posture::{PostureChanged, PostureScope};
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

content_rows! {
    fn policy_event(walk, event: PolicyEvent) {
        match event {
            PolicyEvent::PostureChanged(PostureChanged { replaces: _, scope, posture: _, by: _, via: _, tool }) => {
                walk.text(Identity, "tool", tool);
                match scope {
                    PostureScope::Workspace(path) => walk.text(Identity, "scope.workspace", path),
                    PostureScope::Global | PostureScope::Agent(_) | PostureScope::Session(_) => {}
                }
            }
            // Counts, and examples that are all ids: no payload.
            PolicyEvent::GrantRevoked { grant: _, by: _ } | PolicyEvent::ShadowCounted(_) => {}
        }
    }
}
