//! The draft of a `SKILL.md` for a procedure.
//!
//! Arguments that were the same each time are shown as they are; of the others only their type is.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::procedures::RepeatedSequence;

const NAME_CHARS_MAX: usize = 64;
const VALUE_CHARS_MAX: usize = 400;
const TOOL_CHARS_MAX: usize = 64;

/// Returns the draft.
pub(crate) fn skill_draft(sequence: &RepeatedSequence<'_>) -> String {
    let Some(latest) = sequence.occurrences.last() else { return String::new() };
    let keys: Vec<&str> = latest.iter().map(|step| step.key.0.as_str()).collect();
    let tools: BTreeSet<String> = latest.iter().map(|step| tool_name(&step.call.tool)).collect();
    let mut draft = format!("---\nname: {}\n", skill_name(&keys));
    let times = sequence.occurrences.len();
    draft.push_str(&format!("description: \"{} steps that were done {times} times\"\n", keys.len()));
    draft.push_str("allowed-tools:\n");
    for tool in tools {
        draft.push_str(&format!("  - \"{tool}\"\n"));
    }
    draft.push_str("---\n\n# Steps\n\n");
    for at in 0..latest.len() {
        let shapes = sequence.occurrences.iter().map(|steps| &steps[at].arguments);
        let shape = shapes.cloned().reduce(|first, next| common_shape(&first, &next)).unwrap_or_default();
        let shape: String = shape.to_string().chars().take(VALUE_CHARS_MAX).collect();
        draft.push_str(&format!("{}. `{}` with `{}`\n", at + 1, visible(keys[at]), visible(&shape)));
    }
    draft.push_str("\nA value such as `<text>` differs each time: take it from the input. Stop when a step fails, and say so.\n");
    draft
}

fn tool_name(tool: &str) -> String {
    visible(tool)
        .chars()
        .filter(|letter| !matches!(letter, '"' | '\\' | ' ' | ','))
        .take(TOOL_CHARS_MAX)
        .collect()
}

/// Replaces what would end a code span or a line.
fn visible(text: &str) -> String {
    let is_seen = |letter: char| letter.is_ascii_graphic() || letter == ' ' || letter.is_alphanumeric();
    text.chars().map(|letter| if is_seen(letter) && letter != '`' { letter } else { ' ' }).collect()
}

fn skill_name(keys: &[&str]) -> String {
    let mut name = String::new();
    for letter in keys.join("-").chars() {
        if letter.is_ascii_alphanumeric() {
            name.push(letter.to_ascii_lowercase());
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
        if name.len() >= NAME_CHARS_MAX {
            break;
        }
    }
    let name = name.trim_matches('-');
    if name.is_empty() { "procedure".to_owned() } else { name.to_owned() }
}

/// Returns what two arguments have in common.
fn common_shape(first: &Value, next: &Value) -> Value {
    match (first, next) {
        (Value::Object(first), Value::Object(next)) => {
            let mut shape = serde_json::Map::new();
            for (name, value) in first {
                if let Some(other) = next.get(name) {
                    shape.insert(name.clone(), common_shape(value, other));
                }
            }
            Value::Object(shape)
        }
        (Value::Array(first), Value::Array(next)) if first.len() == next.len() => {
            first.iter().zip(next).map(|(value, other)| common_shape(value, other)).collect()
        }
        (first, next) if first == next => first.clone(),
        (first, _) => Value::String(format!("<{}>", type_word(first))),
    }
}

fn type_word(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}
