//! Short names of the values of enumerations, as JSON and people see them: `no_rule_permits`, `done`.
//!
//! The build script writes the functions from the option `short_names` of the enumerations: `short_name` and
//! `from_short_name` of each one with the list `SHORT_NAMES`, and `FIELD_name` of each message that has such a field.

use std::borrow::Cow;

include!(concat!(env!("OUT_DIR"), "/short_names.rs"));

/// Returns whether JSON shows the values of an enumeration by their short names.
#[must_use]
pub fn has_short_names(full_name: &str) -> bool {
    SHORT_NAMED.binary_search(&full_name).is_ok()
}

/// Says which of the names of an enumeration a field takes.
#[must_use]
pub fn must_be(field: &str, names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => {
            format!("`{field}` must be {} or {last}", first.join(", "))
        }
        names => format!("`{field}` must be {}", names.concat()),
    }
}

/// A value of a newer program has no name here, so people see its number.
fn named<E>(name: Result<&'static str, E>, number: i32) -> Cow<'static, str> {
    name.map_or_else(|_| Cow::Owned(number.to_string()), Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1;

    #[test]
    fn a_field_takes_each_name_but_that_of_the_unspecified_value() {
        let formats = v1::ModelFormat::SHORT_NAMES;
        let expect = "`format` must be openai_chat, anthropic_messages or openai_responses";
        assert_eq!(must_be("format", formats), expect);
        assert_eq!(must_be("a", &["x", "y", "z"]), "`a` must be x, y or z");
        assert_eq!(must_be("a", &["x"]), "`a` must be x");
        for name in formats {
            assert_eq!(v1::ModelFormat::from_short_name(name).map(v1::ModelFormat::short_name), Some(*name));
        }
    }
}
