//! Events of principals, their tokens, and agents.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::agent::AgentProfile;
use crate::content_walk::ContentClass::{Identity, Prose};
use crate::content_walk::content_rows;
use crate::{AgentId, PrincipalId, Redacted, Timestamp, TokenId};

/// Principals and their access tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessEvent {
    /// Somebody became known.
    PrincipalRegistered {
        /// The id (also in the envelope).
        principal: PrincipalId,
        /// The name.
        name: Redacted<String>,
    },
    /// An access token was made.
    TokenCreated {
        /// Its id.
        token: TokenId,
        /// SHA-256 of the token's text.
        sha256: [u8; 32],
        /// When it ends.
        expires: Option<Timestamp>,
        /// What it is for.
        label: Redacted<String>,
    },
    /// An access token was revoked.
    TokenRevoked {
        /// Its id.
        token: TokenId,
    },
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
            AccessEvent::PrincipalRegistered { principal: _, name } => walk.text(Identity, "name", name),
            AccessEvent::TokenCreated { token: _, sha256: _, expires: _, label } => {
                walk.text(Prose, "label", label);
            }
            AccessEvent::TokenRevoked { token: _ } => {}
        }
    }

    fn agent_event(walk, event: AgentEvent) {
        match event {
            AgentEvent::Saved { agent: _, profile } => {
                let AgentProfile { name, instructions, model, tools } = profile;
                walk.text(Identity, "profile.name", name);
                walk.text(Prose, "profile.instructions", instructions);
                walk.maybe(model, |walk, model| walk.model(Identity, "profile.model", model));
                walk.maybe(tools, |walk, tools| {
                    walk.each(tools, |walk, tool| walk.text(Identity, "profile.tools", tool));
                });
            }
            AgentEvent::Archived { agent: _ } => {}
        }
    }
}
