//! Reading members of a JSON object, with errors that name the member.
//!
//! A member that is null counts as missing, as OpenAI's clients expect. Members that no one reads are ignored.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::error_reply::ErrorReply;

/// An object and the path to it.
#[derive(Debug, Clone)]
pub(crate) struct FieldReader<'a> {
    members: &'a Map<String, Value>,
    path: String,
}

impl<'a> FieldReader<'a> {
    /// Reads the body of a request.
    pub(crate) fn body(body: &'a Value) -> Result<Self, ErrorReply> {
        let members =
            body.as_object().ok_or_else(|| ErrorReply::malformed("the body is not a JSON object"))?;
        Ok(Self { members, path: String::new() })
    }

    /// Reads an object at a path.
    pub(crate) fn at(path: String, value: &'a Value) -> Result<Self, ErrorReply> {
        match value.as_object() {
            Some(members) => Ok(Self { members, path }),
            None => Err(wrong_type(&path, "an object")),
        }
    }

    /// Returns the path of a member.
    pub(crate) fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// Returns a member that is there and not null.
    pub(crate) fn value(&self, name: &str) -> Option<&'a Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// Refuses a member that is missing.
    pub(crate) fn missing(&self, name: &str) -> ErrorReply {
        let path = self.path(name);
        let message = format!("Missing required parameter: `{path}`.");
        ErrorReply::invalid(path, message).with_code("missing_required_parameter")
    }

    /// Refuses a member with what it should be.
    pub(crate) fn wrong(&self, name: &str, wanted: &str) -> ErrorReply {
        wrong_type(&self.path(name), wanted)
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>, ErrorReply> {
        self.typed(name, "a string", Value::as_str)
    }

    pub(crate) fn flag(&self, name: &str) -> Result<Option<bool>, ErrorReply> {
        self.typed(name, "true or false", Value::as_bool)
    }

    pub(crate) fn array(&self, name: &str) -> Result<Option<&'a Vec<Value>>, ErrorReply> {
        self.typed(name, "an array", Value::as_array)
    }

    pub(crate) fn object(&self, name: &str) -> Result<Option<Self>, ErrorReply> {
        self.value(name).map(|value| Self::at(self.path(name), value)).transpose()
    }

    pub(crate) fn integer(&self, name: &str, range: RangeInclusive<u64>) -> Result<Option<u64>, ErrorReply> {
        let wanted = format!("an integer from {} to {}", range.start(), range.end());
        self.typed(name, &wanted, |value| value.as_u64().filter(|number| range.contains(number)))
    }

    pub(crate) fn number(&self, name: &str, range: RangeInclusive<f64>) -> Result<Option<f64>, ErrorReply> {
        let wanted = format!("a number from {} to {}", range.start(), range.end());
        self.typed(name, &wanted, |value| value.as_f64().filter(|number| range.contains(number)))
    }

    pub(crate) fn signed_integer(&self, name: &str) -> Result<Option<i64>, ErrorReply> {
        self.typed(name, "an integer of 64 bits", Value::as_i64)
    }

    /// Reads one of some values, which have words.
    pub(crate) fn one_of<T: Copy>(
        &self,
        name: &str,
        values: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, ErrorReply> {
        let words: Vec<&str> = values.iter().map(|value| word(*value)).collect();
        let wanted = format!("one of {}", words.join(", "));
        self.typed(name, &wanted, |text| {
            let text = text.as_str()?;
            values.iter().copied().find(|value| word(*value) == text)
        })
    }

    fn typed<T>(
        &self,
        name: &str,
        wanted: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, ErrorReply> {
        let Some(value) = self.value(name) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.wrong(name, wanted))
    }
}

fn wrong_type(path: &str, wanted: &str) -> ErrorReply {
    ErrorReply::invalid(path, format!("Invalid value for `{path}`: {wanted} is expected."))
        .with_code("invalid_value")
}
