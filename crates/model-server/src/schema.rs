//! What a strict vendor demands of names, and of a schema that an answer is to fit.

use serde_json::Value;

/// Returns what is wrong with `response_format`, if anything.
pub(super) fn complaint(format: &Value) -> Option<String> {
    let kind = format["type"].as_str().unwrap_or_default();
    match kind {
        "text" | "json_object" => return None,
        "json_schema" => {}
        _ => {
            return Some(format!(
                "Invalid value: '{kind}'. Supported values are: 'json_object', 'json_schema', and 'text'."
            ));
        }
    }
    let wanted = &format["json_schema"];
    let name = wanted["name"].as_str().unwrap_or_default();
    if !is_name(name) {
        return Some("Missing or invalid parameter: 'response_format.json_schema.name'.".to_owned());
    }
    if !wanted["schema"].is_object() {
        return Some("Missing required parameter: 'response_format.json_schema.schema'.".to_owned());
    }
    let is_strict = wanted["strict"].as_bool().unwrap_or(false);
    let flaw = is_strict.then(|| strict_flaw(&wanted["schema"], "()")).flatten()?;
    Some(format!("Invalid schema for response_format '{name}': {flaw}"))
}

/// In strict mode every object names all its properties as required and closes itself to others.
fn strict_flaw(schema: &Value, place: &str) -> Option<String> {
    if let Some(properties) = schema["properties"].as_object() {
        if schema["additionalProperties"] != false {
            return Some(format!(
                "In context={place}, 'additionalProperties' is required to be supplied and to be false."
            ));
        }
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        if let Some(name) = properties.keys().find(|name| !required.iter().any(|one| one == name.as_str())) {
            return Some(format!(
                "In context={place}, 'required' is required to be supplied and to be an array including every key in properties. Missing '{name}'."
            ));
        }
        let inside =
            |(name, inner): (&String, &Value)| strict_flaw(inner, &format!("('properties', '{name}')"));
        return properties.iter().find_map(inside);
    }
    schema.get("items").and_then(|items| strict_flaw(items, "('items',)"))
}

/// Returns whether a text can name a tool or a format.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(allowed)
}
