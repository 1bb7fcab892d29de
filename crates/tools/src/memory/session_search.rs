//! `session_search`: the person's own conversations whose title or inputs hold some words.

use std::sync::Arc;

use palyra_ports::search_memories::{FoundSession, UseMemories};
use palyra_tool_kit::{CallResult, ToolResult, WholeNumber};
use palyra_types::Content;
use palyra_types::tool::ToolSpec;
use serde::Deserialize;
use serde_json::json;

use super::search_tool::{ResultLimit, SearchTool, listed};
use super::{MemoryRequest, refused, shown};

const QUERY_CHARS_MAX: usize = 200;
const SESSIONS: ResultLimit = ResultLimit { usual: 10, max: 30 };
const OUTPUT_BYTES_MAX: usize = 32 * 1024;

/// Returns what the tool declares.
pub(super) fn spec() -> ToolSpec {
    let tool = SearchTool {
        name: "session_search",
        description: "Looks for earlier conversations of the user by the words of their title or of what the user \
                      said, newest first: id, day, title, and how they began.",
        schema: json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string", "x-palyra-meaning": "text", "minLength": 1, "maxLength": QUERY_CHARS_MAX,
                    "description": "Words; a conversation is found when it has all of them.",
                },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": SESSIONS.max,
                    "description": "How many conversations at most; 10 when left out.",
                },
            },
            "required": ["query"],
            "additionalProperties": false,
        }),
        output_bytes_max: OUTPUT_BYTES_MAX,
    };
    tool.spec()
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
    let limit = SESSIONS.of(arguments.limit);
    let found =
        memory.search_sessions(asked.call, Content::new(arguments.query), limit).await.map_err(refused)?;
    let head = match found.len() {
        0 => "no conversation has these words".to_owned(),
        1 => "1 conversation".to_owned(),
        count => format!("{count} conversations"),
    };
    let text = listed(head, found.iter().map(line));
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
