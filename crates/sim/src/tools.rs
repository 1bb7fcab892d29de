//! Tools that act in the story's world, and go wrong as the weather wants.
//!
//! Owns the catalogue: two pure tools and two that nobody may repeat. Every act is told to the oracle in the moment
//! in which it takes effect. Begin at [`SimTools::execute`](ToolRuntime::execute).

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::{BoxFuture, pending};
use palyra_policy::{PermitRule, ToolPolicyRules};
use palyra_ports::{CancelFlag, Clock, ExecuteToolError, ToolRuntime};
use palyra_run_core::Grant;
use palyra_types::ErrorCode;
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Isolation, Parallelism, ToolCatalog, ToolExecutionOutcome,
    ToolExecutor, ToolName, ToolSpec,
};

use crate::fault::{Fault, Phase};
use crate::mutation::Mutation;
use crate::world::{World, turns};

/// Pure, beside others.
pub(crate) const LOOK: &str = "look";
/// Pure, alone.
pub(crate) const COUNT: &str = "count";
/// Opaque, alone.
pub(crate) const ACT: &str = "act";
/// Opaque, beside others.
pub(crate) const POST: &str = "post";

/// How long a call may take.
const DEADLINE: Duration = Duration::from_secs(20);
/// How long a call takes, at most, when it is slow; now and then that is too long.
const SLOW_MAX: Duration = Duration::from_secs(24);

/// The tools; clones are the same.
#[derive(Clone)]
pub(crate) struct SimTools {
    world: Arc<World>,
    catalog: Arc<ToolCatalog>,
}

impl SimTools {
    pub(crate) fn new(world: Arc<World>) -> Self {
        let catalog = ToolCatalog::new(vec![
            spec(LOOK, EffectContract::Pure, Parallelism::Parallel),
            spec(COUNT, EffectContract::Pure, Parallelism::Exclusive),
            spec(ACT, EffectContract::Opaque, Parallelism::Exclusive),
            spec(POST, EffectContract::Opaque, Parallelism::Parallel),
        ]);
        Self { world, catalog: Arc::new(catalog) }
    }

    /// Returns rules that permit all of them.
    pub(crate) fn rules() -> ToolPolicyRules {
        let mut rules = ToolPolicyRules::shipped();
        rules.permits.push(PermitRule {
            name: "simulated-acts",
            contract: EffectContract::Opaque,
            risk_max: ApprovalRiskLevel::Low,
        });
        rules
    }

    fn acts(&self, grant: &Grant) {
        let (run, effect) = (grant.run(), grant.effect());
        self.world.note(format_args!("* {run} {effect} {} acts", grant.tool()));
        self.world.oracle().tool_acts(grant);
        if self.world.mutates(Mutation::ActsTwice) {
            self.world.oracle().tool_acts(grant);
        }
    }

    async fn run(self, grant: Grant, cancel: CancelFlag) -> Result<ToolExecutionOutcome, ExecuteToolError> {
        let world = Arc::clone(&self.world);
        let strikes = |fault| world.strikes(fault, Phase::ToolRunning);
        turns(world.dice.below(4)).await;
        self.acts(&grant);
        turns(world.dice.below(4)).await;
        if strikes(Fault::ToolSlow) {
            let span = world.dice.span(SLOW_MAX);
            world.clock.sleep_until(world.clock.boot().after(span)).await;
        }
        if strikes(Fault::ToolHangs) {
            return pending().await;
        }
        if strikes(Fault::ToolUntilTold) {
            while !cancel.is_cancelled() {
                world.clock.sleep_until(world.clock.boot().after(Duration::from_millis(300))).await;
            }
            return Ok(outcome(Some(ErrorCode::ToolCancelled), "told to stop"));
        }
        if strikes(Fault::ToolLost) {
            return Err(ExecuteToolError::OutcomeUnknown { tool: grant.tool().clone() });
        }
        if strikes(Fault::ToolPanics) {
            panic!("{}", crate::fault::EXPECTED_PANIC);
        }
        if strikes(Fault::ToolFails) {
            return Ok(outcome(Some(ErrorCode::ToolFailed), "no"));
        }
        let said =
            if world.dice.below(3) == 0 { "same".to_owned() } else { world.dice.below(10_000).to_string() };
        Ok(outcome(None, &said))
    }
}

impl ToolRuntime for SimTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn execute(
        &self,
        grant: Grant,
        cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        self.clone().run(grant, cancel).boxed()
    }
}

fn spec(name: &str, contract: EffectContract, parallelism: Parallelism) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "simulated".to_owned(),
        schema: serde_json::json!({ "type": "object" }),
        contract,
        parallelism,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: 1_024,
    }
}

fn outcome(failure: Option<ErrorCode>, output: &str) -> ToolExecutionOutcome {
    ToolExecutionOutcome {
        failure,
        output: output.into(),
        output_bytes_total: output.len() as u64,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
    }
}
