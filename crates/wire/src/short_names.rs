//! Short names of the values of enumerations, as JSON and people see them: `no_rule_permits`, `done`.
//!
//! The build script writes the functions from the option `short_names` of the enumerations: `short_name` and
//! `from_short_name` of each one, and `FIELD_name` of each message that has such a field.

use std::borrow::Cow;

include!(concat!(env!("OUT_DIR"), "/short_names.rs"));

/// Returns whether JSON shows the values of an enumeration by their short names.
#[must_use]
pub fn has_short_names(full_name: &str) -> bool {
    SHORT_NAMED.binary_search(&full_name).is_ok()
}

/// A value of a newer program has no name here, so people see its number.
fn named<E>(name: Result<&'static str, E>, number: i32) -> Cow<'static, str> {
    name.map_or_else(|_| Cow::Owned(number.to_string()), Cow::Borrowed)
}
