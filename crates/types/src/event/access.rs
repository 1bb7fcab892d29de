//! Events of principals, their tokens, and agents.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::access::{CredentialKind, PrincipalKind, Role, ScopeSet};
use crate::agent::AgentProfile;
use crate::content_walk::ContentClass::{Fixed, Identity, Prose};
use crate::content_walk::content_rows;
use crate::{AgentId, ErrorCode, PrincipalId, Redacted, Timestamp, TokenId};

/// Principals and their access tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessEvent {
    /// A principal became known, or has its name again after an erasure.
    PrincipalRegistered {
        /// The id (also in the envelope).
        principal: PrincipalId,
        /// The name.
        name: Redacted<String>,
        /// What it is.
        kind: PrincipalKind,
        /// What it may do; `None` in older versions, and where it stays as it was.
        role: Option<Role>,
    },
    /// A principal has another name.
    PrincipalRenamed {
        /// Whose.
        principal: PrincipalId,
        /// The new name.
        name: Redacted<String>,
    },
    /// A principal has another role.
    RoleGiven {
        /// Whose.
        principal: PrincipalId,
        /// The new role.
        role: Role,
    },
    /// No credential of a principal works any more.
    PrincipalDisabled {
        /// Whose.
        principal: PrincipalId,
    },
    /// The credentials of a principal work again.
    PrincipalEnabled {
        /// Whose.
        principal: PrincipalId,
    },
    /// A principal has another time zone.
    TimeZoneSet {
        /// Whose.
        principal: PrincipalId,
        /// A name of the IANA database, such as `Europe/Prague`; empty for the zone of the daemon's machine.
        time_zone: Redacted<String>,
    },
    /// An access token was made.
    TokenCreated(TokenCreated),
    /// An access token was revoked.
    TokenRevoked {
        /// Its id.
        token: TokenId,
    },
    /// A person signed a browser in to the web console. The entry names them beside its facts.
    PageSessionBegun {
        /// The credential that acts of the browser name.
        credential: TokenId,
    },
    /// A known credential asked for a change that it may not make. The entry names the actor beside its facts.
    ActRefused(ActRefused),
}

/// A change that was refused to a known credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActRefused {
    /// The operation, such as `ResolveApproval`.
    pub operation: Redacted<String>,
    /// Why.
    pub code: ErrorCode,
    /// How many refusals of the same credential before this one are not recorded, because they came too fast.
    pub unrecorded: u32,
}

/// A new access token. Its principal is the envelope's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenCreated {
    /// Its id.
    pub token: TokenId,
    /// SHA-256 of the token's text.
    pub sha256: [u8; 32],
    /// When it ends.
    pub expires: Option<Timestamp>,
    /// What it is for.
    pub label: Redacted<String>,
    /// For whom it was made.
    pub kind: CredentialKind,
    /// What it may be used for; `None` for tokens from before there were scopes.
    pub scopes: Option<ScopeSet>,
}

/// Agents: each entry has the whole profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// An agent was made or changed; the latest profile counts.
    Saved {
        /// Its id.
        agent: AgentId,
        /// The whole profile.
        profile: AgentProfile,
    },
    /// An agent was archived.
    Archived {
        /// Its id.
        agent: AgentId,
    },
}

content_rows! {
    fn access_event(walk, event: AccessEvent) {
        match event {
            AccessEvent::PrincipalRegistered { principal: _, name, kind: _, role: _ }
            | AccessEvent::PrincipalRenamed { principal: _, name } => walk.text(Identity, "name", name),
            AccessEvent::TimeZoneSet { principal: _, time_zone } => walk.text(Identity, "time_zone", time_zone),
            AccessEvent::TokenCreated(created) => {
                let TokenCreated { token: _, sha256: _, expires: _, label, kind: _, scopes: _ } = created;
                walk.text(Prose, "label", label);
            }
            AccessEvent::ActRefused(ActRefused { operation, code: _, unrecorded: _ }) => {
                walk.text(Fixed, "operation", operation);
            }
            AccessEvent::TokenRevoked { token: _ }
            | AccessEvent::PageSessionBegun { credential: _ }
            | AccessEvent::RoleGiven { principal: _, role: _ }
            | AccessEvent::PrincipalDisabled { principal: _ }
            | AccessEvent::PrincipalEnabled { principal: _ } => {}
        }
    }

    fn agent_event(walk, event: AgentEvent) {
        match event {
            AgentEvent::Saved { agent: _, profile } => {
                let AgentProfile { name, instructions, model, tools, workspace_roots, recall: _ } = profile;
                walk.text(Identity, "profile.name", name);
                walk.text(Prose, "profile.instructions", instructions);
                walk.maybe(model, |walk, model| walk.model(Identity, "profile.model", model));
                walk.maybe(tools, |walk, tools| {
                    walk.each(tools, |walk, tool| walk.text(Identity, "profile.tools", tool));
                });
                walk.each(workspace_roots, |walk, root| {
                    walk.path(Identity, "profile.workspace_roots", root);
                });
            }
            AgentEvent::Archived { agent: _ } => {}
        }
    }
}
