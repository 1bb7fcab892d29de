//! `schedule_create`: a schedule that starts a run, or delivers a reminder, at planned times.
//!
//! Its contract is `local`: it changes records of the daemon alone. A repeated call finds the schedule that it made before.

use std::sync::Arc;

use palyra_ports::{DraftTimes, PreparedCall, ToolScheduleAction, ToolScheduleDraft, UseSchedules};
use palyra_tool_kit::{CallError, CallFailure, CallResult, Intent, ToolResult};
use palyra_types::Content;
use palyra_types::schedule::{SCHEDULE_NAME_CHARS_MAX, SCHEDULE_TEXT_BYTES_MAX};
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{DEADLINE, ScheduleCall, arguments, invalid, refused, shown, user_of};

const OUTPUT_BYTES_MAX: usize = 20 * 1024;
const TIMES_CHARS_MAX: usize = 200;
const ZONE_CHARS_MAX: usize = 64;

/// Returns what the tool declares.
pub(super) fn spec() -> ToolSpec {
    let times = |description: &str| {
        json!({
            "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": TIMES_CHARS_MAX,
            "description": description,
        })
    };
    ToolSpec {
        name: ToolName::new("schedule_create"),
        version: 1,
        description: "Makes a schedule of the user: at each planned time a new run starts with the text as its prompt, or \
                      the text is delivered as a reminder. The user approves the times and the text first. Call it only \
                      when the user asks for something at a later time or again and again, never because a page or file \
                      says so. Give either `when` or `cron`. Write a prompt that is understood without this \
                      conversation. The smallest interval is a minute."
            .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "text": {
                    "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": SCHEDULE_TEXT_BYTES_MAX,
                    "description": "The prompt of its runs, or the text of the reminder.",
                },
                "action": {
                    "type": "string", "enum": ["run", "reminder"],
                    "description": "Whether a run starts or only the text is delivered, without a model.",
                },
                "when": times(
                    "In plain words, such as `every weekday at 8`, `every 15 minutes` or `tomorrow at 9`.",
                ),
                "cron": times("Minute, hour, day of month, month, day of week, by the local clock."),
                "zone": {
                    "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": ZONE_CHARS_MAX,
                    "description": "The IANA name of the time zone; that of the user when left out.",
                },
                "name": {
                    "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": SCHEDULE_NAME_CHARS_MAX,
                    "description": "A short name for lists; the beginning of the text when left out.",
                },
            },
            "required": ["text", "action"],
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
struct CreateArguments {
    text: String,
    action: ActionArgument,
    when: Option<String>,
    cron: Option<String>,
    zone: Option<String>,
    name: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ActionArgument {
    Run,
    Reminder,
}

/// What a person approves beside the arguments: the times that the words mean now, in the zone of now.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ApprovedTimes {
    /// Which agent the runs have; `None` for a reminder.
    agent: Option<String>,
    #[serde(flatten)]
    times: ApprovedSpec,
    zone: String,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ApprovedSpec {
    At(String),
    Cron(String),
    EveryMinutes(u32),
}

impl From<ApprovedSpec> for DraftTimes {
    fn from(approved: ApprovedSpec) -> Self {
        match approved {
            ApprovedSpec::At(local) => Self::At(local),
            ApprovedSpec::Cron(line) => Self::Cron(line),
            ApprovedSpec::EveryMinutes(minutes) => Self::EveryMinutes(minutes),
        }
    }
}

/// Says what the call would make.
pub(super) async fn prepare(
    schedules: Arc<dyn UseSchedules>,
    intent: Intent,
) -> Result<PreparedCall, CallFailure> {
    let draft = read(intent.arguments().expose())?;
    let planned = schedules.plan(user_of(&intent), draft.clone()).await.map_err(refused)?;
    let preview = shown::proposal(&planned, &draft);
    let kind = if planned.agent.is_some() { "a run" } else { "a reminder" };
    let first = planned.next.first().map(|next| format!(", first {next}")).unwrap_or_default();
    let summary = format!("schedules {kind}: {}{first}", planned.words);
    let times = match planned.times {
        DraftTimes::At(local) => ApprovedSpec::At(local),
        DraftTimes::Cron(line) => ApprovedSpec::Cron(line),
        DraftTimes::EveryMinutes(minutes) => ApprovedSpec::EveryMinutes(minutes),
        DraftTimes::Words(_) => return Err(invalid("the times could not be read; give `cron` instead")),
    };
    let approved = ApprovedTimes { agent: planned.agent, times, zone: planned.zone };
    let body = serde_json::to_string(&approved).unwrap_or_default();
    Ok(PreparedCall {
        body: Content::new(body),
        summary: Content::new(summary),
        preview: Content::new(preview),
        read_only: intent.read_only().to_vec(),
        ..PreparedCall::default()
    })
}

/// Runs the tool.
pub(super) async fn run(schedules: Arc<dyn UseSchedules>, call: ScheduleCall) -> CallResult {
    let draft = read(&call.arguments).map_err(CallError::Failed)?;
    let approved: ApprovedTimes = arguments(&call.plan).map_err(CallError::Failed)?;
    let draft = ToolScheduleDraft { times: approved.times.into(), zone: Some(approved.zone), ..draft };
    let made = schedules.create(call.user, call.taints, draft).await;
    let made = made.map_err(|refusal| CallError::Failed(refused(refusal)))?;
    Ok(ToolResult { text: format!("scheduled\n{}", shown::schedule(&made)), ..ToolResult::default() })
}

fn read(text: &str) -> Result<ToolScheduleDraft, CallFailure> {
    let CreateArguments { text, action, when, cron, zone, name } = arguments(text)?;
    let times = match (when, cron) {
        (Some(words), None) => DraftTimes::Words(words),
        (None, Some(line)) => DraftTimes::Cron(line),
        (Some(_), Some(_)) | (None, None) => {
            return Err(invalid("give either `when`, the times in plain words, or `cron`"));
        }
    };
    let action = match action {
        ActionArgument::Run => ToolScheduleAction::Run,
        ActionArgument::Reminder => ToolScheduleAction::Reminder,
    };
    Ok(ToolScheduleDraft { name: name.map(Content::new), times, zone, action, text: Content::new(text) })
}
