//! The permission to run exactly one thing, and the lesser one to look at what it would do.
//!
//! Invariant: only the run machine makes a [`Grant`], inside the effect that executes it, after the
//! decision behind it; and an [`Intent`], for a call that policy does not deny. The fields are private and there is no
//! public constructor. A crate that drives a machine with inputs of its own gets grants from it, so `xtask tidy` lets only
//! `runtime` and the crates of tests (`sim`, `bench`, `testkit`) name `RunStateMachine`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use palyra_types::effect::EffectPlan;
use palyra_types::tool::{EffectContract, Taints, ToolName};
use palyra_types::{EffectId, PrincipalId, Redacted, RunId, SessionId};

/// Permission to look at what one call would do, and to change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub(crate) effect: EffectId,
    pub(crate) run: RunId,
    pub(crate) principal: PrincipalId,
    pub(crate) tool: ToolName,
    pub(crate) arguments: Redacted<String>,
    pub(crate) workspace_root: Redacted<PathBuf>,
    pub(crate) read_only: Vec<String>,
}

impl Intent {
    /// Returns the runtime's number of the effect within its run.
    #[must_use]
    pub fn effect(&self) -> EffectId {
        self.effect
    }

    /// Returns the run of the call.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Returns the principal for whom the run works.
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

    /// Returns the folders to which the call may not write, from the workspace root; `.` is all of it.
    #[must_use]
    pub fn read_only(&self) -> &[String] {
        &self.read_only
    }

    /// Takes folders from what the call may write to.
    #[must_use]
    pub fn with_read_only(mut self, folders: Vec<String>) -> Self {
        self.read_only.extend(folders);
        self
    }
}

/// Whether a granted call runs for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionAttempt {
    /// Nothing of it was done yet.
    First,
    /// The daemon stopped after its intent was recorded: all, nothing, or a part of it may be done.
    Again,
}

/// Permission to run one tool call once. A tool runtime takes nothing else.
#[derive(Debug, PartialEq, Eq)]
pub struct Grant {
    pub(crate) effect: EffectId,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) principal: PrincipalId,
    pub(crate) tool: ToolName,
    pub(crate) tool_version: u32,
    pub(crate) arguments: Redacted<String>,
    pub(crate) workspace_root: Redacted<PathBuf>,
    pub(crate) contract: EffectContract,
    pub(crate) plan: EffectPlan,
    pub(crate) execution: ExecutionAttempt,
    pub(crate) deadline: Duration,
    pub(crate) output_bytes_max: usize,
    pub(crate) taints: Taints,
}

impl Grant {
    /// Returns what the run had read when the call was granted.
    #[must_use]
    pub fn taints(&self) -> Taints {
        self.taints
    }

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

    /// Returns the version of the tool that was decided about.
    #[must_use]
    pub fn tool_version(&self) -> u32 {
        self.tool_version
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

    /// Returns what was recorded that the call will do; empty for a call that is not prepared.
    #[must_use]
    pub fn plan(&self) -> &EffectPlan {
        &self.plan
    }

    /// Returns whether it runs for the first time.
    #[must_use]
    pub fn execution(&self) -> ExecutionAttempt {
        self.execution
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
