//! `schedule_list`: the schedules of the person for whom the run works.

use std::sync::Arc;

use palyra_ports::UseSchedules;
use palyra_tool_kit::{CallError, CallResult, ToolResult};
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use super::{DEADLINE, ScheduleCall, arguments, refused, shown};

const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// Returns what the tool declares.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("schedule_list"),
        version: 1,
        description: "Lists the schedules of the user, the newest first: id, name, times, next time, and the prompt or \
                      the text of the reminder."
            .to_owned(),
        schema: json!({"type": "object", "properties": {}, "additionalProperties": false}),
        contract: EffectContract::Pure,
        parallelism: Parallelism::Parallel,
        conduct: ToolConduct::Direct,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {}

/// Runs the tool. The labels of the runs that made schedules come along with their texts.
pub(super) async fn run(schedules: Arc<dyn UseSchedules>, call: ScheduleCall) -> CallResult {
    let ListArguments {} = arguments(&call.arguments).map_err(CallError::Failed)?;
    let listed = schedules.list(call.user).await;
    let listed = listed.map_err(|refusal| CallError::Failed(refused(refusal)))?;
    let taints = listed.iter().fold(Taints::NONE, |all, one| all.with(one.taints));
    let head = match listed.len() {
        0 => "there are no schedules".to_owned(),
        1 => "1 schedule".to_owned(),
        count => format!("{count} schedules"),
    };
    let lines = std::iter::once(head).chain(listed.iter().map(shown::schedule));
    Ok(ToolResult { text: lines.collect::<Vec<_>>().join("\n"), taints, ..ToolResult::default() })
}
