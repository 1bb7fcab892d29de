//! What an argument of a tool names, as the tool's schema declares it.
//!
//! Owns the keyword in the schema and its words. Policy reads paths, hosts and words of commands by them; a model is
//! not shown the keyword. Invariant: whatever is declared is declared on the property itself, so it is found by whoever
//! has the schema.

use serde_json::Value;

/// The keyword of a property, or of the items of a list, that says what its texts name.
pub const MEANING_KEYWORD: &str = "x-palyra-meaning";

/// How deep schemas are walked.
const DEPTH_MAX: usize = 16;

/// What the texts of an argument name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ArgumentMeaning {
    /// A file or folder.
    Path,
    /// A pattern of paths.
    Glob,
    /// A machine, or an address that begins with one.
    Host,
    /// A word of a command that is started.
    Argv,
    /// An option, a revision or a path of a program that is given to the tool: it counts as each of them.
    Option,
    /// A patch, which names files in its headers.
    Patch,
    /// A secret of the vault, by its name.
    Credential,
    /// A name that the tool itself gave out before.
    Handle,
    /// Words, content or a pattern of text: it names nothing.
    Text,
}

impl ArgumentMeaning {
    /// Every meaning with its word.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Path, "path"),
        (Self::Glob, "glob"),
        (Self::Host, "host"),
        (Self::Argv, "argv"),
        (Self::Option, "option"),
        (Self::Patch, "patch"),
        (Self::Credential, "credential"),
        (Self::Handle, "handle"),
        (Self::Text, "text"),
    ];

    /// Returns what a property declares: itself, or by the items of its list.
    #[must_use]
    pub fn declared(property: &Value) -> Option<Self> {
        let own = property.get(MEANING_KEYWORD).or_else(|| property.get("items")?.get(MEANING_KEYWORD));
        let word = own?.as_str()?;
        Self::ALL.into_iter().find(|(_, known)| *known == word).map(|(meaning, _)| meaning)
    }
}

/// Returns the properties of a schema that take a free text and declare no meaning, by their place; a property with a
/// list of allowed words can name nothing else.
#[must_use]
pub fn undeclared_properties(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look_for_undeclared(schema, "", DEPTH_MAX, &mut found);
    found.sort();
    found
}

fn look_for_undeclared(schema: &Value, place: &str, depth: usize, found: &mut Vec<String>) {
    let kind = schema.get("type").and_then(Value::as_str);
    let is_free = !matches!(kind, Some("object" | "array" | "integer" | "number" | "boolean" | "null"));
    if is_free && schema.get("enum").is_none() && ArgumentMeaning::declared(schema).is_none() {
        found.push(place.to_owned());
    }
    if depth == 0 {
        return;
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        look_for_undeclared(property, &format!("{place}/{name}"), depth - 1, found);
    }
    if ArgumentMeaning::declared(schema).is_none() {
        for inner in ["items", "additionalProperties"] {
            if let Some(items) = schema.get(inner).filter(|items| items.is_object()) {
                look_for_undeclared(items, &format!("{place}/{inner}"), depth - 1, found);
            }
        }
    }
}

/// Returns a schema without the keyword, as a model is shown it.
#[must_use]
pub fn without_meanings(schema: &Value) -> Value {
    let mut shown = schema.clone();
    remove_meanings(&mut shown, DEPTH_MAX);
    shown
}

fn remove_meanings(schema: &mut Value, depth: usize) {
    let Some(members) = schema.as_object_mut() else { return };
    members.retain(|name, _| name != MEANING_KEYWORD);
    if depth == 0 {
        return;
    }
    // Below `properties` stand names of the tool's own, which could be the keyword.
    for (_, property) in members.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        remove_meanings(property, depth - 1);
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = members.get_mut(inner) {
            remove_meanings(inner, depth - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_meaning_is_read_from_the_property_or_its_items_and_not_shown() {
        let schema = json!({"type": "object", "properties": {
            "path": {"type": "string", "x-palyra-meaning": "path"},
            "options": {"type": "array", "items": {"type": "string", "x-palyra-meaning": "option"}},
            "files": {"type": "array", "items": {"type": "object", "properties": {"to": {"type": "string"}}}},
            "mode": {"type": "string", "enum": ["a"]}, "depth": {"type": "integer"}, "any": {},
            "open": {"type": "object", "additionalProperties": {"type": "string"}},
            "x-palyra-meaning": {"type": "string", "x-palyra-meaning": "no such word"},
        }});
        let declared = |name: &str| ArgumentMeaning::declared(&schema["properties"][name]);
        assert_eq!(declared("path"), Some(ArgumentMeaning::Path));
        assert_eq!(declared("options"), Some(ArgumentMeaning::Option));
        assert_eq!(declared("x-palyra-meaning"), None);
        let undeclared = undeclared_properties(&schema);
        assert_eq!(
            undeclared,
            ["/any", "/files/items/to", "/open/additionalProperties", "/x-palyra-meaning"]
        );
        let shown = without_meanings(&schema);
        assert_eq!(shown["properties"]["x-palyra-meaning"], json!({"type": "string"}));
        assert_eq!(shown.to_string().matches("x-palyra-meaning").count(), 1, "the name of a property stays");
    }
}
