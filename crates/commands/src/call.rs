//! What all these tools share, and what they read off a call.

use std::sync::Arc;

use palyra_ports::{Clock, GuardEgress, LimitRung, ProcessSandbox, ProcessTier, SandboxOffer};
use palyra_tool_kit::{ExecutionSite, ToolInvocation};
use palyra_types::tool::{Isolation, ToolExecutor};

use crate::job_log::JobOwner;
use crate::job_table::Jobs;
use crate::plan::strongest;
use crate::running::LaunchContext;
use crate::settings::CommandSettings;
use crate::tapes::Tapes;

/// What all these tools share.
pub(crate) struct CommandParts {
    pub(crate) settings: CommandSettings,
    pub(crate) sandbox: Arc<dyn ProcessSandbox>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Opens doors; without it no command reaches another host.
    pub(crate) guard: Option<Arc<dyn GuardEgress>>,
    pub(crate) jobs: Jobs,
    /// Where outputs are read back.
    pub(crate) tapes: Tapes,
}

impl CommandParts {
    /// Returns what a program of a granted call is started with.
    pub(crate) fn launch_context<'p>(&'p self, invocation: &ToolInvocation) -> LaunchContext<'p> {
        LaunchContext {
            sandbox: &*self.sandbox,
            settings: &self.settings,
            guard: self.guard.as_deref(),
            used_by: invocation.used_by,
            session: invocation.session,
        }
    }

    /// Returns where a program of this tier runs.
    pub(crate) fn site(&self, tier: ProcessTier) -> ExecutionSite {
        let isolation = isolation(tier, self.sandbox.offer());
        ExecutionSite { executor: ToolExecutor::Process, isolation }
    }

    /// Returns what would confine a program here; where nothing does, nothing is started.
    pub(crate) fn strongest_isolation(&self) -> Isolation {
        let offer = self.sandbox.offer();
        strongest(offer).map_or(Isolation::DescriptorRelative, |tier| isolation(tier.of_process(), offer))
    }
}

/// Returns whose the jobs are that a call starts, and may know of.
pub(crate) fn owner_of(invocation: &ToolInvocation) -> JobOwner {
    JobOwner { session: invocation.session, used_by: invocation.used_by }
}

/// Returns how much of what a program prints is kept for the result, beside what is said of its end.
pub(crate) fn printed_bytes_max(invocation: &ToolInvocation) -> usize {
    /// Room for how it ended, whom it reached, what was kept aside, and how to read on.
    const NOTES_BYTES_MAX: usize = 2048;
    invocation.limits.output_bytes_max.saturating_sub(NOTES_BYTES_MAX)
}

/// Returns what a tier is on this host.
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
