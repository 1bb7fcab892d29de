//! Where the present request begins in a conversation, and what came of it so far.
//!
//! A person's words that answer a question of the model belong to the request in which it was asked.

use std::collections::BTreeMap;

use palyra_types::model::{ChatMessage, ToolResultStatus};
use serde_json::Value;

use super::extract::ToolFinding;
use super::intent::ToolAbility;

/// Returns the place of the input that is being worked on.
pub(super) fn begin(messages: &[ChatMessage]) -> Option<usize> {
    let mut upto = messages.len();
    loop {
        let at = messages[..upto].iter().rposition(|message| matches!(message, ChatMessage::User { .. }))?;
        if !answers_question(&messages[..at]) {
            return Some(at);
        }
        upto = at;
    }
}

/// Returns whether what comes next answers a question.
fn answers_question(before: &[ChatMessage]) -> bool {
    let results = before.iter().rev().map_while(|message| match message {
        ChatMessage::ToolResult { tool, status, .. } => Some((tool, status)),
        ChatMessage::User { .. } | ChatMessage::Assistant { .. } => None,
    });
    let mut results = results.map(|(tool, status)| {
        tool.as_str() == ToolAbility::Ask.tool() && *status == ToolResultStatus::Succeeded
    });
    results.any(|is_answered| is_answered)
}

/// Collects the tool results since then, each with what was asked for.
pub(super) fn findings(messages: &[ChatMessage]) -> Vec<ToolFinding> {
    let from = begin(messages).unwrap_or(0);
    let mut asked: BTreeMap<&str, Value> = BTreeMap::new();
    let mut out: Vec<ToolFinding> = Vec::new();
    for message in &messages[from..] {
        match message {
            ChatMessage::User { text, .. } => {
                let question =
                    out.iter_mut().rev().find(|finding| finding.tool.as_str() == ToolAbility::Ask.tool());
                if let Some(question) = question {
                    question.text = text.expose().clone();
                }
            }
            ChatMessage::Assistant { calls, .. } => {
                for call in calls {
                    let arguments = serde_json::from_str(call.arguments.expose()).unwrap_or_default();
                    asked.insert(&call.call.0, arguments);
                }
            }
            ChatMessage::ToolResult { call, tool, text, status, .. } => out.push(ToolFinding {
                tool: tool.clone(),
                arguments: asked.get(call.0.as_str()).cloned().unwrap_or_default(),
                text: text.expose().clone(),
                failed: *status != ToolResultStatus::Succeeded,
            }),
        }
    }
    out
}
