//! Agent profiles: a name, instructions, a model, the tools it may use and where it works.

use std::path::PathBuf;

use crate::model::ModelRef;
use crate::recall::RecallSwitch;
use crate::tool::ToolName;
use crate::{AgentId, Redacted};

/// The name of the agent that always exists.
pub const DEFAULT_AGENT_NAME: &str = "main";

/// The name of the agent that has no tools: a model alone.
pub const TOOLLESS_AGENT_NAME: &str = "model-alone";

/// What an agent is and may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AgentProfile {
    /// Its name, unique among agents that are not archived: `[a-z][a-z0-9-]*`, at most 64 characters.
    pub name: Redacted<String>,
    /// Its instructions, put before every conversation.
    pub instructions: Redacted<String>,
    /// The model it prefers; `None` takes the configured default.
    pub model: Option<ModelRef>,
    /// The tools it may use; `None` for all in the catalogue.
    pub tools: Option<Vec<ToolName>>,
    /// The folders in which its runs may work that come from another surface than the daemon's socket; the first is the one
    /// that such a run gets unless it names another. Empty: each session has a folder of its own.
    pub workspace_roots: Vec<Redacted<PathBuf>>,
    /// Whether its runs are given items of memory unasked; `None` leaves it to the configuration.
    pub recall: Option<RecallSwitch>,
}

/// A profile as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRecord {
    /// Its id.
    pub id: AgentId,
    /// Its latest profile.
    pub profile: AgentProfile,
    /// Whether it was archived: it keeps its sessions, and takes no new ones.
    pub archived: Option<crate::Timestamp>,
}
