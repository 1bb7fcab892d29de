//! Checks a request as strictly as OpenAI does.
//!
//! Above all: every call in the history is answered by exactly one result, right behind it. Other
//! vendors than OpenAI pass over fields they do not know.

use serde_json::Value;

use crate::exchange::Vendor;
use crate::image::{ImageFlaw, MEDIA_TYPES, data_url, flaw};
use crate::schema::{self, is_name};

/// What OpenAI takes at the top level of a request.
const FIELDS: [&str; 37] = [
    "messages",
    "model",
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "modalities",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

/// Returns what is wrong with a body, if anything.
pub(crate) fn complaint(vendor: Vendor, body: &Value) -> Option<String> {
    let model = body.get("model").and_then(Value::as_str).unwrap_or_default();
    if model.is_empty() {
        return Some("you must provide a model parameter".to_owned());
    }
    let messages = body.get("messages").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if messages.is_empty() {
        return Some("[] is too short - 'messages'".to_owned());
    }
    if let Some(tools) = body.get("tools") {
        let tools = tools.as_array().map_or(&[][..], Vec::as_slice);
        if tools.is_empty() || !tools.iter().all(is_tool) {
            return Some("invalid 'tools'".to_owned());
        }
    }
    options(vendor, body)
        .or_else(|| body.get("response_format").and_then(schema::complaint))
        .or_else(|| unpaired(messages))
        .or_else(|| messages.iter().enumerate().find_map(|(at, message)| content(at, message)))
}

fn options(vendor: Vendor, body: &Value) -> Option<String> {
    let stranger = body.as_object()?.keys().find(|name| !FIELDS.contains(&name.as_str()));
    if let Some(name) = stranger.filter(|_| vendor == Vendor::OpenAi) {
        return Some(format!("Unrecognized request argument supplied: {name}"));
    }
    if body.get("stream_options").is_some_and(|options| !options.is_null()) && body["stream"] != true {
        return Some("The 'stream_options' parameter is only allowed when 'stream' is enabled.".to_owned());
    }
    let caps =
        ["max_tokens", "max_completion_tokens"].map(|name| body.get(name).filter(|cap| !cap.is_null()));
    if caps.iter().flatten().any(|cap| cap.as_u64().is_none_or(|tokens| tokens == 0)) {
        return Some("Invalid 'max_tokens': integer below minimum value. Expected a value >= 1.".to_owned());
    }
    let twice = caps.iter().all(Option::is_some);
    twice.then(|| {
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.".to_owned()
    })
}

/// Checks the parts of a message: only a user shows images.
fn content(at: usize, message: &Value) -> Option<String> {
    let parts = message["content"].as_array()?;
    if parts.is_empty() {
        return Some(format!("Invalid 'messages[{at}].content': empty array."));
    }
    let by_user = message["role"] == "user";
    parts.iter().enumerate().find_map(|(part_at, part)| {
        let place = format!("messages[{at}].content[{part_at}]");
        match part["type"].as_str().unwrap_or_default() {
            "text" | "refusal" => part["text"]
                .as_str()
                .or(part["refusal"].as_str())
                .is_none()
                .then(|| format!("Missing required parameter: '{place}.text'.")),
            "image_url" if by_user => image(&place, &part["image_url"]),
            "input_audio" | "file" if by_user => None,
            other => Some(format!("Invalid value: '{other}' in '{place}.type'.")),
        }
    })
}

fn image(place: &str, image: &Value) -> Option<String> {
    let Some(url) = image["url"].as_str() else {
        return Some(format!("Missing required parameter: '{place}.image_url.url'."));
    };
    let detail = image
        .get("detail")
        .is_none_or(|detail| ["auto", "low", "high", "original"].iter().any(|known| detail == known));
    if !detail {
        return Some(format!("Invalid value for '{place}.image_url.detail'."));
    }
    if url.starts_with("https://") {
        return None;
    }
    let Some((media_type, data)) = data_url(url) else {
        return Some(format!(
            "Invalid '{place}.image_url.url': expected a base64-encoded data URL with an image MIME type."
        ));
    };
    Some(match flaw(media_type, data)? {
        ImageFlaw::MediaType => format!(
            "You uploaded an unsupported image. Please make sure your image is of one the following formats: {MEDIA_TYPES:?}."
        ),
        ImageFlaw::Base64 | ImageFlaw::Empty => format!("Invalid base64 image_url in '{place}'."),
        ImageFlaw::TooLarge(bytes) => {
            format!("The image in '{place}' has {bytes} bytes, which is too large.")
        }
        ImageFlaw::NoImage => "The image data you provided does not represent a valid image.".to_owned(),
        ImageFlaw::Lies(real) => format!("The image in '{place}' is called {media_type} and is {real}."),
    })
}

fn is_tool(tool: &Value) -> bool {
    let name = tool.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
    tool["type"] == "function"
        && is_name(name)
        && tool.pointer("/function/parameters").is_some_and(Value::is_object)
}

fn unpaired(messages: &[Value]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if role == "tool" {
            let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
            let Some(place) = open.iter().position(|known| *known == id) else {
                return Some(format!("messages[{at}] with role 'tool' answers no preceding 'tool_calls'"));
            };
            open.remove(place);
        } else if !open.is_empty() {
            return Some(format!(
                "messages[{at}]: 'tool_calls' must be followed by tool messages for each id"
            ));
        }
        let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let content = message.get("content");
        let speaks = content.is_some_and(|content| content.is_string() || content.is_array());
        let known = matches!(role, "system" | "developer" | "user" | "assistant" | "tool");
        let is_empty = !speaks && calls.is_empty();
        if !known || is_empty {
            return Some(format!("invalid messages[{at}]"));
        }
        for call in calls {
            let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            let arguments = call.pointer("/function/arguments").is_some_and(Value::is_string);
            let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
            if !is_name(name) || !arguments || id.is_empty() || open.contains(&id) {
                return Some(format!("invalid messages[{at}].tool_calls"));
            }
            open.push(id);
        }
    }
    (!open.is_empty()).then(|| "'tool_calls' without tool messages".to_owned())
}

#[cfg(test)]
mod tests;
