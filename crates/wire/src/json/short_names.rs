//! Replaces the full names of values by their short names, where the enumeration asks for it.
//!
//! A member keeps the place that its field has in the schemas, also where the field's number is a later one. A value that this
//! program does not know stays a number.

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value};

use super::input::short_name;
use crate::short_names::has_short_names;

/// Shortens the names in the JSON of a message.
pub(super) fn shorten(descriptor: &MessageDescriptor, value: &mut Value) {
    let Value::Object(members) = value else { return };
    let mut shortened = false;
    for field in descriptor.fields() {
        if let Some(member) = members.get_mut(field.name()) {
            shortened |= shorten_field(&field, member);
        }
    }
    if shortened {
        in_declared_order(descriptor, members);
    }
}

/// Returns whether the field is of an enumeration with short names.
fn shorten_field(field: &FieldDescriptor, member: &mut Value) -> bool {
    let kind = match field.kind() {
        Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    };
    match &kind {
        Kind::Enum(values) if has_short_names(values.full_name()) => {
            for_each(member, &mut |value| shorten_value(values, value));
            true
        }
        Kind::Message(inner) => {
            match member {
                Value::Array(items) => items.iter_mut().for_each(|item| shorten(inner, item)),
                Value::Object(entries) if field.is_map() => {
                    entries.values_mut().for_each(|entry| shorten(inner, entry));
                }
                other => shorten(inner, other),
            }
            false
        }
        _ => false,
    }
}

fn for_each(member: &mut Value, change: &mut dyn FnMut(&mut Value)) {
    match member {
        Value::Array(items) => items.iter_mut().for_each(change),
        Value::Object(entries) => entries.values_mut().for_each(change),
        single => change(single),
    }
}

fn shorten_value(values: &EnumDescriptor, value: &mut Value) {
    let Some(name) = value.as_str() else { return };
    let unspecified = values.get_value_by_name(name).is_none_or(|known| known.number() == 0);
    *value = Value::String(if unspecified { String::new() } else { short_name(values, name) });
}

/// The number of an enumeration's field is newer than those of its neighbours.
fn in_declared_order(descriptor: &MessageDescriptor, members: &mut Map<String, Value>) {
    let fields = &descriptor.descriptor_proto().field;
    let in_order = fields.iter().filter_map(|field| members.remove_entry(field.name()));
    *members = in_order.collect();
}
