//! `session_search`: the person's own conversations whose title or inputs hold some words.

use std::sync::Arc;
use std::time::Duration;

use palyra_ports::search_memories::{FoundSession, UseMemories};
use palyra_tool_kit::{CallResult, ToolResult, WholeNumber};
use palyra_types::Content;
use palyra_types::tool::{
    ApprovalRiskLevel, EffectContract, Parallelism, Taints, ToolConduct, ToolName, ToolSpec,
};
use serde::Deserialize;
use serde_json::json;

use super::{MemoryRequest, refused, shown};

const QUERY_CHARS_MAX: usize = 200;
const SESSIONS_DEFAULT: u64 = 10;
const SESSIONS_MAX: u64 = 30;
const OUTPUT_BYTES_MAX: usize = 32 * 1024;
const DEADLINE: Duration = Duration::from_secs(20);

/// Returns what the tool declares.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: ToolName::new("session_search"),
        version: 1,
        description:
            "Looks for earlier conversations of the user by the words of their title or of what the user \
                      said, newest first: id, day, title, and how they began."
                .to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": QUERY_CHARS_MAX,
                    "description": "Words; a conversation is found when it has all of them.",
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": SESSIONS_MAX,
                    "description": "How many conversations at most; 10 when left out.",
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        }),
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
struct SearchArguments {
    query: String,
    limit: Option<WholeNumber>,
}

/// Runs the tool.
pub(super) async fn run(memory: Arc<dyn UseMemories>, asked: MemoryRequest) -> CallResult {
    let arguments: SearchArguments = asked.arguments()?;
    let limit = arguments.limit.map_or(SESSIONS_DEFAULT, |WholeNumber(limit)| limit.clamp(1, SESSIONS_MAX));
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let query = Content::new(arguments.query);
    let found = memory.search_sessions(asked.call, query, limit).await.map_err(refused)?;
    let head = match found.len() {
        0 => "no conversation has these words".to_owned(),
        1 => "1 conversation".to_owned(),
        count => format!("{count} conversations"),
    };
    let lines = std::iter::once(head).chain(found.iter().map(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    Ok(ToolResult { text, ..ToolResult::default() })
}

fn line(session: &FoundSession) -> String {
    let title = match session.title.expose().as_str() {
        "" => String::new(),
        title => format!(" \"{title}\""),
    };
    let first = session.first_input.expose();
    let matched = session.matched.expose();
    let said =
        if matched.is_empty() || matched == first { first.clone() } else { format!("{first} ... {matched}") };
    format!("{} last used {}{title}: {said}", session.session, shown::day(session.updated))
}
