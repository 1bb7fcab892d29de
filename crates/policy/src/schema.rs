//! Fits arguments to a tool's JSON Schema, and says how to mend what does not fit.
//!
//! Owns the compiled validator of one tool. Invariant: a complaint names places (JSON pointers) and the
//! schema's demands, and never repeats the values it was given.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::quote::{listed, quoted};

const COMPLAINTS_MAX: usize = 3;
const POINTER_CHARS_MAX: usize = 120;
const PROPERTIES_SHOWN_MAX: usize = 20;

/// The compiled schema of one tool's arguments.
#[derive(Debug)]
pub(crate) struct ArgumentsSchema {
    validator: Validator,
    synopsis: String,
}

impl ArgumentsSchema {
    /// Compiles a schema; references to anything outside it are errors.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        Ok(Self { validator: compile(schema)?, synopsis: synopsis(schema) })
    }

    /// Returns what is wrong with `arguments` and how to mend it, or nothing when they fit.
    pub(crate) fn complaint(&self, arguments: &Value) -> Option<String> {
        let text = violations(&self.validator, arguments, "the arguments")?;
        Some(format!("{text}. It takes {}", self.synopsis))
    }
}

/// Compiles a schema; references to anything outside it are errors.
pub(crate) fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        // A linear-time engine: a pattern and a hostile value cannot make the judge spin.
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|cause| cause.to_string())
}

/// Returns what is wrong with a value, or nothing when it fits; `whole` is what to call it at its root.
pub(crate) fn violations(validator: &Validator, value: &Value, whole: &str) -> Option<String> {
    if validator.is_valid(value) {
        return None;
    }
    let mut complaints: Vec<String> =
        validator.iter_errors(value).map(|error| describe(&error, whole)).collect();
    complaints.sort();
    complaints.dedup();
    let hidden = complaints.len().saturating_sub(COMPLAINTS_MAX);
    complaints.truncate(COMPLAINTS_MAX);
    let mut text = complaints.join("; ");
    if hidden > 0 {
        text.push_str(&format!("; and {hidden} more"));
    }
    Some(text)
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the library's kinds are many and grow; the rest reads well as it is"
)]
fn describe(error: &ValidationError<'_>, whole: &str) -> String {
    let pointer = error.instance_path().to_string();
    let place = if pointer.is_empty() { whole.to_owned() } else { quoted(&pointer, POINTER_CHARS_MAX) };
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            format!("{place}: unknown {}", listed(unexpected.iter().map(String::as_str), 5))
        }
        ValidationErrorKind::Required { property } => {
            format!("{place}: {} is missing", quoted(property.as_str().unwrap_or_default(), 64))
        }
        ValidationErrorKind::Type { kind } => {
            let wanted = match kind {
                TypeKind::Single(kind) => kind.to_string(),
                TypeKind::Multiple(kinds) => {
                    kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
                }
            };
            format!("{place}: must be of type {wanted}")
        }
        _ => format!("{place}: {}", error.masked_with("the value")),
    }
}

/// One line that says what the tool takes, such as "`path` (string, required), `from` (integer)".
fn synopsis(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "an object".to_owned();
    };
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|n| n.as_str() == Some(name)))
    };
    let mut shown: Vec<(bool, String)> = properties
        .iter()
        .map(|(name, property)| {
            let kind = property.get("type").and_then(Value::as_str).unwrap_or("any");
            let need = if required(name) { ", required" } else { "" };
            (!required(name), format!("{} ({kind}{need})", quoted(name, 64)))
        })
        .collect();
    if shown.is_empty() {
        return "no arguments: send {}".to_owned();
    }
    shown.sort();
    shown.truncate(PROPERTIES_SHOWN_MAX);
    shown.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(arguments: &Value, expect: &str) {
        let schema = ArgumentsSchema::compile(&json!({
            "type": "object", "additionalProperties": false, "required": ["path"],
            "properties": {
                "path": {"type": "string", "minLength": 1, "maxLength": 8},
                "from": {"type": "integer", "minimum": 1},
                "mode": {"enum": ["fast", "slow"]},
            },
        }))
        .expect("schema");
        assert_eq!(schema.complaint(arguments).unwrap_or_default(), expect);
    }

    #[test]
    fn a_complaint_names_the_place_and_the_mend_and_no_value() {
        let takes = ". It takes `path` (string, required), `from` (integer), `mode` (any)";
        check(&json!({"path": "a", "from": 3}), "");
        check(&json!({"path": "a", "from": 3.0}), "");
        check(&json!({}), &format!("the arguments: `path` is missing{takes}"));
        check(&json!({"path": 7}), &format!("`/path`: must be of type string{takes}"));
        check(
            &json!({"path": "a", "approved": true, "isOwner": true}),
            &format!("the arguments: unknown `approved`, `isOwner`{takes}"),
        );
        check(
            &json!({"path": "a", "from": 0}),
            &format!("`/from`: the value is less than the minimum of 1{takes}"),
        );
        check(
            &json!({"path": "canary-canary-canary"}),
            &format!("`/path`: the value is longer than 8 characters{takes}"),
        );
        check(
            &json!({"path": "a", "mode": "canary"}),
            &format!("`/mode`: the value is not one of \"fast\" or \"slow\"{takes}"),
        );
    }

    #[test]
    fn several_complaints_come_in_one_order() {
        for _ in 0..8 {
            check(
                &json!({"path": 1, "from": "x", "mode": 1, "extra": 1}),
                "`/from`: must be of type integer; `/mode`: the value is not one of \"fast\" or \"slow\"; \
                 `/path`: must be of type string; and 1 more. \
                 It takes `path` (string, required), `from` (integer), `mode` (any)",
            );
        }
    }

    #[test]
    fn a_schema_that_reaches_outside_itself_does_not_compile() {
        assert!(ArgumentsSchema::compile(&json!({"$ref": "https://example.com/schema.json"})).is_err());
        assert!(ArgumentsSchema::compile(&json!({"$ref": "file:///etc/passwd"})).is_err());
        assert!(ArgumentsSchema::compile(&json!({"type": "no such type"})).is_err());
    }
}
