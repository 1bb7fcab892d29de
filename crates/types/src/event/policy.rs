//! Events of settings that decide about later calls.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::content_walk::ContentClass::{Fixed, Identity};
use crate::content_walk::content_rows;
use crate::posture::{PostureChanged, PostureScope};
use crate::project_file::AcceptedProjectFile;
use crate::shadow::ShadowCounts;
use crate::{PrincipalId, Seq, StoredGrantId};

/// Settings that decide about later calls: grants taken back, postures, counts of policies on trial, rules of projects.
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
    /// A person accepted what a file of a workspace says as rules for their runs there.
    ProjectRulesAccepted(AcceptedProjectFile),
    /// The acceptance of this entry is withdrawn.
    ProjectRulesWithdrawn(Seq),
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
            PolicyEvent::ProjectRulesAccepted(AcceptedProjectFile { root, path, sha256 }) => {
                walk.path(Identity, "root", root);
                walk.text(Identity, "path", path);
                walk.within(sha256, |walk, digest| walk.opaque(Fixed, "sha256", digest));
            }
            // Counts, and examples that are all ids: no payload.
            PolicyEvent::GrantRevoked { grant: _, by: _ }
            | PolicyEvent::ShadowCounted(_)
            | PolicyEvent::ProjectRulesWithdrawn(_) => {}
        }
    }
}
