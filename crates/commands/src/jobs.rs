//! `start_job`, `tail_job`, `stop_job`: programs that go on while the run does other things.
//!
//! What became of a job that was lost with the daemon nobody knows: its effect is in doubt, and that is what is said.

use std::time::Duration;

use palyra_ports::OutputSink;
use palyra_tool_kit::{ToolInvocation, ToolResult, parse};
use palyra_types::job::JobEnd;
use palyra_types::tool::{
    ApprovalRiskLevel, Capability, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use crate::call::{CommandParts, owner_of};
use crate::failure::CommandFailure;
use crate::job_table::JobOutcome;
use crate::output_buffer::OutputSlice;
use crate::run_command::{argv_schema, credentials_schema, folder_schema, hosts_schema, how, planned_again};
use crate::running::{self, OutputHandling};

pub(crate) const START: &str = "start_job";
pub(crate) const TAIL: &str = "tail_job";
pub(crate) const STOP: &str = "stop_job";
const VERSION: u32 = 1;
const DEADLINE: Duration = Duration::from_secs(60);
const OUTPUT_BYTES_MAX: usize = 32 * 1024;
/// Bytes of output that are kept of each job until somebody has read them.
const KEPT_BYTES_MAX: usize = 128 * 1024;

pub(crate) fn start_spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new(START),
        version: VERSION,
        description: "Starts one program in the workspace and does not wait for its end, for servers and long builds. \
                      It runs in the same sandbox as run_command. Look at it with tail_job, end it with stop_job; it \
                      ends with the daemon at the latest."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "argv": argv_schema(), "cwd": folder_schema(),
                "hosts": hosts_schema(), "credentials": credentials_schema(),
            },
            "required": ["argv"],
            "additionalProperties": false,
        }),
        contract: EffectContract::Opaque,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Prepared,
        capabilities: vec![Capability::ReadFiles, Capability::WriteFiles, Capability::Process],
        taints: Taints::WORKSPACE.with(Taints::TOOL),
        risk: ApprovalRiskLevel::High,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

pub(crate) fn tail_spec() -> ToolSpec {
    let mut spec = of_a_job(
        TAIL,
        "Says whether a job still runs, and what it printed since the last look. The next look returns output that is too long for one.",
        EffectContract::Pure,
    );
    spec.schema["properties"]["from"] = json!({
        "type": "integer", "minimum": 0,
        "description": "The byte of its output to begin with, to have the last look once more; where that ended when left out.",
    });
    spec
}

pub(crate) fn stop_spec() -> ToolSpec {
    // What has ended stays ended: a repetition looks, and says how it ended.
    of_a_job(STOP, "Ends a job and all that it started.", EffectContract::Probe)
}

fn of_a_job(name: &str, description: &str, contract: EffectContract) -> ToolSpec {
    ToolSpec {
        name: ToolName::new(name),
        version: VERSION,
        description: description.to_owned(),
        schema: json!({
            "type": "object",
            "properties": {"job": {"type": "string", "x-palyra-meaning": "handle", "maxLength": 32, "description": "Its name, as start_job said it."}},
            "required": ["job"],
            "additionalProperties": false,
        }),
        contract,
        parallelism: Parallelism::Exclusive,
        conduct: ToolConduct::Direct,
        capabilities: vec![Capability::ReadFiles],
        taints: Taints::WORKSPACE.with(Taints::TOOL),
        risk: ApprovalRiskLevel::Low,
        deadline: DEADLINE,
        output_bytes_max: OUTPUT_BYTES_MAX,
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LookAtJob {
    job: String,
    from: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfJob {
    job: String,
}

pub(crate) async fn start(
    parts: &CommandParts,
    invocation: &ToolInvocation,
) -> Result<ToolResult, CommandFailure> {
    let room = parts.jobs.room()?;
    let (planned, _) = planned_again(parts, invocation).await?;
    let tier = planned.plan.tier.of_process();
    // Nobody waits for it, so nobody watches; tail_job looks.
    let hearing = OutputHandling { bytes_max: KEPT_BYTES_MAX, watched: OutputSink::default() };
    let starting = running::start(parts.launch_context(invocation), planned, hearing);
    let job = parts.jobs.start(owner_of(invocation), tier, room, starting).await?;
    let text = format!("started as {job}; look at it with tail_job");
    Ok(ToolResult { text, site: parts.site(tier), ..ToolResult::default() })
}

pub(crate) async fn tail(
    parts: &CommandParts,
    invocation: &ToolInvocation,
) -> Result<ToolResult, CommandFailure> {
    /// More than the line takes that tells which bytes they are.
    const TOLD_BYTES: usize = 160;
    let LookAtJob { job, from } = parse(&invocation.arguments)?;
    let job = parts.jobs.find(owner_of(invocation), &job).await?;
    if invocation.supervision.cancel.is_cancelled() {
        return Err(CommandFailure::Cancelled);
    }
    let mut state = job.over().map_or("still running".to_owned(), how_it_ended);
    if let Some(door) = &job.door {
        state = format!("{state}\n{}", door.describe());
    }
    if let Some(told) = job.describe_protection() {
        state = format!("{state}\n{told}");
    }
    let room = invocation.limits.output_bytes_max.saturating_sub(state.len() + TOLD_BYTES);
    let look = job.output.get().look(from, room);
    let OutputSlice { from, to, total, text: printed } = look;
    let text = match (printed.is_empty(), to < total) {
        (true, _) => format!("{state}; nothing new"),
        (false, false) => format!("{state}; bytes {from} to {to} of its output\n\n{printed}"),
        (false, true) => {
            format!("{state}; bytes {from} to {to} of its output, {total} so far; look again\n\n{printed}")
        }
    };
    let site = parts.site(job.tier);
    Ok(ToolResult { text, bytes_total: total - from, site, ..ToolResult::default() })
}

pub(crate) async fn stop(
    parts: &CommandParts,
    invocation: &ToolInvocation,
) -> Result<ToolResult, CommandFailure> {
    let named: OfJob = parse(&invocation.arguments)?;
    let mut job = parts.jobs.find(owner_of(invocation), &named.job).await?;
    let text = job.stop().await.map_or("gone".to_owned(), how_it_ended);
    let text = job.describe_protection().map_or_else(|| text.clone(), |told| format!("{text}\n{told}"));
    Ok(ToolResult { text, site: parts.site(job.tier), ..ToolResult::default() })
}

fn how_it_ended(over: JobOutcome) -> String {
    let ended = match over.end {
        JobEnd::Lost => format!("{}; its end was not recorded, so its outcome is unknown", how(over.ended)),
        JobEnd::Exited { .. }
        | JobEnd::Signalled { .. }
        | JobEnd::OverMemory
        | JobEnd::OverProcesses
        | JobEnd::Stopped
        | JobEnd::NotStarted => how(over.ended),
    };
    match over.recorded {
        Ok(()) => ended,
        Err(error) => {
            format!(
                "{ended}; the end could not be recorded ({error}); its outcome is unknown after the next start of the daemon"
            )
        }
    }
}
