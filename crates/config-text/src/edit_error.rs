//! Why a file's text cannot be changed.

use toml_edit::TomlError;

/// Why a file's text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditConfigError {
    /// It is not TOML.
    #[error("{message}")]
    Syntax {
        /// What the parser says, without the text.
        message: String,
    },
    /// A key that is a section has a plain value.
    #[error("`{key}` is not a table")]
    NotATable {
        /// The key.
        key: String,
    },
}

impl EditConfigError {
    pub(crate) fn not_a_table(key: &str) -> Self {
        Self::NotATable { key: key.to_owned() }
    }
}

impl From<TomlError> for EditConfigError {
    fn from(error: TomlError) -> Self {
        Self::Syntax { message: error.message().to_owned() }
    }
}
