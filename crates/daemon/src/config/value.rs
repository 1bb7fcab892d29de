//! Values, where they come from, and why one is refused.

use std::fmt;
use std::path::PathBuf;

use palyra_types::ErrorCode;

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
    /// A value or a key is of the right kind and cannot be used all the same.
    #[error("{origin}: `{key}` {what}")]
    Unusable {
        /// Where.
        origin: Origin,
        /// The key.
        key: String,
        /// What is wrong with it, as the rest of the sentence.
        what: String,
    },
    /// A required key is missing.
    #[error("{origin}: `{key}` is missing; for example: {key} = {example}")]
    Missing {
        /// What makes it required.
        origin: Origin,
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
            Self::Syntax { .. }
            | Self::UnknownKey { .. }
            | Self::BadValue { .. }
            | Self::Unusable { .. }
            | Self::Missing { .. } => ErrorCode::ConfigInvalid,
        }
    }
}
