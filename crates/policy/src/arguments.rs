//! Reads the arguments of a call more strictly than JSON asks.
//!
//! Owns the limits of size and depth and the rule that no key is said twice: two readers of one text
//! must never see two different calls. Knows no schema.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::quote::quoted;

/// How long the arguments of one call may be, in bytes.
pub const ARGUMENTS_BYTES_MAX: usize = 1024 * 1024;
/// How deep they may nest; the outer object is depth one.
pub const ARGUMENTS_DEPTH_MAX: usize = 32;

/// Why a text is not a set of arguments.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgumentsError {
    #[error("they are {bytes} bytes long, at most {ARGUMENTS_BYTES_MAX} are taken; send less")]
    TooLarge { bytes: usize },
    #[error("they are not valid JSON: {reason}; send one complete JSON object")]
    Malformed { reason: String },
    #[error("they are {found}, not a JSON object; send an object such as {{}}")]
    NotAnObject { found: &'static str },
}

/// Reads `text` as one JSON object without duplicate keys, within the limits.
pub(crate) fn parse_arguments(text: &str) -> Result<Value, ArgumentsError> {
    if text.len() > ARGUMENTS_BYTES_MAX {
        return Err(ArgumentsError::TooLarge { bytes: text.len() });
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = DepthReader { depth: 0 }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|cause| ArgumentsError::Malformed { reason: cause.to_string() })?;
    match value {
        Value::Object(_) => Ok(value),
        Value::Array(_) => Err(ArgumentsError::NotAnObject { found: "an array" }),
        Value::String(_) => Err(ArgumentsError::NotAnObject { found: "a string" }),
        Value::Number(_) => Err(ArgumentsError::NotAnObject { found: "a number" }),
        Value::Bool(_) => Err(ArgumentsError::NotAnObject { found: "a boolean" }),
        Value::Null => Err(ArgumentsError::NotAnObject { found: "null" }),
    }
}

/// Reads one value below `depth` levels of arrays and objects.
#[derive(Clone, Copy)]
struct DepthReader {
    depth: usize,
}

impl DepthReader {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == ARGUMENTS_DEPTH_MAX {
            return Err(E::custom(format_args!("they nest deeper than {ARGUMENTS_DEPTH_MAX} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for DepthReader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for DepthReader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is not finite"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {} is said twice", quoted(&key, 64))));
            }
            let value = entries.next_value_seed(inner)?;
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let error = parse_arguments(text).expect_err(text).to_string();
        assert!(error.contains(expect), "{text:.60}: {error}");
    }

    fn nested(levels: usize) -> String {
        format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn anything_but_one_object_is_refused() {
        for (text, expect) in [
            ("", "not valid JSON"),
            ("  ", "not valid JSON"),
            ("{\"path\": \"a", "not valid JSON"),
            ("{} {}", "trailing characters"),
            ("{\"a\":1}x", "trailing characters"),
            ("[]", "an array"),
            ("\"{}\"", "a string"),
            ("7", "a number"),
            ("true", "a boolean"),
            ("null", "null, not a JSON object"),
            ("{\"a\": NaN}", "not valid JSON"),
            ("{\"a\": 1e400}", "out of range"),
            ("{\"a\": \"\\ud800\"}", "not valid JSON"),
            ("{'a': 1}", "not valid JSON"),
            ("{\"a\": 1, // why\n \"b\": 2}", "not valid JSON"),
        ] {
            check(text, expect);
        }
    }

    #[test]
    fn a_key_said_twice_is_refused_at_every_depth() {
        check("{\"path\": \"a\", \"path\": \"b\"}", "the key `path` is said twice");
        check("{\"x\": [{\"k\": 1, \"\\u006b\": 2}]}", "the key `k` is said twice");
    }

    #[test]
    fn depth_and_size_end_at_their_limits() {
        assert!(parse_arguments(&nested(ARGUMENTS_DEPTH_MAX)).is_ok());
        check(&nested(ARGUMENTS_DEPTH_MAX + 1), "nest deeper than 32");
        check(&format!("{{\"a\":{}", "[".repeat(200_000)), "nest deeper than 32");

        let frame = "{\"a\":\"\"}".len();
        let filled = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - frame));
        assert!(parse_arguments(&filled(ARGUMENTS_BYTES_MAX)).is_ok());
        check(&filled(ARGUMENTS_BYTES_MAX + 1), "1048577 bytes long");
    }

    #[test]
    fn a_refusal_repeats_no_content() {
        let error = parse_arguments("{\"a\": \"canary-value\" \"b\": 1}").expect_err("broken").to_string();
        assert!(!error.contains("canary"), "{error}");
    }
}
