//! Values, where they come from, and why one is refused.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use palyra_types::ErrorCode;

use super::schema::{self, Takes};

/// What every variable that sets a value begins with.
const VARIABLE_PREFIX: &str = "PALYRA__";

/// A typed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A text.
    Text(String),
}

impl Value {
    /// Returns the value as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Text(text) => toml::Value::String(text.clone()).to_string(),
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It ships.
    Default,
    /// The configuration file.
    File {
        /// Its path.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The environment.
    Variable {
        /// Its name.
        name: String,
    },
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable { name } => write!(f, "environment variable {name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}

/// Why a configuration is refused. Values are not shown: one could be a misplaced secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: the configuration cannot be read: {what}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        what: String,
    },
    /// The file is not TOML.
    #[error("{origin}: not valid TOML: {what}")]
    Syntax {
        /// Where.
        origin: Origin,
        /// What the parser says.
        what: String,
    },
    /// There is no such key.
    #[error("{origin}: there is no setting `{key}`; the nearest is `{nearest}`")]
    UnknownKey {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// A valid one.
        nearest: String,
    },
    /// A value has the wrong type or is out of range.
    #[error("{origin}: `{key}` takes {takes}, not {found}")]
    BadValue {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// What it takes.
        takes: String,
        /// What kind of value was found.
        found: &'static str,
    },
    /// A required key is missing.
    #[error("`{key}` is missing; for example: {key} = {example}")]
    Missing {
        /// The key.
        key: String,
        /// An example.
        example: String,
    },
}

impl ConfigError {
    /// Returns the stable code shown to people.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unreadable { .. } => ErrorCode::ConfigUnreadable,
            Self::Syntax { .. } | Self::UnknownKey { .. } | Self::BadValue { .. } | Self::Missing { .. } => {
                ErrorCode::ConfigInvalid
            }
        }
    }
}

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
