//! The permission to run exactly one thing.
//!
//! Invariant: only the run machine makes a [`Grant`], inside the effect that executes it, after the
//! decision behind it. No other crate can: the fields are private and there is no public constructor.

use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_types::tool::{EffectContract, ToolName};
use palyra_types::{EffectId, PrincipalId, Redacted, RunId, SessionId};

/// Permission to run one tool call once. A tool runtime takes nothing else.
#[derive(Debug, PartialEq, Eq)]
pub struct Grant {
    pub(crate) effect: EffectId,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) principal: PrincipalId,
    pub(crate) tool: ToolName,
    pub(crate) arguments: Redacted<String>,
    pub(crate) workspace_root: Redacted<PathBuf>,
    pub(crate) contract: EffectContract,
    pub(crate) deadline: Duration,
    pub(crate) output_bytes_max: usize,
}

impl Grant {
    /// Returns the runtime's number of the effect within its run.
    #[must_use]
    pub fn effect(&self) -> EffectId {
        self.effect
    }

    /// Returns the run it was granted to.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Returns the session of that run.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Returns on whose behalf.
    #[must_use]
    pub fn principal(&self) -> PrincipalId {
        self.principal
    }

    /// Returns the tool.
    #[must_use]
    pub fn tool(&self) -> &ToolName {
        &self.tool
    }

    /// Returns the arguments: JSON text that was validated against the tool's schema.
    #[must_use]
    pub fn arguments(&self) -> &Redacted<String> {
        &self.arguments
    }

    /// Returns the folder that the tool may see.
    #[must_use]
    pub fn workspace_root(&self) -> &Path {
        self.workspace_root.expose()
    }

    /// Returns what may be done when the outcome stays unknown.
    #[must_use]
    pub fn contract(&self) -> EffectContract {
        self.contract
    }

    /// Returns how long the call may take.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Returns how much output is kept, in bytes.
    #[must_use]
    pub fn output_bytes_max(&self) -> usize {
        self.output_bytes_max
    }
}
