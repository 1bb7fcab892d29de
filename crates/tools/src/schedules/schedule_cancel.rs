//! `schedule_cancel`: the end of a schedule.
//!
//! Its contract is `local`: it changes records of the daemon alone. A repeated call finds the schedule gone.

use std::sync::Arc;

use palyra_ports::{PreparedCall, UseSchedules};
use palyra_tool_kit::{CallError, CallFailure, CallResult, ExecutionAttempt, Intent, ToolResult};
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use palyra_types::{Content, ErrorCode, ScheduleId};
use serde::Deserialize;
use serde_json::json;

use super::{DEADLINE, ScheduleCall, arguments, invalid, refused, shown, user_of};

const ID_CHARS: usize = 26;
const OUTPUT_BYTES_MAX: usize = 4 * 1024;

/// Returns what the tool declares.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("schedule_cancel"),
        version: 1,
        description: "Cancels a schedule of the user for good. A run of it that has started goes on. The user approves it \
                      first."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "schedule": {
                    "type": "string", "x-palyra-meaning": "handle", "minLength": ID_CHARS, "maxLength": ID_CHARS,
                    "description": "The id of the schedule, as schedule_list shows it.",
                },
            },
            "required": ["schedule"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Local,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Prepared,
        capabilities: Vec::new(),
        taints: Taints::NONE,
        risk: ApprovalRiskLevel::Medium,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelArguments {
    schedule: String,
}

/// Says which schedule the call would end. The words are part of the plan, so an approval does not outlive an edit.
pub(super) async fn prepare(
    schedules: Arc<dyn UseSchedules>,
    intent: Intent,
) -> Result<PreparedCall, CallFailure> {
    let schedule = read(intent.arguments().expose())?;
    let found = schedules.find(user_of(&intent), schedule).await.map_err(refused)?;
    let body = json!({
        "schedule": schedule.to_string(),
        "text": found.text.expose(),
        "times": found.words,
        "zone": found.zone,
    });
    Ok(PreparedCall {
        body: Content::new(body.to_string()),
        summary: Content::new(format!("cancels the schedule \"{}\"", found.name.expose())),
        preview: Content::new(shown::end(&found)),
        read_only: intent.read_only().to_vec(),
        ..PreparedCall::default()
    })
}

/// Runs the tool.
pub(super) async fn run(schedules: Arc<dyn UseSchedules>, call: ScheduleCall) -> CallResult {
    let schedule = read(&call.arguments).map_err(CallError::Failed)?;
    match schedules.cancel(call.user, schedule).await {
        Ok(()) => {}
        // The execution before the restart removed it.
        Err(refusal)
            if call.execution == ExecutionAttempt::Again && refusal.code == ErrorCode::ScheduleNotFound => {}
        Err(refusal) => return Err(CallError::Failed(refused(refusal))),
    }
    Ok(ToolResult { text: format!("cancelled: {schedule}"), ..ToolResult::default() })
}

fn read(text: &str) -> Result<ScheduleId, CallFailure> {
    let CancelArguments { schedule } = arguments(text)?;
    schedule
        .parse()
        .map_err(|_| invalid("a schedule is named by its id of 26 characters, as schedule_list shows it"))
}
