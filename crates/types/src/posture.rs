//! Standing settings of tools: always, ask, never; everywhere or in one place.
//!
//! Owns the values; which of several settings holds for a call is policy's. Invariant: a setting is named by the entry
//! that made it, so what replaces it, or ends it, is known without its content.

use serde::{Deserialize, Serialize};

use crate::session::SessionRef;
use crate::surface::Surface;
use crate::{AgentId, PrincipalId, Redacted, Seq, Timestamp};

/// Settings that stand at once, at most; making one more is refused.
pub const POSTURES_MAX: usize = 1_000;

/// How calls of a tool are treated beside what policy says; later ones leave less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Posture {
    /// What policy would ask about runs at once, unless its risk is critical or its rule wants more than one plain yes.
    AlwaysAllow,
    /// What policy would let run unattended is asked about.
    Ask,
    /// Denied.
    Disabled,
}

/// Where a setting holds; later ones are more specific.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostureScope {
    /// Everywhere.
    Global,
    /// For one agent.
    Agent(AgentId),
    /// In one workspace, by its absolute path; what narrows holds below it as well. Empty when erased.
    Workspace(Redacted<String>),
    /// In one conversation.
    Session(SessionRef),
}

/// A setting was made, replaced or taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostureChanged {
    /// The entry of the setting that no longer holds with this one.
    pub replaces: Option<Seq>,
    /// Where it holds.
    pub scope: PostureScope,
    /// The setting; `None` when the earlier one is only taken back.
    pub posture: Option<Posture>,
    /// Who did it.
    pub by: PrincipalId,
    /// On which surface.
    pub via: Surface,
    /// The tool; empty when erased.
    pub tool: Redacted<String>,
}

/// A setting that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostureRecord {
    /// Its entry.
    pub seq: Seq,
    /// When it was made.
    pub set: Timestamp,
    /// What was set.
    pub change: PostureChanged,
}

impl PostureRecord {
    /// Returns whether what it is about was erased: nobody knows any more which tool, or where.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        self.change.tool.expose().is_empty()
    }
}
