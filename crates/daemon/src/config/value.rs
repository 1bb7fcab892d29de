//! Values, and where they come from.

use std::cmp::Ordering;
use std::fmt;
use std::path::PathBuf;

/// A typed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigValue {
    /// A whole number.
    Integer(u64),
    /// A text, also one of a choice.
    Text(String),
    /// Yes or no.
    Bool(bool),
    /// Texts in an order that counts.
    List(Vec<String>),
}

impl ConfigValue {
    /// Returns the value as TOML.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let quoted = |text: &String| toml::Value::String(text.clone()).to_string();
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Text(text) => quoted(text),
            Self::Bool(yes) => yes.to_string(),
            Self::List(items) => format!("[{}]", items.iter().map(quoted).collect::<Vec<_>>().join(", ")),
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueOrigin {
    /// It ships.
    Default,
    /// The configuration file.
    File {
        /// Its path.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The character in the line, from 1.
        column: usize,
    },
    /// The environment.
    Variable {
        /// Its name.
        name: String,
    },
    /// The command line.
    Flag,
}

impl ValueOrigin {
    /// Returns the place as precisely as it is known, for the message of a mistake.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            Self::File { column, .. } => format!("{self}:{column}"),
            Self::Default | Self::Variable { .. } | Self::Flag => self.to_string(),
        }
    }

    /// Orders mistakes as a person meets them: the file from its top, then variables by name, then flags.
    pub(super) fn in_reading_order(&self, other: &Self) -> Ordering {
        self.reading_place().cmp(&other.reading_place())
    }

    fn reading_place(&self) -> (u8, usize, usize, &str) {
        match self {
            Self::Default => (0, 0, 0, ""),
            Self::File { line, column, .. } => (1, *line, *column, ""),
            Self::Variable { name } => (2, 0, 0, name),
            Self::Flag => (3, 0, 0, ""),
        }
    }
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, .. } => write!(f, "{}:{line}", path.display()),
            Self::Variable { name } => write!(f, "environment variable {name}"),
            Self::Flag => f.write_str("flag"),
        }
    }
}
