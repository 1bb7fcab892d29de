//! Why a configuration is refused: each mistake with its place, its key and the mend, and all of them together.
//!
//! Texts that somebody wrote as a value are not shown, since one could be a misplaced secret.

use std::fmt;
use std::path::PathBuf;

use palyra_types::ErrorCode;

use super::value::ValueOrigin;
use crate::trusted_place::UntrustedPlace;

/// Mistakes told at once.
pub const MISTAKES_MAX: usize = 20;

/// One mistake in a configuration.
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
    /// Somebody else could have written the file.
    #[error("{}: the configuration is not used: {cause}", path.display())]
    Untrusted {
        /// Which file.
        path: PathBuf,
        /// Who could have written what.
        #[source]
        cause: UntrustedPlace,
    },
    /// The file is not TOML.
    #[error("{}: not valid TOML: {what}", origin.place())]
    Syntax {
        /// Where.
        origin: ValueOrigin,
        /// What the parser says.
        what: String,
    },
    /// There is no such key.
    #[error("{}: there is no setting `{key}`; {hint}", origin.place())]
    UnknownKey {
        /// Where.
        origin: ValueOrigin,
        /// The key.
        key: String,
        /// The nearest valid name, or those there are.
        hint: String,
    },
    /// A value has the wrong type or is out of range.
    #[error("{}: `{key}` takes {takes}, not {found}", origin.place())]
    BadValue {
        /// Where.
        origin: ValueOrigin,
        /// The key.
        key: String,
        /// What it takes.
        takes: String,
        /// What was found.
        found: String,
    },
    /// A value or a key is of the right kind and cannot be used all the same.
    #[error("{}: `{key}` {what}", origin.place())]
    Unusable {
        /// Where.
        origin: ValueOrigin,
        /// The key.
        key: String,
        /// What is wrong with it, as the rest of the sentence.
        what: String,
    },
    /// A required key is missing.
    #[error("{}: `{key}` is missing; for example {}", origin.place(), example_of(key, example))]
    Missing {
        /// What makes it required.
        origin: ValueOrigin,
        /// The key.
        key: String,
        /// An example.
        example: String,
    },
}

/// Returns the line to write, and below which section.
fn example_of(key: &str, example: &str) -> String {
    match key.rsplit_once('.') {
        Some((section, name)) => format!("`{name} = {example}` below `[{section}]`"),
        None => format!("`{key} = {example}`"),
    }
}

impl ConfigError {
    /// Returns the stable code shown to people.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Unreadable { .. } | Self::Untrusted { .. } => ErrorCode::ConfigUnreadable,
            Self::Syntax { .. }
            | Self::UnknownKey { .. }
            | Self::BadValue { .. }
            | Self::Unusable { .. }
            | Self::Missing { .. } => ErrorCode::ConfigInvalid,
        }
    }

    /// Returns the key that the mistake is about, where there is one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Unreadable { .. } | Self::Untrusted { .. } | Self::Syntax { .. } => None,
            Self::UnknownKey { key, .. }
            | Self::BadValue { key, .. }
            | Self::Unusable { key, .. }
            | Self::Missing { key, .. } => Some(key),
        }
    }

    /// Returns where the mistake is; `None` for a file that cannot be read at all.
    #[must_use]
    pub fn origin(&self) -> Option<&ValueOrigin> {
        match self {
            Self::Unreadable { .. } | Self::Untrusted { .. } => None,
            Self::Syntax { origin, .. }
            | Self::UnknownKey { origin, .. }
            | Self::BadValue { origin, .. }
            | Self::Unusable { origin, .. }
            | Self::Missing { origin, .. } => Some(origin),
        }
    }
}

/// Every mistake of a configuration, in reading order; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    /// The first [`MISTAKES_MAX`] of them.
    pub list: Vec<ConfigError>,
    /// Whether there may be more.
    pub more: ListExtent,
}

/// Whether a list of mistakes is the whole list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListExtent {
    /// These are all.
    No,
    /// The search ended at the limit.
    Perhaps,
}

impl ConfigErrors {
    /// Returns the code of the worst of them.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        let unreadable = self.list.iter().find(|mistake| mistake.code() == ErrorCode::ConfigUnreadable);
        unreadable.map_or(ErrorCode::ConfigInvalid, ConfigError::code)
    }
}

impl ConfigErrors {
    /// Returns them as lines, the last of which says whether there may be more.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let more = match self.more {
            ListExtent::No => None,
            ListExtent::Perhaps => Some("perhaps there are more".to_owned()),
        };
        self.list.iter().map(ConfigError::to_string).chain(more).collect()
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([only], ListExtent::No) = (&*self.list, self.more) {
            return only.fmt(f);
        }
        match self.more {
            ListExtent::No => write!(f, "the configuration has {} mistakes", self.list.len())?,
            ListExtent::Perhaps => {
                write!(f, "the configuration has many mistakes; the first {}", self.list.len())?;
            }
        }
        self.list.iter().try_for_each(|mistake| write!(f, "\n  {mistake}"))
    }
}

impl std::error::Error for ConfigErrors {}

/// Gathers mistakes up to the limit.
#[derive(Debug, Default)]
pub(super) struct ErrorCollector(Vec<ConfigError>);

impl ErrorCollector {
    /// Takes note of a mistake; the value of what is none.
    pub(super) fn note<T>(&mut self, checked: Result<T, ConfigError>) -> Option<T> {
        match checked {
            Ok(value) => Some(value),
            Err(mistake) => {
                self.0.push(mistake);
                None
            }
        }
    }

    /// Returns whether looking further is of no use.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= MISTAKES_MAX
    }

    /// Returns whether a mistake was found on the line of a place.
    pub(super) fn has_line_of(&self, place: &ValueOrigin) -> bool {
        let line = |origin: &ValueOrigin| match origin {
            ValueOrigin::File { line, .. } => Some(*line),
            ValueOrigin::Default | ValueOrigin::Variable { .. } | ValueOrigin::Flag => None,
        };
        let wanted = line(place);
        wanted.is_some() && self.0.iter().any(|mistake| mistake.origin().and_then(line) == wanted)
    }

    /// Returns whether nothing is wrong.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Ends the search.
    pub(super) fn into_result(mut self) -> Result<(), ConfigErrors> {
        if self.0.is_empty() {
            return Ok(());
        }
        let more = if self.is_full() { ListExtent::Perhaps } else { ListExtent::No };
        self.0.sort_by(|one, other| match (one.origin(), other.origin()) {
            (Some(one), Some(other)) => one.in_reading_order(other),
            (one, other) => one.is_some().cmp(&other.is_some()),
        });
        self.0.truncate(MISTAKES_MAX);
        Err(ConfigErrors { list: self.0, more })
    }
}
