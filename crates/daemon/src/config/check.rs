//! Checks values against their settings, and reads those of the environment.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use super::schema::{self, Setting, Takes};
use super::value::{ConfigError, Origin, Value};

/// What every variable that sets a value begins with.
const VARIABLE_PREFIX: &str = "PALYRA__";

/// Checks a value against its setting.
pub(super) fn check(key: &str, value: Value, origin: &Origin) -> Result<Value, ConfigError> {
    let setting = schema::setting_of(key).ok_or_else(|| wrong_key(key, origin))?;
    match (setting.takes, &value) {
        (Takes::Integer { min, max, .. }, Value::Integer(number)) if (min..=max).contains(number) => {
            Ok(value)
        }
        (Takes::Integer { .. }, Value::Integer(_)) => {
            Err(bad_value(setting, key, origin, "a number out of range"))
        }
        (Takes::Integer { .. }, Value::Text(_)) => Err(bad_value(setting, key, origin, "a text")),
        (Takes::Text { .. }, Value::Integer(_)) => Err(bad_value(setting, key, origin, "a number")),
        (Takes::Text { .. }, Value::Text(text)) => match unusable(setting.key, text) {
            None => Ok(value),
            Some(what) => Err(ConfigError::Unusable { origin: origin.clone(), key: key.to_owned(), what }),
        },
    }
}

/// Says that a setting takes something else.
pub(super) fn bad_value(setting: Setting, key: &str, origin: &Origin, found: &'static str) -> ConfigError {
    let takes = match setting.takes {
        Takes::Integer { min, max, .. } => format!("a whole number from {min} to {max}"),
        Takes::Text { .. } => "a text".to_owned(),
    };
    ConfigError::BadValue { origin: origin.clone(), key: key.to_owned(), takes, found }
}

/// Returns what is wrong with a text, by the last part of its key or all of it.
fn unusable(setting: &str, text: &str) -> Option<String> {
    let told = match setting {
        _ if text.is_empty() => return None,
        "key" if !text.starts_with("env:") && !text.starts_with("file:") => {
            "takes a reference, env:NAME or file:PATH, and never the key itself"
        }
        "kind" if text != "openai-chat" => "takes \"openai-chat\", the one wire format there is",
        "listen.tcp" => match text.parse::<SocketAddr>() {
            Err(_) => "takes an address and a port, such as 127.0.0.1:7070",
            Ok(address) if !address.ip().is_loopback() => {
                "takes a loopback address: beyond this machine nothing is served without TLS"
            }
            Ok(_) => return None,
        },
        _ => return None,
    };
    Some(told.to_owned())
}

/// Says why a key is none.
pub(super) fn wrong_key(key: &str, origin: &Origin) -> ConfigError {
    let (origin, key) = (origin.clone(), key.to_owned());
    let unusable = |what| ConfigError::Unusable { origin: origin.clone(), key: key.clone(), what };
    if let Some(example) = schema::example_in_section(&key) {
        return unusable(format!("is a section; its settings are written like `{example}`"));
    }
    match schema::provider_name(&key) {
        Some(name) if !schema::is_provider_name(name) => {
            unusable(format!("names a provider `{name}`; a name has lower-case letters, digits and hyphens"))
        }
        _ => ConfigError::UnknownKey { nearest: schema::nearest(&key), origin, key },
    }
}

/// Reads a value from text, by the type its setting takes.
pub(super) fn parse_text(key: &str, text: &str, origin: &Origin) -> Result<Value, ConfigError> {
    let setting = schema::setting_of(key).ok_or_else(|| wrong_key(key, origin))?;
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
