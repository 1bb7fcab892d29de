//! Messages as JSON schemas.
//!
//! What a client sends may leave out any field and may not name others; what it gets has every field that has a default.
//! A message that is sent and returned has two schemas.

use std::collections::{BTreeMap, BTreeSet};

use palyra_wire::short_names::has_short_names;
use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use protox::prost_reflect;
use serde_json::{Map, Value, json};

use crate::comments;

/// The largest whole number that every reader of JSON keeps.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Direction {
    Sent,
    Returned,
}

/// Gathers schemas by name.
pub(crate) struct SchemaCollector {
    returned: BTreeSet<String>,
    schemas: BTreeMap<String, Value>,
}

impl SchemaCollector {
    /// Makes a collector; `outputs` are the messages that are returned.
    pub(crate) fn new(outputs: &[MessageDescriptor]) -> Self {
        let mut returned = BTreeSet::new();
        outputs.iter().for_each(|output| reach(output, &mut returned));
        Self { returned, schemas: BTreeMap::new() }
    }

    pub(crate) fn into_schemas(self) -> Map<String, Value> {
        self.schemas.into_iter().collect()
    }

    /// Returns a reference to the schema of a message.
    pub(crate) fn message(&mut self, message: &MessageDescriptor, direction: Direction) -> Value {
        if let Some(known) = well_known(message) {
            return known;
        }
        let both = direction == Direction::Sent && self.returned.contains(message.full_name());
        let name = format!("{}{}", message.name(), if both { "Input" } else { "" });
        if !self.schemas.contains_key(&name) {
            // Named before its fields are looked at: a message may hold itself.
            self.schemas.insert(name.clone(), Value::Null);
            let schema = self.object(message, direction, &[]);
            self.schemas.insert(name.clone(), schema);
        }
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }

    /// Returns the schema of a message without some of its fields.
    pub(crate) fn object(
        &mut self,
        message: &MessageDescriptor,
        direction: Direction,
        without: &[&str],
    ) -> Value {
        let fields: Vec<_> = in_order(message).filter(|field| !without.contains(&field.name())).collect();
        let mut properties = Map::new();
        for field in &fields {
            properties.insert(field.name().to_owned(), self.field(field, direction));
        }
        let mut schema = json!({ "type": "object", "description": comments::of_message(message), "properties": properties });
        match direction {
            Direction::Sent => schema["additionalProperties"] = false.into(),
            Direction::Returned => {
                let always =
                    fields.iter().filter(|field| !field.supports_presence()).map(FieldDescriptor::name);
                let always: Vec<_> = always.collect();
                if !always.is_empty() {
                    schema["required"] = json!(always);
                }
            }
        }
        let choices: Vec<_> = message
            .oneofs()
            .filter(|oneof| !oneof.is_synthetic())
            .map(|oneof| {
                let one: Vec<_> = oneof.fields().map(|field| json!({ "required": [field.name()] })).collect();
                let none = json!({ "not": { "anyOf": one } });
                json!({ "oneOf": one.iter().cloned().chain([none]).collect::<Vec<_>>() })
            })
            .collect();
        if !choices.is_empty() {
            schema["allOf"] = json!(choices);
        }
        schema
    }

    /// Returns the schema of a field with its comment.
    pub(crate) fn field(&mut self, field: &FieldDescriptor, direction: Direction) -> Value {
        let mut schema = if let (true, Kind::Message(entry)) = (field.is_map(), field.kind()) {
            json!({ "type": "object", "additionalProperties": self.kind(&entry.map_entry_value_field().kind(), direction) })
        } else if field.is_list() {
            json!({ "type": "array", "items": self.kind(&field.kind(), direction) })
        } else {
            self.kind(&field.kind(), direction)
        };
        let comment = comments::of_field(field);
        if !comment.is_empty() {
            schema["description"] = comment.into();
        }
        schema
    }

    fn kind(&mut self, kind: &Kind, direction: Direction) -> Value {
        let whole =
            |minimum: i64, maximum: u64| json!({ "type": "integer", "minimum": minimum, "maximum": maximum });
        match kind {
            Kind::Message(message) => self.message(message, direction),
            Kind::Enum(values) => self.values(values),
            Kind::Bool => json!({ "type": "boolean" }),
            Kind::String => json!({ "type": "string" }),
            Kind::Bytes => json!({ "type": "string", "contentEncoding": "base64" }),
            Kind::Double => json!({ "type": "number", "format": "double" }),
            Kind::Float => json!({ "type": "number", "format": "float" }),
            Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
                whole(i32::MIN.into(), i32::MAX.unsigned_abs().into())
            }
            Kind::Uint32 | Kind::Fixed32 => whole(0, u32::MAX.into()),
            Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
                whole(-i64::try_from(NUMBER_MAX).unwrap(), NUMBER_MAX)
            }
            Kind::Uint64 | Kind::Fixed64 => whole(0, NUMBER_MAX),
        }
    }

    fn values(&mut self, values: &EnumDescriptor) -> Value {
        let name = |full: &str| shown(values, full);
        let names: Vec<_> = values
            .values()
            .map(|value| {
                if value.number() == 0 && has_short_names(values.full_name()) {
                    String::new()
                } else {
                    name(value.name())
                }
            })
            .collect();
        let schema =
            json!({ "type": "string", "description": comments::of_enum(values, name), "enum": names });
        self.schemas.insert(values.name().to_owned(), schema);
        json!({ "$ref": format!("#/components/schemas/{}", values.name()) })
    }
}

/// Returns the name of a value in JSON.
fn shown(values: &EnumDescriptor, full: &str) -> String {
    if !has_short_names(values.full_name()) {
        return full.to_owned();
    }
    let mut prefix = String::new();
    for letter in values.name().chars() {
        if letter.is_ascii_uppercase() && !prefix.is_empty() {
            prefix.push('_');
        }
        prefix.push(letter.to_ascii_uppercase());
    }
    full.strip_prefix(&format!("{prefix}_")).unwrap_or(full).to_lowercase()
}

/// Returns the fields in the order of the file.
pub(crate) fn in_order(message: &MessageDescriptor) -> impl Iterator<Item = FieldDescriptor> {
    let mut fields: Vec<_> = message.fields().collect();
    fields.sort_by_key(|field| field.path().to_vec());
    fields.into_iter()
}

fn reach(message: &MessageDescriptor, known: &mut BTreeSet<String>) {
    if !known.insert(message.full_name().to_owned()) {
        return;
    }
    for field in message.fields() {
        if let Kind::Message(below) = field.kind() {
            reach(&below, known);
        }
    }
}

fn well_known(message: &MessageDescriptor) -> Option<Value> {
    match message.full_name() {
        "google.protobuf.Timestamp" => Some(json!({ "type": "string", "format": "date-time" })),
        "google.protobuf.Duration" => {
            Some(json!({ "type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$" }))
        }
        other => {
            assert!(!other.starts_with("google."), "{other} has no form in the document yet");
            None
        }
    }
}
