//! What can be wrong with the JSON of a client, and its limits.

use std::fmt;

/// Bytes of a JSON text, at most.
pub const JSON_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Levels of objects and lists in a JSON text, at most.
pub const JSON_DEPTH_MAX: usize = 32;
/// Why a JSON text is not a message, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {fault}", place = JsonPlace(path))]
pub struct JsonInputError {
    /// The place, such as `input.attachments[2].name`; empty for the whole text.
    pub path: String,
    /// What is wrong there.
    pub fault: JsonFault,
}

/// What is wrong with a place of a JSON text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// The text is longer than the limit.
    #[error("the text has {bytes} bytes, at most {bytes_max} are allowed")]
    TooLarge {
        /// Its length.
        bytes: usize,
        /// Allowed.
        bytes_max: usize,
    },
    /// Objects or lists are nested too deeply.
    #[error("objects and lists are nested more than {JSON_DEPTH_MAX} levels deep")]
    TooDeep,
    /// The text is not JSON.
    #[error("not valid JSON, {what}")]
    Syntax {
        /// What the parser says, with line and column.
        what: String,
    },
    /// An object has a member twice.
    #[error("this member occurs twice; keep one of them")]
    DuplicateMember,
    /// The message has no such field.
    #[error("`{message}` has no such member{}", near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownMember {
        /// The message.
        message: String,
        /// The member that is spelled alike.
        near: Option<String>,
    },
    /// The value has another type than the field.
    #[error("must be {expected}, not {found}")]
    WrongType {
        /// What the field takes.
        expected: String,
        /// What was given.
        found: &'static str,
    },
    /// The enumeration has no such value.
    #[error("not a value of `{name}`, which has {known}")]
    UnknownValue {
        /// The enumeration.
        name: String,
        /// Its values.
        known: String,
    },
    /// A number does not fit into the field.
    #[error("must be {expected}, and the number is outside of that range")]
    OutOfRange {
        /// What the field takes.
        expected: String,
    },
    /// A member of the body has its place in the path.
    #[error("is a part of the path; leave it out of the body")]
    InPath,
    /// Two fields were given of which a message has one.
    #[error("cannot be combined with `{other}`; give one of them")]
    Combined {
        /// The other field.
        other: String,
    },
}

struct JsonPlace<'a>(&'a str);

impl fmt::Display for JsonPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { f.write_str("the JSON text") } else { write!(f, "`{}`", self.0) }
    }
}

impl JsonInputError {
    pub(super) fn new(path: &str, fault: JsonFault) -> Self {
        Self { path: path.to_owned(), fault }
    }
}
