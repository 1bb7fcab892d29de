//! The tools that start programs, as a [`ToolRuntime`].
//!
//! Owns which tool is which, and what all share: settings, sandbox, clock, jobs.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::{
    Clock, CredentialUser, ExecuteToolError, GuardEgress, LimitRung, PreparedCall, ProcessSandbox,
    ProcessTier, SandboxOffer, Supervision, ToolRuntime,
};
use palyra_run_core::{Execution, Grant, Intent, PrepareRefusal};
use palyra_types::Redacted;
use palyra_types::tool::{
    EffectContract, Isolation, ToolCatalog, ToolExecutionOutcome, ToolExecutor, ToolName, ToolSpec,
};

use crate::call::{Granted, Made, Parts};
use crate::failure::CommandFailure;
use crate::job_table::Jobs;
use crate::plan::strongest;
use crate::settings::CommandSettings;
use crate::tapes::Tapes;
use crate::transcript::shortened;
use crate::{git, jobs, protection, read_output, run_command};

/// Returns what these tools say of themselves, without any that could be called.
#[must_use]
pub fn tool_specs() -> Vec<ToolSpec> {
    vec![
        run_command::spec(),
        jobs::start_spec(),
        jobs::tail_spec(),
        jobs::stop_spec(),
        git::spec(),
        read_output::spec(),
    ]
}

/// The tools that start programs. Cheap to clone.
#[derive(Clone)]
pub struct Commands {
    pub(crate) parts: Arc<Parts>,
}

impl Commands {
    /// Makes the tools. Without a guard, calls that name hosts are refused.
    #[must_use]
    pub fn new(
        settings: CommandSettings,
        sandbox: Arc<dyn ProcessSandbox>,
        clock: Arc<dyn Clock>,
        guard: Option<Arc<dyn GuardEgress>>,
    ) -> Self {
        let catalog = Arc::new(ToolCatalog::new(tool_specs()));
        let (jobs, tapes) = (Jobs::new(Arc::clone(&clock)), Tapes::default());
        Self { parts: Arc::new(Parts { catalog, settings, sandbox, clock, guard, jobs, tapes }) }
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

    /// Carries out a call; what it tells is no longer than it may be.
    pub(crate) async fn run(
        &self,
        granted: &Granted,
        supervision: &Supervision,
    ) -> Result<Made, CommandFailure> {
        let made = self.carry_out(granted, supervision).await?;
        Ok(Made { text: shortened(made.text, granted.output_bytes_max), ..made })
    }

    async fn carry_out(&self, granted: &Granted, supervision: &Supervision) -> Result<Made, CommandFailure> {
        match granted.tool.as_str() {
            run_command::NAME => run_command::run(&self.parts, granted, supervision).await,
            jobs::START => jobs::start(&self.parts, granted).await,
            jobs::TAIL => jobs::tail(&self.parts, granted, supervision).await,
            jobs::STOP => jobs::stop(&self.parts, granted).await,
            git::NAME => git::run(&self.parts, granted, supervision).await,
            read_output::NAME => read_output::run(&self.parts, granted, supervision).await,
            other => Err(CommandFailure::Arguments(format!("`{other}` starts no program"))),
        }
    }

    fn outcome(&self, made: Result<Made, CommandFailure>) -> ToolExecutionOutcome {
        let offer = self.parts.sandbox.offer();
        match made {
            Ok(made) => ToolExecutionOutcome {
                failure: made.failed,
                output_bytes_total: made.bytes_total.max(made.text.len() as u64),
                output: Redacted::new(made.text),
                executor: made.tier.map_or(ToolExecutor::Internal, |_| ToolExecutor::Process),
                isolation: made.tier.map_or(Isolation::DescriptorRelative, |tier| isolation(tier, offer)),
            },
            Err(failure) => ToolExecutionOutcome {
                failure: Some(failure.code()),
                output: Redacted::new(failure.to_string()),
                output_bytes_total: 0,
                executor: ToolExecutor::Internal,
                isolation: Isolation::DescriptorRelative,
            },
        }
    }
}

/// Returns whether a call that a restart found begun is made once more: where that changes nothing, or looks first.
fn is_repeated(contract: EffectContract) -> bool {
    match contract {
        EffectContract::Pure | EffectContract::Probe => true,
        EffectContract::Keyed | EffectContract::Local | EffectContract::Opaque => false,
    }
}

/// Returns what a tier comes to on this host.
fn isolation(tier: ProcessTier, offer: &SandboxOffer) -> Isolation {
    let counted = offer.limits != LimitRung::ProcessLimits;
    match (tier, offer.user_namespaces, counted) {
        (ProcessTier::Isolated, _, true) => Isolation::Isolated,
        (ProcessTier::Isolated, _, false) => Isolation::IsolatedUncounted,
        (ProcessTier::Confined, true, true) => Isolation::Confined,
        (ProcessTier::Confined, true, false) => Isolation::ConfinedUncounted,
        (ProcessTier::Confined, false, _) => Isolation::ConfinedWithoutNamespaces,
    }
}

impl ToolRuntime for Commands {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.parts.catalog)
    }

    fn isolation(&self, _tool: &ToolName) -> Isolation {
        let offer = self.parts.sandbox.offer();
        // Where nothing is held, nothing is started.
        strongest(offer).map_or(Isolation::DescriptorRelative, |tier| isolation(tier.of_process(), offer))
    }

    fn prepare(&self, intent: Intent) -> BoxFuture<'static, Result<PreparedCall, PrepareRefusal>> {
        let parts = Arc::clone(&self.parts);
        async move {
            let arguments = intent.arguments().expose().clone();
            let (root, read_only) = (intent.workspace_root().to_owned(), intent.read_only().to_vec());
            let looked = tokio::task::spawn_blocking(move || {
                run_command::prepare(&parts, &arguments, &root, &read_only)
            });
            let looked = looked.await;
            let lost =
                |_| Err(CommandFailure::SandboxFailed("the command could not be looked at".to_owned()));
            looked.unwrap_or_else(lost).map_err(|failure| PrepareRefusal {
                code: failure.code(),
                message: Redacted::new(failure.to_string()),
            })
        }
        .boxed()
    }

    fn execute(
        &self,
        grant: Grant,
        supervision: Supervision,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        let tools = self.clone();
        async move {
            let tool = grant.tool().clone();
            // A command is opaque: what a restart found begun is not begun again.
            let contract = tools.parts.catalog.get(&tool).map(|spec| spec.contract);
            if grant.execution() == Execution::Again && !contract.is_some_and(is_repeated) {
                return Err(ExecuteToolError::OutcomeUnknown { tool });
            }
            let granted = Granted {
                tool,
                arguments: grant.arguments().expose().clone(),
                workspace_root: grant.workspace_root().to_owned(),
                plan: grant.plan().body.expose().clone(),
                session: grant.session(),
                used_by: CredentialUser {
                    principal: grant.principal(),
                    run: grant.run(),
                    effect: grant.effect(),
                },
                output_bytes_max: grant.output_bytes_max(),
            };
            let made = tools.run(&granted, &supervision).await;
            Ok(tools.outcome(made))
        }
        .boxed()
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
mod tests;
