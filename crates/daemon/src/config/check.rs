//! Checks values against their settings, and reads those of the environment.

use std::collections::BTreeMap;

use super::schema::{self, Takes};
use super::value::{ConfigError, Origin, Value};

/// What every variable that sets a value begins with.
const VARIABLE_PREFIX: &str = "PALYRA__";

/// Checks a value against its setting.
pub(super) fn check(key: &str, value: Value, origin: &Origin) -> Result<Value, ConfigError> {
    let setting = schema::setting_of(key).ok_or_else(|| unknown(key, origin))?;
    let bad = |takes: String, found| ConfigError::BadValue {
        origin: origin.clone(),
        key: key.to_owned(),
        takes,
        found,
    };
    match (setting.takes, &value) {
        (Takes::Integer { min, max, .. }, Value::Integer(number)) if (min..=max).contains(number) => {
            Ok(value)
        }
        (Takes::Integer { min, max, .. }, Value::Integer(_)) => {
            Err(bad(format!("a whole number from {min} to {max}"), "a number out of range"))
        }
        (Takes::Integer { min, max, .. }, Value::Text(_)) => {
            Err(bad(format!("a whole number from {min} to {max}"), "a text"))
        }
        (Takes::Text { .. }, Value::Integer(_)) => Err(bad("a text".to_owned(), "a number")),
        (Takes::Text { .. }, Value::Text(text)) => {
            let meant_as_reference = text.is_empty() || text.starts_with("env:") || text.starts_with("file:");
            if setting.key == "key" && !meant_as_reference {
                return Err(bad("a reference, env:NAME or file:PATH".to_owned(), "something else"));
            }
            if setting.key == "kind" && text != "openai-chat" {
                return Err(bad("\"openai-chat\"".to_owned(), "another text"));
            }
            Ok(value)
        }
    }
}

pub(super) fn unknown(key: &str, origin: &Origin) -> ConfigError {
    let nearest = schema::nearest(key);
    ConfigError::UnknownKey { origin: origin.clone(), key: key.to_owned(), nearest }
}

/// Reads a value from text, by the type its setting takes.
pub(super) fn parse_text(key: &str, text: &str, origin: &Origin) -> Result<Value, ConfigError> {
    let setting = schema::setting_of(key).ok_or_else(|| unknown(key, origin))?;
    let value = match (setting.takes, text.parse::<u64>()) {
        (Takes::Integer { .. }, Ok(number)) => Value::Integer(number),
        (Takes::Integer { .. }, Err(_)) | (Takes::Text { .. }, _) => Value::Text(text.to_owned()),
    };
    check(key, value, origin)
}

/// Reads all variables of the form `PALYRA__SECTION__KEY`.
pub(super) fn from_environment(
    environment: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, (Value, Origin)>, ConfigError> {
    let mut values = BTreeMap::new();
    for (name, text) in environment {
        let Some(path) = name.strip_prefix(VARIABLE_PREFIX) else { continue };
        let origin = Origin::Variable { name: format!("{VARIABLE_PREFIX}{path}") };
        let key = path.to_lowercase().replace("__", ".");
        let value = parse_text(&key, text, &origin)?;
        values.insert(key, (value, origin));
    }
    Ok(values)
}
