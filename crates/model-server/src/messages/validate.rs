//! Checks a request as strictly as Anthropic does: headers, fields, tools and schemas.
//!
//! Stricter than the vendor in three things, so that a client gets along with older servers of the format
//! too: roles must alternate (the vendor joins neighbours), the last message is the user's (some models
//! take a begun answer), and nothing may be sent that a stable request does not have.

use serde_json::Value;

use super::conversation;
use super::verdict::{RequestVerdict, is_tool_name, known_fields, wrong};
use crate::refusal::Refusal;
use crate::seen_request::SeenRequest;

/// The largest request, in bytes.
const REQUEST_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How long an answer may be asked for.
const OUTPUT_TOKENS_MAX: u64 = 64_000;
const CACHE_CONTROLS_MAX: usize = 4;
const THINKING_TOKENS_MIN: u64 = 1_024;

const FIELDS: [&str; 21] = [
    "cache_control",
    "container",
    "context_management",
    "diagnostics",
    "inference_geo",
    "max_tokens",
    "messages",
    "metadata",
    "model",
    "output_config",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

/// Returns what is wrong with a request, if anything.
pub(crate) fn complaint(request: &SeenRequest) -> Option<Refusal> {
    check(request).err()
}

fn check(request: &SeenRequest) -> RequestVerdict {
    if request.body_bytes > REQUEST_BYTES_MAX {
        return Err(Refusal::new(413, "request_too_large", "Request exceeds the maximum size"));
    }
    let version = match request.header("anthropic-version") {
        None => return wrong("anthropic-version: header is required".to_owned()),
        Some("2023-06-01") => Version::Of2023,
        Some("2026-10-21") => Version::Of2026,
        Some(other) => return wrong(format!("anthropic-version: \"{other}\" is not a valid version")),
    };
    if !request.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        return wrong("content-type: must be application/json".to_owned());
    }
    body(version, &request.body)
}

/// A version of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 2023-06-01.
    Of2023,
    /// 2026-10-21: takes no sampling parameters and no citations from the user any more.
    Of2026,
}

/// Checks a body.
pub(super) fn body(version: Version, body: &Value) -> RequestVerdict {
    let Some(fields) = body.as_object() else {
        return wrong("The request body is not valid JSON".to_owned());
    };
    known_fields("", fields.keys(), &FIELDS)?;
    let gone = ["temperature", "top_p", "top_k"].into_iter().find(|name| fields.contains_key(*name));
    if let Some(name) = gone.filter(|_| version == Version::Of2026) {
        return wrong(format!("{name}: Extra inputs are not permitted"));
    }
    if body["model"].as_str().unwrap_or_default().is_empty() {
        return wrong("model: Field required".to_owned());
    }
    output_cap(body)?;
    thinking(body)?;
    if let Some(tools) = body.get("tools") {
        self::tools(tools)?;
    }
    if body.get("tool_choice").is_some_and(|choice| !choice.is_null()) && body.get("tools").is_none() {
        return wrong("tool_choice: may only be specified while providing tools".to_owned());
    }
    if let Some(config) = body.get("output_config") {
        output_config(config)?;
    }
    let marks = cache_controls(body);
    if marks > CACHE_CONTROLS_MAX {
        return wrong(format!(
            "A maximum of {CACHE_CONTROLS_MAX} blocks with cache_control may be provided. Found {marks}."
        ));
    }
    conversation::check(body)
}

fn output_cap(body: &Value) -> RequestVerdict {
    match body.get("max_tokens").map(Value::as_u64) {
        None => wrong("max_tokens: Field required".to_owned()),
        Some(None | Some(0)) => wrong("max_tokens: Input should be greater than or equal to 1".to_owned()),
        Some(Some(tokens)) if tokens > OUTPUT_TOKENS_MAX => wrong(format!(
            "max_tokens: {tokens} > {OUTPUT_TOKENS_MAX}, which is the maximum allowed number of output tokens"
        )),
        Some(Some(_)) => Ok(()),
    }
}

fn thinking(body: &Value) -> RequestVerdict {
    let Some(thinking) = body.get("thinking") else { return Ok(()) };
    let kind = thinking["type"].as_str().unwrap_or_default();
    match kind {
        "disabled" => return Ok(()),
        "adaptive" => {}
        "enabled" => {
            let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
            if budget < THINKING_TOKENS_MIN {
                return wrong(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
                        .to_owned(),
                );
            }
            if body["max_tokens"].as_u64().is_some_and(|cap| cap <= budget) {
                return wrong("`max_tokens` must be greater than `thinking.budget_tokens`".to_owned());
            }
        }
        _ => return wrong(format!("thinking: Input tag '{kind}' does not match any of the expected tags")),
    }
    if body.get("temperature").is_some_and(|warmth| warmth.as_f64() != Some(1.0)) {
        return wrong("`temperature` may only be set to 1 when thinking is enabled".to_owned());
    }
    match body.pointer("/tool_choice/type").and_then(Value::as_str) {
        Some("any" | "tool") => {
            wrong("Thinking may not be enabled when tool_choice forces tool use.".to_owned())
        }
        _ => Ok(()),
    }
}

fn tools(tools: &Value) -> RequestVerdict {
    const KNOWN: [&str; 9] = [
        "type",
        "name",
        "description",
        "input_schema",
        "cache_control",
        "strict",
        "input_examples",
        "defer_loading",
        "eager_input_streaming",
    ];
    let Some(tools) = tools.as_array() else {
        return wrong("tools: Input should be a valid list".to_owned());
    };
    let mut names = Vec::new();
    for (at, tool) in tools.iter().enumerate() {
        let place = format!("tools.{at}.custom");
        known_fields(&place, tool.as_object().into_iter().flat_map(serde_json::Map::keys), &KNOWN)?;
        let name = tool["name"].as_str().unwrap_or_default();
        if !is_tool_name(name) {
            return wrong(format!("{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"));
        }
        if names.contains(&name) {
            return wrong("tools: Tool names must be unique.".to_owned());
        }
        names.push(name);
        let schema = &tool["input_schema"];
        if schema["type"] != "object" {
            return wrong(format!("{place}.input_schema.type: Input should be 'object'"));
        }
        if ["oneOf", "allOf", "anyOf"].iter().any(|word| schema.get(*word).is_some()) {
            return wrong(format!(
                "{place}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
            ));
        }
    }
    Ok(())
}

fn output_config(config: &Value) -> RequestVerdict {
    let fields = config.as_object().into_iter().flat_map(serde_json::Map::keys);
    known_fields("output_config", fields, &["effort", "format"])?;
    let Some(format) = config.get("format").filter(|format| !format.is_null()) else { return Ok(()) };
    let place = "output_config.format";
    let fields = format.as_object().into_iter().flat_map(serde_json::Map::keys);
    known_fields(place, fields, &["type", "schema"])?;
    if format["type"] != "json_schema" || !format["schema"].is_object() {
        return wrong(format!("{place}.schema: Field required"));
    }
    if !is_closed(&format["schema"]) {
        return wrong(format!(
            "{place}.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
        ));
    }
    Ok(())
}

/// Returns whether every object of a schema refuses properties it does not name.
fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            (schema["type"] != "object" || schema["additionalProperties"] == false)
                && fields.values().all(is_closed)
        }
        Value::Array(all) => all.iter().all(is_closed),
        _ => true,
    }
}

fn cache_controls(value: &Value) -> usize {
    match value {
        Value::Object(fields) => {
            let own = usize::from(fields.get("cache_control").is_some_and(|mark| !mark.is_null()));
            own + fields.values().map(cache_controls).sum::<usize>()
        }
        Value::Array(all) => all.iter().map(cache_controls).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
