//! The tools that start programs.
//!
//! Owns which tool is which, and what all share: settings, sandbox, clock, jobs.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{Clock, GuardEgress, PreparedCall, ProcessSandbox};
use palyra_tool_kit::Intent;
use palyra_tool_kit::{
    CallError, CallFailure, Tool, ToolInvocation, ToolResult, ToolSet, delegate_tool_runtime,
};
use palyra_types::tool::{ToolConduct, ToolSpec};

use crate::call::CommandParts;
use crate::failure::CommandFailure;
use crate::job_table::Jobs;
use crate::settings::CommandSettings;
use crate::tapes::Tapes;
use crate::{git, jobs, protection, read_output, run_command};

/// One tool: what it declares, and what runs a call of it. Calls of those that are prepared name a program.
struct CommandTool {
    spec: fn() -> ToolSpec,
    run: Run,
}

type RunningCall<'r> = BoxFuture<'r, Result<ToolResult, CommandFailure>>;
type Run = for<'r> fn(&'r CommandParts, &'r ToolInvocation) -> RunningCall<'r>;

const TOOLS: [CommandTool; 6] = [
    CommandTool { spec: run_command::spec, run: |parts, call| run_command::run(parts, call).boxed() },
    CommandTool { spec: jobs::start_spec, run: |parts, call| jobs::start(parts, call).boxed() },
    CommandTool { spec: jobs::tail_spec, run: |parts, call| jobs::tail(parts, call).boxed() },
    CommandTool { spec: jobs::stop_spec, run: |parts, call| jobs::stop(parts, call).boxed() },
    CommandTool { spec: git::spec, run: |parts, call| git::run(parts, call).boxed() },
    CommandTool { spec: read_output::spec, run: |parts, call| read_output::run(parts, call).boxed() },
];

impl CommandTool {
    fn tool(&self, parts: &Arc<CommandParts>) -> Tool {
        let (spec, run) = ((self.spec)(), self.run);
        let is_prepared = spec.conduct == ToolConduct::Prepared;
        let (running, looking, preparing) = (Arc::clone(parts), Arc::clone(parts), Arc::clone(parts));
        let tool = Tool::waiting(spec, move |invocation| {
            let parts = Arc::clone(&running);
            async move {
                let failed = |failure: CommandFailure| CallError::Failed(failure.into());
                run(&parts, &invocation).await.map_err(failed)
            }
        })
        .isolated_as(move || looking.strongest_isolation());
        if is_prepared { tool.prepared_by(move |intent| prepare(&preparing, intent)) } else { tool }
    }
}

fn prepare(parts: &CommandParts, intent: &Intent) -> Result<PreparedCall, CallFailure> {
    let (arguments, root) = (intent.arguments().expose(), intent.workspace_root());
    Ok(run_command::prepare(parts, arguments, root, intent.read_only())?)
}

/// Returns what these tools say of themselves, without any that could be called.
#[must_use]
pub fn tool_specs() -> Vec<ToolSpec> {
    TOOLS.iter().map(|row| (row.spec)()).collect()
}

/// The tools that start programs. Cheap to clone.
#[derive(Clone)]
pub struct CommandTools {
    pub(crate) parts: Arc<CommandParts>,
    tools: ToolSet,
}

delegate_tool_runtime!(CommandTools);

impl CommandTools {
    /// Makes the tools. Without a guard, calls that name hosts are refused.
    #[must_use]
    pub fn new(
        settings: CommandSettings,
        sandbox: Arc<dyn ProcessSandbox>,
        clock: Arc<dyn Clock>,
        guard: Option<Arc<dyn GuardEgress>>,
    ) -> Self {
        let (jobs, tapes) = (Jobs::new(Arc::clone(&clock)), Tapes::default());
        Self::of(CommandParts { settings, sandbox, clock, guard, jobs, tapes })
    }

    fn of(parts: CommandParts) -> Self {
        let parts = Arc::new(parts);
        let tools = ToolSet::new(TOOLS.iter().map(|row| row.tool(&parts)).collect());
        Self { parts, tools }
    }

    /// Returns the tools, to be joined with others.
    #[must_use]
    pub fn tools(&self) -> ToolSet {
        self.tools.clone()
    }

    /// Reviews what programs left in their workspaces whose end an earlier daemon did not see, and returns what was
    /// moved, for the log. To be called before the first command.
    #[must_use]
    pub fn recover(&self) -> Vec<String> {
        protection::recover(&self.parts.settings)
    }

    /// Returns where to say who reads tapes; until then `read_output` has nothing to read from.
    #[must_use]
    pub fn tapes(&self) -> Tapes {
        self.parts.tapes.clone()
    }

    /// Returns the jobs, and where to say in which journal they are recorded.
    #[must_use]
    pub fn jobs(&self) -> Jobs {
        self.parts.jobs.clone()
    }
}

#[cfg(test)]
mod door_tests;
#[cfg(test)]
mod git_tests;
#[cfg(test)]
mod job_tests;
#[cfg(test)]
mod root_tests;
#[cfg(test)]
mod leavings_tests;
#[cfg(test)]
mod read_only_tests;
#[cfg(test)]
pub(crate) mod tests;
