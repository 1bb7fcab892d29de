//! One granted call, as a tool receives it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use palyra_ports::{CredentialUser, Supervision};
use palyra_run_core::{ExecutionAttempt, Grant};
use palyra_types::SessionId;
use palyra_types::tool::{EffectContract, Taints, ToolName};

/// One granted call. Only [`of`](Self::of) makes one, out of a grant.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolInvocation {
    /// The tool.
    pub tool: ToolName,
    /// The version of the tool that was decided about.
    pub tool_version: u32,
    /// JSON text that was validated against the tool's schema.
    pub arguments: String,
    /// The folder that the tool may see.
    pub workspace_root: PathBuf,
    /// The tool's own record of what the call will do; empty for a call that is not prepared.
    pub plan: String,
    /// The conversation of the run.
    pub session: SessionId,
    /// Principal, run and effect of the call.
    pub used_by: CredentialUser,
    /// The contract that was recorded with the decision.
    pub contract: EffectContract,
    /// Whether the call runs for the first time.
    pub execution: ExecutionAttempt,
    /// The limits of the call.
    pub limits: CallLimits,
    /// What the run had read when the call was granted.
    pub taints: Taints,
    /// Cancel flag, key of the effect, and the receiver of what the call prints.
    pub supervision: Supervision,
}

/// The limits of one call.
#[derive(Debug, Clone, Copy)]
pub struct CallLimits {
    /// How long the call may take.
    pub deadline: Duration,
    /// How much output is kept, in bytes.
    pub output_bytes_max: usize,
}

/// Names the call, and nothing of its content.
impl fmt::Debug for ToolInvocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, used_by, execution, .. } = self;
        f.debug_struct("ToolInvocation")
            .field("tool", tool)
            .field("used_by", used_by)
            .field("execution", execution)
            .finish_non_exhaustive()
    }
}

impl ToolInvocation {
    /// Reads a grant.
    #[must_use]
    pub fn of(grant: &Grant, supervision: Supervision) -> Self {
        Self {
            tool: grant.tool().clone(),
            tool_version: grant.tool_version(),
            arguments: grant.arguments().expose().clone(),
            workspace_root: grant.workspace_root().to_owned(),
            plan: grant.plan().body.expose().clone(),
            session: grant.session(),
            used_by: CredentialUser {
                principal: grant.principal(),
                run: grant.run(),
                effect: grant.effect(),
            },
            contract: grant.contract(),
            execution: grant.execution(),
            limits: CallLimits { deadline: grant.deadline(), output_bytes_max: grant.output_bytes_max() },
            taints: grant.taints(),
            supervision,
        }
    }
}
