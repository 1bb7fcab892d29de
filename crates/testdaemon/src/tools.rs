//! The tools of the test daemon: one that changes nothing, and one whose effects can be counted.
//!
//! Owns the format of the file of effects: a line `RUN EFFECT` for each time the counting tool acted, synced
//! before its outcome is told. Invariant: a line that is there was written by exactly one execution.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_daemon::Equipment;
use palyra_policy::{PermitRule, ToolPolicyRules};
use palyra_ports::{CancelFlag, ExecuteToolError, ToolRuntime};
use palyra_run_core::Grant;
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Isolation, Parallelism, ToolCatalog, ToolExecutionOutcome,
    ToolExecutor, ToolName, ToolSpec,
};

/// The pure tool.
pub const LOOK: &str = "look";
/// The opaque tool.
pub const ACT: &str = "act";

/// Variable that names the file of effects.
pub const EFFECTS_VARIABLE: &str = "PALYRA_TESTDAEMON_EFFECTS";

const DEADLINE: Duration = Duration::from_secs(30);
const OUTPUT_BYTES_MAX: usize = 4 * 1024;

/// Returns the tools, whose effects go to `effects`, with rules that permit them unattended.
#[must_use]
pub fn equipment(effects: &Path) -> Equipment {
    let mut rules = ToolPolicyRules::shipped();
    rules.permits.push(PermitRule {
        name: "effects-of-a-test",
        contract: EffectContract::Opaque,
        risk_max: ApprovalRiskLevel::Low,
    });
    Equipment { tools: Arc::new(CountedTools::new(effects)), rules }
}

struct CountedTools {
    catalog: Arc<ToolCatalog>,
    effects: PathBuf,
}

impl CountedTools {
    fn new(effects: &Path) -> Self {
        let tools = vec![spec(LOOK, EffectContract::Pure), spec(ACT, EffectContract::Opaque)];
        Self { catalog: Arc::new(ToolCatalog::new(tools)), effects: effects.to_owned() }
    }
}

impl ToolRuntime for CountedTools {
    fn catalog(&self) -> Arc<ToolCatalog> {
        Arc::clone(&self.catalog)
    }

    fn execute(
        &self,
        grant: Grant,
        _cancel: CancelFlag,
    ) -> BoxFuture<'static, Result<ToolExecutionOutcome, ExecuteToolError>> {
        let effects = self.effects.clone();
        async move {
            let tool = grant.tool().clone();
            match tool.as_str() {
                LOOK => Ok(outcome("nothing has changed")),
                ACT => {
                    let acted = tokio::task::spawn_blocking(move || act(&effects, &grant)).await;
                    match acted {
                        Ok(Ok(())) => Ok(outcome("done")),
                        Ok(Err(_)) | Err(_) => Err(ExecuteToolError::OutcomeUnknown { tool }),
                    }
                }
                _ => Err(ExecuteToolError::Unknown { tool }),
            }
        }
        .boxed()
    }
}

fn act(effects: &Path, grant: &Grant) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(effects)?;
    file.write_all(format!("{} {}\n", grant.run(), grant.effect()).as_bytes())?;
    file.sync_all()
}

fn spec(name: &str, contract: EffectContract) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: 1,
        description: "A tool for tests.".to_owned(),
        schema: serde_json::json!({ "type": "object" }),
        contract,
        parallelism: Parallelism::Exclusive,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

fn outcome(output: &str) -> ToolExecutionOutcome {
    ToolExecutionOutcome {
        failure: None,
        output: output.into(),
        output_bytes_total: output.len() as u64,
        executor: ToolExecutor::Internal,
        isolation: Isolation::DescriptorRelative,
    }
}
