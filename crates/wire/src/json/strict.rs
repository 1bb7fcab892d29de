//! JSON text to a value, with limits and without duplicate members.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::fault::{JSON_DEPTH_MAX, JsonFault, JsonInputError};

/// Reads a text whole.
pub(super) fn parse(text: &str, bytes_max: usize) -> Result<Value, JsonInputError> {
    if text.len() > bytes_max {
        return Err(JsonInputError::new("", JsonFault::TooLarge { bytes: text.len(), bytes_max }));
    }
    let fault = Rc::new(RefCell::new(None));
    let seed = Node { path: String::new(), depth: 0, fault: Rc::clone(&fault) };
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = seed.deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| {
        let own = fault.borrow_mut().take();
        own.unwrap_or_else(|| JsonInputError::new("", JsonFault::Syntax { what: error.to_string() }))
    })
}

/// A value at a place of the text.
struct Node {
    path: String,
    depth: usize,
    /// The fault that ended the reading, where it was ours: the parser's errors carry text only.
    fault: Rc<RefCell<Option<JsonInputError>>>,
}

impl Node {
    fn below<E: serde::de::Error>(&self, path: String) -> Result<Self, E> {
        if self.depth >= JSON_DEPTH_MAX {
            return Err(self.stop(&self.path, JsonFault::TooDeep));
        }
        Ok(Self { path, depth: self.depth + 1, fault: Rc::clone(&self.fault) })
    }

    fn stop<E: serde::de::Error>(&self, path: &str, fault: JsonFault) -> E {
        *self.fault.borrow_mut() = Some(JsonInputError::new(path, fault));
        E::custom("stopped")
    }
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let node = self.below::<A::Error>(format!("{}[{}]", self.path, values.len()))?;
            match items.next_element_seed(node)? {
                Some(value) => values.push(value),
                None => return Ok(Value::Array(values)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let path = if self.path.is_empty() { name.clone() } else { format!("{}.{name}", self.path) };
            if values.contains_key(&name) {
                return Err(self.stop(&path, JsonFault::DuplicateMember));
            }
            let value = members.next_value_seed(self.below::<A::Error>(path)?)?;
            values.insert(name, value);
        }
        Ok(Value::Object(values))
    }
}

/// Reads base64, of the standard or the URL alphabet, with or without padding.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    if text.len() - digits.len() > 2 || digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut held, mut bits) = (0_u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xff).ok()?);
        }
    }
    let rest = held & ((1 << bits) - 1);
    (rest == 0).then_some(bytes)
}
