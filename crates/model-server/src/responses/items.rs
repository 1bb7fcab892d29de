//! The rules of a conversation's items: calls and outputs are paired, and reasoning comes back as it was given.

use serde_json::Value;

use super::wire::sealed;
use crate::image::{data_url, flaw};
use crate::schema::is_name;

/// Returns what is wrong with `input`, if anything.
pub(super) fn complaint(body: &Value) -> Option<String> {
    let items = match &body["input"] {
        Value::String(_) => return None,
        Value::Array(items) if !items.is_empty() => items,
        _ => return Some("Missing required parameter: 'input'.".to_owned()),
    };
    let model = body["model"].as_str().unwrap_or_default();
    let flaw = |(at, item): (usize, &Value)| match kind(item) {
        "message" => {
            fields(at, item, &["type", "id", "role", "content", "status"]).or_else(|| message(at, item))
        }
        "function_call" => fields(at, item, &["type", "id", "call_id", "name", "arguments", "status"])
            .or_else(|| call(at, item)),
        "function_call_output" => fields(at, item, &["type", "id", "call_id", "output", "status"]),
        "reasoning" => fields(at, item, &["type", "id", "summary", "content", "encrypted_content", "status"])
            .or_else(|| reasoning(model, item, items.get(at + 1))),
        other => Some(format!(
            "Invalid value: '{other}'. Supported values are: 'message', 'function_call', 'function_call_output', and 'reasoning'."
        )),
    };
    items.iter().enumerate().find_map(flaw).or_else(|| unpaired(items))
}

/// A message may leave its type out.
fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or(if item["role"].is_string() { "message" } else { "" })
}

fn fields(at: usize, item: &Value, known: &[&str]) -> Option<String> {
    let stranger = item.as_object()?.keys().find(|name| !known.contains(&name.as_str()))?;
    Some(format!("Unknown parameter: 'input[{at}].{stranger}'."))
}

fn message(at: usize, item: &Value) -> Option<String> {
    let role = item["role"].as_str().unwrap_or_default();
    if !matches!(role, "user" | "assistant" | "system" | "developer") {
        return Some(format!("Invalid value: '{role}' in 'input[{at}].role'."));
    }
    let parts = match &item["content"] {
        Value::String(_) => return None,
        Value::Array(parts) if !parts.is_empty() => parts,
        _ => return Some(format!("Invalid type for 'input[{at}].content'.")),
    };
    let by_model = role == "assistant";
    let flaw = |(part_at, part): (usize, &Value)| {
        let place = format!("input[{at}].content[{part_at}]");
        match part["type"].as_str().unwrap_or_default() {
            "input_text" if !by_model => missing(part, "text", &place),
            "output_text" if by_model => missing(part, "text", &place),
            "refusal" if by_model => missing(part, "refusal", &place),
            "input_image" if role == "user" => image(part, &place),
            other => Some(format!("Invalid value: '{other}' in '{place}.type'.")),
        }
    };
    parts.iter().enumerate().find_map(flaw)
}

fn missing(part: &Value, field: &str, place: &str) -> Option<String> {
    part[field].as_str().is_none().then(|| format!("Missing required parameter: '{place}.{field}'."))
}

fn image(part: &Value, place: &str) -> Option<String> {
    let url = part["image_url"].as_str().unwrap_or_default();
    let has_detail = part["detail"].is_string();
    let is_image = data_url(url).is_some_and(|(kind, data)| flaw(kind, data).is_none());
    (!has_detail || !is_image)
        .then(|| format!("Invalid '{place}.image_url'. Expected a valid URL of an image."))
}

fn call(at: usize, item: &Value) -> Option<String> {
    let is_named = is_name(item["name"].as_str().unwrap_or_default());
    let id = item["call_id"].as_str().unwrap_or_default();
    let is_whole = (1..=64).contains(&id.len()) && item["arguments"].is_string();
    (!is_named || !is_whole).then(|| format!("Invalid value: 'input[{at}]'."))
}

/// Reasoning comes back byte by byte as it was given out, before what it led to, or not at all.
fn reasoning(model: &str, item: &Value, next: Option<&Value>) -> Option<String> {
    let id = item["id"].as_str().unwrap_or_default();
    let Some(encrypted) = item["encrypted_content"].as_str() else {
        return Some(format!(
            "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
        ));
    };
    if encrypted != sealed(model, id, &item["summary"]) {
        return Some(format!("The encrypted content for item {id} could not be verified."));
    }
    let leads_on = next.is_some_and(|next| match kind(next) {
        "message" => next["role"] == "assistant",
        "function_call" | "reasoning" => true,
        _ => false,
    });
    (!leads_on)
        .then(|| format!("Item '{id}' of type 'reasoning' was provided without its required following item."))
}

/// Every call has exactly one output behind it, and every output a call before it.
fn unpaired(items: &[Value]) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        let id = item["call_id"].as_str().unwrap_or_default();
        match kind(item) {
            "function_call" if open.contains(&id) => return Some(format!("Duplicate call_id '{id}'.")),
            "function_call" => open.push(id),
            "function_call_output" => match open.iter().position(|known| *known == id) {
                Some(at) => drop(open.remove(at)),
                None => {
                    return Some(format!("No tool call found for function call output with call_id {id}."));
                }
            },
            _ => {}
        }
    }
    open.first().map(|id| format!("No tool output found for function call {id}."))
}
