//! Events of principals, their tokens, and agents.
//!
//! Owns the variants and their fields; stored numbers are in the registry of kinds, not here.

use crate::agent::AgentProfile;
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
