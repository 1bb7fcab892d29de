//! Lists the earlier inputs of the session, as far as the request contains them.

use palyra_types::model::{ChatMessage, ModelRequest};

use super::conversation::begin;
use super::extract::clip;
use super::references::is_shown_material;

/// Inputs that are listed, at most: the last ones.
const INPUTS_MAX: usize = 10;
const INPUT_CHARS_MAX: usize = 200;

/// Returns the person's earlier inputs, the oldest first.
pub(super) fn recalled(request: &ModelRequest) -> String {
    let upto = begin(&request.messages).unwrap_or(0);
    let inputs: Vec<String> = request.messages[..upto]
        .iter()
        .filter_map(|message| match message {
            ChatMessage::User { text, .. } if is_shown_material(text.expose()) => None,
            ChatMessage::User { text, .. } => Some(clip(text.expose(), INPUT_CHARS_MAX)),
            ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => None,
        })
        .collect();
    if inputs.is_empty() {
        return "I do not see an earlier input: this is the first that reaches me in this session. `palyra sessions list` \
                shows the others."
            .to_owned();
    }
    let left_out = inputs.len().saturating_sub(INPUTS_MAX);
    let lines: Vec<String> = inputs[left_out..].iter().map(|input| format!("- {input}")).collect();
    let more = if left_out > 0 { format!("\n{left_out} earlier ones are not shown.") } else { String::new() };
    format!("In this session you asked before:\n{}{more}", lines.join("\n"))
}
