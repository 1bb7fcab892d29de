//! The request for a summary: the conversation and the lines to keep are data.

use std::sync::Arc;

use palyra_types::data_delimiter::{DATA_RULE, DataDelimiter};
use palyra_types::model::{ChatMessage, ModelRef, ModelRequest};
use palyra_types::sampling::SamplingOptions;
use palyra_types::tool::ToolCatalog;
use palyra_types::{Content, Redacted};

use super::CompactionTask;
use super::source::attached_text;

/// Bytes of one text of the conversation that are shown, at most.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// The same of a result of a tool.
const RESULT_BYTES_MAX: usize = 2 * 1024;
/// Takes the place of the middle of a longer one.
const CUT: &str = "\n(...)\n";

const KEEP: &str = "\nCopy each line of this part word for word into the list that is named before it.\n";
const SYSTEM: &str = "You sum up the older part of a conversation, so that it can go on without it. You call no tools and \
                      answer no question of the conversation. Answer with four lists and nothing else, each under its \
                      heading, one item in one line that begins with \"- \", and \"- none\" where a list is empty:\n\
                      Pinned:\nDecisions:\nDone:\nOpen:\n\
                      Decisions are what the person wants and chose, with every path and number as it was written. Done \
                      is what was finished and found out. Open is what is left to do or to answer. Name no path and no \
                      number that is not in the conversation. Write in the language of the conversation.";

/// Makes the request.
pub(super) fn request(
    task: &CompactionTask,
    model: ModelRef,
    lines: Redacted<String>,
    delimiters: [DataDelimiter; 2],
) -> ModelRequest {
    let [of_conversation, of_lines] = delimiters;
    let demand = Redacted::from(task.bytes_max() as u64)
        .map(|most| format!("Sum up the conversation in this part of data in at most {most} characters.\n"));
    let mut text = vec![demand, enclosed(conversation(task), "conversation", of_conversation)];
    if !lines.expose().is_empty() {
        text.push(KEEP.into());
        text.push(enclosed(lines, "lines", of_lines));
    }
    ModelRequest {
        model,
        system: Content::new(format!("{SYSTEM}\n\n{DATA_RULE}")),
        messages: vec![ChatMessage::user(text.into_iter().collect())],
        tools: Arc::new(ToolCatalog::default()),
        client_tools: None,
        output_tokens_max: u32::try_from(task.bytes_max() / 2).ok(),
        response_format: None,
        sampling: SamplingOptions::default(),
    }
}

fn enclosed(text: Redacted<String>, origin: &'static str, delimiter: DataDelimiter) -> Redacted<String> {
    let origin = Redacted::<String>::from(origin);
    let nonce = Redacted::from(u64::from_be_bytes(delimiter.0));
    text.zip(origin.zip(nonce))
        .map(|(text, (origin, nonce))| DataDelimiter(nonce.to_be_bytes()).enclose(&origin, &text))
}

fn conversation(task: &CompactionTask) -> Redacted<String> {
    let mut parts = Vec::new();
    if let Some(earlier) = &task.source().earlier {
        parts.extend(["Summary of what was before:\n".into(), earlier.clone()]);
    }
    for message in task.source().messages() {
        match message {
            ChatMessage::User { text, attachments, said: _ } => {
                push(&mut parts, "Person: ", text, TEXT_BYTES_MAX);
                for file in attachments {
                    push(&mut parts, "File: ", &file.attachment.name, RESULT_BYTES_MAX);
                    if let Some(text) = attached_text(&file.attachment) {
                        push(&mut parts, "Text of it: ", text, RESULT_BYTES_MAX);
                    }
                }
            }
            ChatMessage::Assistant { text, calls, continuation: _ } => {
                push(&mut parts, "Model: ", text, TEXT_BYTES_MAX);
                for call in calls {
                    let named = Redacted::<String>::from(&call.tool).map(|tool| format!("{tool} "));
                    let call = [named, call.arguments.clone()].into_iter().collect();
                    push(&mut parts, "Call: ", &call, RESULT_BYTES_MAX);
                }
            }
            ChatMessage::ToolResult { text, .. } => push(&mut parts, "Result: ", text, RESULT_BYTES_MAX),
        }
    }
    parts.into_iter().collect()
}

/// Adds a text with what it is; of a long one the beginning and the end.
fn push(parts: &mut Vec<Redacted<String>>, kind: &'static str, text: &Redacted<String>, bytes_max: usize) {
    let said = text.expose();
    if said.is_empty() {
        return;
    }
    parts.push(kind.into());
    if said.len() <= bytes_max {
        parts.push(text.clone());
    } else {
        let half = bytes_max / 2;
        let (start, _) = text.split_at(said.floor_char_boundary(half));
        let (_, end) = text.split_at(said.ceil_char_boundary(said.len() - half));
        parts.extend([start, CUT.into(), end]);
    }
    parts.push("\n".into());
}
