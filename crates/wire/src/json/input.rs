//! JSON of a client to a message, strictly: every fault is an error that names its place.
//!
//! Size, depth and duplicate members are checked while the text is read, before any message is made. A member that
//! the schemas do not have, a value that an enumeration does not have and a wrong type are refused.
//! Begin at [`from_json`].

use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value,
};
use serde_json::Value as Json;

use super::fault::{JSON_BYTES_MAX, JsonFault, JsonInputError};
use super::strict;
use crate::short_names::has_short_names;

/// Names of an enumeration that an error lists.
const NAMES_LISTED_MAX: usize = 12;

/// Reads the JSON of a message, whose full name is given, and returns its bytes.
///
/// # Errors
/// [`JsonInputError`] with the first fault.
///
/// # Panics
/// The schemas have no message of this name.
pub fn from_json(full_name: &str, text: &str) -> Result<Vec<u8>, JsonInputError> {
    let descriptor = super::POOL.get_message_by_name(full_name).expect("the name is of the schemas");
    let value = strict::parse(text, JSON_BYTES_MAX)?;
    to_bytes(&descriptor, &value)
}

/// Returns the bytes of a message from its JSON.
pub(super) fn to_bytes(descriptor: &MessageDescriptor, value: &Json) -> Result<Vec<u8>, JsonInputError> {
    Ok(prost::Message::encode_to_vec(&message(descriptor, value, "")?))
}

fn message(
    descriptor: &MessageDescriptor,
    value: &Json,
    path: &str,
) -> Result<DynamicMessage, JsonInputError> {
    if descriptor.package_name() == "google.protobuf" {
        return well_known(descriptor, value, path);
    }
    let Json::Object(members) = value else { return Err(wrong_type(path, "an object", value)) };
    let mut message = DynamicMessage::new(descriptor.clone());
    for (name, value) in members {
        let path = joined(path, name);
        let field = descriptor.get_field_by_name(name).or_else(|| descriptor.get_field_by_json_name(name));
        let field = field.ok_or_else(|| JsonInputError::new(&path, unknown_member(descriptor, name)))?;
        if value.is_null() {
            continue;
        }
        let others =
            field.containing_oneof().into_iter().flat_map(|oneof| oneof.fields().collect::<Vec<_>>());
        let other = others.into_iter().find(|other| *other != field && message.has_field(other));
        if let Some(other) = other {
            return Err(JsonInputError::new(&path, JsonFault::Combined { other: other.name().to_owned() }));
        }
        if message.has_field(&field) {
            return Err(JsonInputError::new(&path, JsonFault::DuplicateMember));
        }
        let value = field_value(&field, value, &path)?;
        message.set_field(&field, value);
    }
    Ok(message)
}

pub(super) fn unknown_member(descriptor: &MessageDescriptor, name: &str) -> JsonFault {
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    let alike = descriptor.fields().find(|field| {
        let (known, given) = (plain(field.name()), plain(name));
        known == given || (given.len() > 2 && (known.starts_with(&given) || given.starts_with(&known)))
    });
    JsonFault::UnknownMember {
        message: descriptor.name().to_owned(),
        near: alike.map(|field| field.name().to_owned()),
    }
}

fn field_value(field: &FieldDescriptor, value: &Json, path: &str) -> Result<Value, JsonInputError> {
    if field.is_map() {
        return map_value(field, value, path);
    }
    if !field.is_list() {
        return single_value(&field.kind(), value, path);
    }
    let Json::Array(items) = value else { return Err(wrong_type(path, "a list", value)) };
    let items = items.iter().enumerate();
    let values = items.map(|(at, item)| single_value(&field.kind(), item, &format!("{path}[{at}]")));
    Ok(Value::List(values.collect::<Result<_, _>>()?))
}

fn map_value(field: &FieldDescriptor, value: &Json, path: &str) -> Result<Value, JsonInputError> {
    let Json::Object(members) = value else { return Err(wrong_type(path, "an object", value)) };
    let Kind::Message(entry) = field.kind() else { return Err(wrong_type(path, "an object", value)) };
    let values = members.iter().map(|(name, value)| {
        let path = joined(path, name);
        Ok((MapKey::String(name.clone()), single_value(&entry.map_entry_value_field().kind(), value, &path)?))
    });
    Ok(Value::Map(values.collect::<Result<_, _>>()?))
}

fn single_value(kind: &Kind, value: &Json, path: &str) -> Result<Value, JsonInputError> {
    match kind {
        Kind::Message(descriptor) => message(descriptor, value, path).map(Value::Message),
        Kind::Enum(values) => enum_number(values, value, path).map(Value::EnumNumber),
        Kind::Bool => {
            value.as_bool().map(Value::Bool).ok_or_else(|| wrong_type(path, "true or false", value))
        }
        Kind::String => {
            let text = value.as_str().ok_or_else(|| wrong_type(path, "a string", value))?;
            Ok(Value::String(text.to_owned()))
        }
        Kind::Bytes => bytes(value, path),
        Kind::Double | Kind::Float => {
            let number = value.as_f64().ok_or_else(|| wrong_type(path, "a number", value))?;
            Ok(if matches!(kind, Kind::Float) { float(number) } else { Value::F64(number) })
        }
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => {
            let number = integer(value, "a number from -2147483648 to 2147483647", path)?;
            i32::try_from(number).map(Value::I32).map_err(|_| out_of_range(path, "a 32-bit number"))
        }
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => {
            let number = integer(value, "a whole number", path)?;
            i64::try_from(number).map(Value::I64).map_err(|_| out_of_range(path, "a 64-bit number"))
        }
        Kind::Uint32 | Kind::Fixed32 => {
            let number = integer(value, "a whole number", path)?;
            u32::try_from(number)
                .map(Value::U32)
                .map_err(|_| out_of_range(path, "a number from 0 to 4294967295"))
        }
        Kind::Uint64 | Kind::Fixed64 => {
            let number = integer(value, "a whole number", path)?;
            u64::try_from(number).map(Value::U64).map_err(|_| out_of_range(path, "a 64-bit number from 0"))
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a float field holds what a float can")]
fn float(number: f64) -> Value {
    Value::F32(number as f32)
}

/// Reads a whole number; 64-bit ones may come as strings, as other writers of proto JSON do.
fn integer(value: &Json, expected: &str, path: &str) -> Result<i128, JsonInputError> {
    let number = match value {
        Json::Number(number) => number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)),
        Json::String(text) => text.parse::<i128>().ok().filter(|number| number.to_string() == *text),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    };
    number.ok_or_else(|| wrong_type(path, expected, value))
}

fn bytes(value: &Json, path: &str) -> Result<Value, JsonInputError> {
    let text = value.as_str().ok_or_else(|| wrong_type(path, "a base64 string", value))?;
    let bytes = strict::base64(text).ok_or_else(|| wrong_type(path, "a base64 string", value))?;
    Ok(Value::Bytes(bytes.into()))
}

/// Reads a value of an enumeration: its short name, its full name or its number.
fn enum_number(values: &EnumDescriptor, value: &Json, path: &str) -> Result<i32, JsonInputError> {
    let found = match value {
        Json::String(text) if text.is_empty() && has_short_names(values.full_name()) => values.get_value(0),
        Json::String(text) => {
            values.values().find(|known| known.name() == text || short_name(values, known.name()) == *text)
        }
        Json::Number(number) => number
            .as_i64()
            .and_then(|number| i32::try_from(number).ok())
            .and_then(|number| values.get_value(number)),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => {
            return Err(wrong_type(path, "the name of a value", value));
        }
    };
    found.map(|value| value.number()).ok_or_else(|| {
        let known = values.values().filter(|value| value.number() != 0);
        let known: Vec<_> =
            known.map(|known| short_name(values, known.name())).take(NAMES_LISTED_MAX).collect();
        let fault = JsonFault::UnknownValue { name: values.name().to_owned(), known: known.join(", ") };
        JsonInputError::new(path, fault)
    })
}

/// Returns the name of a value without its enumeration's prefix, in lower case.
pub(super) fn short_name(values: &EnumDescriptor, name: &str) -> String {
    let mut prefix = String::new();
    for letter in values.name().chars() {
        if letter.is_ascii_uppercase() && !prefix.is_empty() {
            prefix.push('_');
        }
        prefix.push(letter.to_ascii_uppercase());
    }
    prefix.push('_');
    name.strip_prefix(&prefix).unwrap_or(name).to_lowercase()
}

/// Reads times, durations and the like, which have a form of their own.
fn well_known(
    descriptor: &MessageDescriptor,
    value: &Json,
    path: &str,
) -> Result<DynamicMessage, JsonInputError> {
    let expected = match descriptor.name() {
        "Timestamp" => "a time such as \"2026-01-31T12:00:00Z\"".to_owned(),
        "Duration" => "a duration such as \"1.5s\"".to_owned(),
        other => format!("the JSON form of `google.protobuf.{other}`"),
    };
    DynamicMessage::deserialize(descriptor.clone(), value).map_err(|_| wrong_type(path, &expected, value))
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

fn out_of_range(path: &str, expected: &str) -> JsonInputError {
    JsonInputError::new(path, JsonFault::OutOfRange { expected: expected.to_owned() })
}

fn wrong_type(path: &str, expected: &str, value: &Json) -> JsonInputError {
    let found = match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "this number",
        Json::String(_) => "this string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    };
    JsonInputError::new(path, JsonFault::WrongType { expected: expected.to_owned(), found })
}

#[cfg(test)]
mod tests;
