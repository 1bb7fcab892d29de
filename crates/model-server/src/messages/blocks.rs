//! The rules of one block of content.

use serde_json::Value;

use super::verdict::{RequestVerdict, is_tool_name, known_fields, wrong};
use crate::image::{IMAGE_BYTES_MAX, ImageFlaw, flaw};
use crate::signature::{is_sealed, sign};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

/// Checks a block of a message.
pub(super) fn check(place: &str, role: Role, model: &str, block: &Value) -> RequestVerdict {
    use Role::{Assistant, User};
    let kind = block["type"].as_str().unwrap_or_default();
    match (kind, role) {
        ("text", _) => text(place, block),
        ("image", User) => image(place, block),
        ("document", User) => source(place, block),
        ("tool_result", User) => tool_result(place, block),
        ("tool_use", Assistant) => tool_use(place, block),
        ("thinking", Assistant) => thinking(place, model, block),
        ("redacted_thinking", Assistant) => {
            fields(place, block, &["type", "data"])?;
            if is_sealed(model, block["data"].as_str().unwrap_or_default()) {
                return Ok(());
            }
            wrong(format!("{place}: Invalid `data` in `redacted_thinking` block"))
        }
        ("image" | "document" | "tool_result", Assistant) => {
            wrong(format!("{place}: `{kind}` blocks can only be in `user` messages"))
        }
        ("tool_use" | "thinking" | "redacted_thinking", User) => {
            wrong(format!("{place}: `{kind}` blocks can only be in `assistant` messages"))
        }
        _ => wrong(format!(
            "{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        )),
    }
}

/// Checks a block of text.
pub(super) fn text(place: &str, block: &Value) -> RequestVerdict {
    fields(place, block, &["type", "text", "cache_control", "citations"])?;
    match block["text"].as_str() {
        None => wrong(format!("{place}.text.text: Field required")),
        Some("") => wrong("messages: text content blocks must be non-empty".to_owned()),
        Some(text) if text.trim().is_empty() => {
            wrong("messages: text content blocks must contain non-whitespace text".to_owned())
        }
        Some(_) => Ok(()),
    }
}

fn tool_use(place: &str, block: &Value) -> RequestVerdict {
    fields(place, block, &["type", "id", "name", "input", "cache_control", "caller"])?;
    let id = block["id"].as_str().unwrap_or_default();
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        return wrong(format!("{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"));
    }
    if !is_tool_name(block["name"].as_str().unwrap_or_default()) {
        return wrong(format!(
            "{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        ));
    }
    if !block["input"].is_object() {
        return wrong(format!("{place}.tool_use.input: Input should be a valid dictionary"));
    }
    Ok(())
}

fn tool_result(place: &str, block: &Value) -> RequestVerdict {
    fields(place, block, &["type", "tool_use_id", "content", "is_error", "cache_control"])?;
    let failed = match block.get("is_error") {
        None => false,
        Some(Value::Bool(failed)) => *failed,
        Some(_) => return wrong(format!("{place}.tool_result.is_error: Input should be a valid boolean")),
    };
    let is_empty = match block.get("content") {
        None => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(parts)) => {
            for (at, part) in parts.iter().enumerate() {
                let inner = format!("{place}.tool_result.content.{at}");
                match part["type"].as_str() {
                    Some("text") => text(&inner, part)?,
                    Some("image") => image(&inner, part)?,
                    Some("document") => source(&inner, part)?,
                    _ => return wrong(format!("{inner}: Input tag does not match any of the expected tags")),
                }
            }
            parts.is_empty()
        }
        Some(_) => return wrong(format!("{place}.tool_result.content: Input should be a valid list")),
    };
    if failed && is_empty {
        return wrong(format!("{place}.tool_result: content cannot be empty if `is_error` is true"));
    }
    Ok(())
}

/// Reasoning comes back byte by byte as it was given out, or not at all.
fn thinking(place: &str, model: &str, block: &Value) -> RequestVerdict {
    fields(place, block, &["type", "thinking", "signature"])?;
    let Some(thought) = block["thinking"].as_str() else {
        return wrong(format!("{place}.thinking.thinking: Field required"));
    };
    match block["signature"].as_str() {
        None => wrong(format!("{place}.thinking.signature: Field required")),
        Some(signature) if signature == sign(model, thought) => Ok(()),
        Some(_) => wrong(format!("{place}: Invalid `signature` in `thinking` block")),
    }
}

fn source(place: &str, block: &Value) -> RequestVerdict {
    if block["source"]["type"].is_string() {
        return Ok(());
    }
    wrong(format!("{place}.{}.source: Field required", block["type"].as_str().unwrap_or_default()))
}

fn image(place: &str, block: &Value) -> RequestVerdict {
    fields(place, block, &["type", "source", "cache_control", "transformations"])?;
    source(place, block)?;
    let text = |field: &str| block["source"][field].as_str().unwrap_or_default();
    let place = format!("{place}.image.source");
    match text("type") {
        "base64" => fields(&place, &block["source"], &["type", "media_type", "data"])?,
        "url" if text("url").starts_with("https://") => return Ok(()),
        "url" => return wrong(format!("{place}.url: Only HTTPS URLs are supported.")),
        "file" => return Ok(()),
        _ => return wrong(format!("{place}: Input tag does not match any of the expected tags")),
    }
    let media_type = text("media_type");
    match flaw(media_type, text("data")) {
        None => Ok(()),
        Some(ImageFlaw::MediaType) => wrong(format!(
            "{place}.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
        )),
        Some(ImageFlaw::Base64) => wrong(format!("{place}.base64.data: Invalid base64 data")),
        Some(ImageFlaw::Empty) => wrong(format!("{place}.base64: image cannot be empty")),
        Some(ImageFlaw::NoImage) => wrong("Could not process image".to_owned()),
        Some(ImageFlaw::TooLarge(bytes)) => wrong(format!(
            "{place}.base64: image exceeds 5 MB maximum: {bytes} bytes > {IMAGE_BYTES_MAX} bytes"
        )),
        Some(ImageFlaw::Lies(real)) => wrong(format!(
            "{place}.base64: The image was specified using the {media_type} media type, but the image appears to be a {real} image"
        )),
    }
}

fn fields(place: &str, block: &Value, known: &[&str]) -> RequestVerdict {
    let kind = block["type"].as_str().unwrap_or_default();
    let names = block.as_object().into_iter().flat_map(serde_json::Map::keys);
    known_fields(&format!("{place}.{kind}"), names, known)
}
