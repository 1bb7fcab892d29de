//! Checks a request as strictly as OpenAI does, for a client that has nothing stored there.

use serde_json::{Value, json};

use super::items;
use crate::schema::{self, is_name};

/// What OpenAI takes at the top level of a request.
const FIELDS: [&str; 29] = [
    "background",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];
/// The smallest cap on an answer.
const OUTPUT_TOKENS_MIN: u64 = 16;
/// What can be asked for beside the output.
const INCLUDED: [&str; 2] = ["reasoning.encrypted_content", "message.output_text.logprobs"];

/// Returns what is wrong with a body, if anything.
pub(crate) fn complaint(body: &Value) -> Option<String> {
    let stranger = body.as_object()?.keys().find(|name| !FIELDS.contains(&name.as_str()));
    if let Some(name) = stranger {
        return Some(format!("Unknown parameter: '{name}'."));
    }
    if body["model"].as_str().unwrap_or_default().is_empty() {
        return Some("Missing required parameter: 'model'.".to_owned());
    }
    let cap = &body["max_output_tokens"];
    if !cap.is_null() && cap.as_u64().is_none_or(|tokens| tokens < OUTPUT_TOKENS_MIN) {
        return Some(format!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {OUTPUT_TOKENS_MIN}, but got {cap} instead."
        ));
    }
    let included = body["include"].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(odd) = included.iter().find(|what| !INCLUDED.iter().any(|known| *what == known)) {
        return Some(format!("Invalid value: {odd}. Supported values are: {INCLUDED:?}."));
    }
    tools(body).or_else(|| text(&body["text"])).or_else(|| items::complaint(body))
}

fn tools(body: &Value) -> Option<String> {
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let flaw = |(at, tool): (usize, &Value)| {
        let fields = ["type", "name", "description", "parameters", "strict"];
        let stranger = tool.as_object()?.keys().find(|name| !fields.contains(&name.as_str()));
        if let Some(name) = stranger {
            return Some(format!("Unknown parameter: 'tools[{at}].{name}'."));
        }
        let is_function = tool["type"] == "function" && is_name(tool["name"].as_str().unwrap_or_default());
        let is_whole = tool["parameters"].is_object() && tool["strict"].is_boolean();
        (!is_function || !is_whole).then(|| format!("Invalid value: 'tools[{at}]'."))
    };
    let choice = &body["tool_choice"];
    if choice.is_object() && !tools.iter().any(|tool| tool["name"] == choice["name"]) {
        return Some("Tool choice 'function' not found in 'tools' parameter.".to_owned());
    }
    tools.iter().enumerate().find_map(flaw)
}

fn text(text: &Value) -> Option<String> {
    let stranger = text.as_object()?.keys().find(|name| !["format", "verbosity"].contains(&name.as_str()));
    if let Some(name) = stranger {
        return Some(format!("Unknown parameter: 'text.{name}'."));
    }
    let format = text.get("format")?;
    schema::complaint(&json!({"type": format["type"], "json_schema": format}))
}

#[cfg(test)]
mod tests;
