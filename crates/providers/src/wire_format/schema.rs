//! The schema of a structured answer, as wire formats need it.

use palyra_types::client_tool::ClientTool;
use palyra_types::model::ResponseFormat;
use serde_json::{Value, json};

/// Returns the schema as JSON; one that is none is the schema that anything fits, for the answer is
/// checked against the real one anyway.
pub(crate) fn value(format: &ResponseFormat) -> Value {
    serde_json::from_str(format.schema.expose()).unwrap_or_else(|_| json!({}))
}

/// Returns the schema of the arguments of a client's function; one that was erased is the schema that anything fits.
pub(crate) fn of_client_tool(tool: &ClientTool) -> Value {
    serde_json::from_str(tool.parameters.expose()).unwrap_or_else(|_| json!({"type": "object"}))
}

/// Adds to the instructions what the answer has to look like.
pub(crate) fn instruct(system: &mut String, format: &ResponseFormat) {
    if !system.is_empty() {
        system.push_str("\n\n");
    }
    system.push_str("Answer with one JSON value that fits this JSON Schema, and with nothing else:\n");
    system.push_str(format.schema.expose());
}

/// Returns the schema with every object closed, as some vendors want it; `None` where an object is open on
/// purpose. What fits the closed schema fits the given one too.
pub(crate) fn closed(mut schema: Value) -> Option<Value> {
    close(&mut schema).then_some(schema)
}

fn close(schema: &mut Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_object = fields.get("type").is_some_and(|kind| kind == "object");
            let is_closed = !is_object
                || *fields.entry("additionalProperties").or_insert(Value::Bool(false)) == Value::Bool(false);
            is_closed && fields.values_mut().all(close)
        }
        Value::Array(all) => all.iter_mut().all(close),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_closed_unless_they_are_open_on_purpose() {
        let nested = json!({"type": "object", "properties": {
            "all": {"type": "array", "items": {"type": "object", "additionalProperties": false}},
            "type": {"type": "string"},
        }});
        let found = closed(nested).expect("closed");
        assert_eq!(found["additionalProperties"], false);
        assert_eq!(found.pointer("/properties/type"), Some(&json!({"type": "string"})));
        assert_eq!(
            closed(json!({"properties": {"a": {"type": "object", "additionalProperties": true}}})),
            None
        );
        assert_eq!(closed(json!({"type": "integer"})), Some(json!({"type": "integer"})));
    }
}
