//! How people name things: by a whole id, by a beginning or an ending of one, or as the last of its kind.
//!
//! Owns the kinds of things that have ids a person types, and the reading of such names. Knows no journal: which ids there
//! are, and who may see them, the daemon knows.

use std::fmt;
use std::str::FromStr;

use ulid::Ulid;

/// Characters of a beginning or an ending, at least.
pub const ID_FRAGMENT_CHARS_MIN: usize = 4;
/// Characters of a whole id.
const ID_CHARS: usize = 26;
/// Characters at its end that tables show.
const SHOWN_CHARS: usize = 6;
/// The letters and digits of ids.
const ALPHABET: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// How far `last~N` reaches back.
pub const LAST_BACK_MAX: u32 = 999;

/// A kind of thing that people name by its id. A new kind is one row of [`IdKind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKind {
    /// A run.
    Run,
    /// A session.
    Session,
    /// An approval.
    Approval,
    /// A stored grant.
    Grant,
    /// An agent.
    Agent,
    /// An access token.
    Token,
}

impl IdKind {
    /// Every kind with its word.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Run, "run"),
        (Self::Session, "session"),
        (Self::Approval, "approval"),
        (Self::Grant, "grant"),
        (Self::Agent, "agent"),
        (Self::Token, "token"),
    ];
}

crate::words::words_of_table!(IdKind);

/// Why a text names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not an id; type all 26 characters, at least {ID_FRAGMENT_CHARS_MIN} of its beginning or end, `last` or `last~N`"
)]
pub struct InvalidIdName {
    given: String,
}

impl InvalidIdName {
    /// Returns the message where nothing is counted back from the last one.
    #[must_use]
    pub fn without_count(&self) -> String {
        format!(
            "`{}` is not an id; type all 26 characters, at least {ID_FRAGMENT_CHARS_MIN} of its beginning or end, or `last`",
            self.given
        )
    }
}

/// What a person typed instead of a whole id, or a whole id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdName {
    /// The newest in the folder; behind it as many as the number says.
    Last(u32),
    /// A beginning, an ending, or all of an id.
    Fragment(IdFragment),
}

impl FromStr for IdName {
    type Err = InvalidIdName;

    fn from_str(text: &str) -> Result<Self, InvalidIdName> {
        let invalid = || InvalidIdName { given: text.chars().take(40).collect() };
        if text == "last" {
            return Ok(Self::Last(0));
        }
        if let Some(back) = text.strip_prefix("last~") {
            let back: u32 = back.parse().map_err(|_| invalid())?;
            return if back <= LAST_BACK_MAX { Ok(Self::Last(back)) } else { Err(invalid()) };
        }
        IdFragment::parse(text).map(Self::Fragment).ok_or_else(invalid)
    }
}

/// A beginning, an ending, or all of an id, in upper case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdFragment(String);

impl IdFragment {
    /// Reads one, whatever its case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let upper = text.to_ascii_uppercase();
        let fits = (ID_FRAGMENT_CHARS_MIN..=ID_CHARS).contains(&upper.len());
        (fits && upper.chars().all(|c| ALPHABET.contains(c))).then_some(Self(upper))
    }

    /// Returns its characters.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether an id, given by its bytes, begins or ends with it, or its form in tables begins with it.
    #[must_use]
    pub fn matches(&self, id: [u8; 16]) -> bool {
        self.matches_text(&Ulid::from_bytes(id).to_string())
    }

    /// As [`Self::matches`], of an id as it is written.
    #[must_use]
    pub fn matches_text(&self, id: &str) -> bool {
        let shown = id.len().checked_sub(SHOWN_CHARS).and_then(|at| id.get(at..)).unwrap_or(id);
        id.starts_with(&self.0) || id.ends_with(&self.0) || shown.starts_with(&self.0)
    }
}

impl fmt::Display for IdFragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;

    #[test]
    fn names_are_read() {
        let fragment = |text: &str| IdFragment::parse(text).map(IdName::Fragment);
        for (text, name) in [
            ("last", Some(IdName::Last(0))),
            ("last~2", Some(IdName::Last(2))),
            ("a1b2", fragment("A1B2")),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", fragment("01ARZ3NDEKTSV4RRFFQ69G5FAV")),
            ("last~", None),
            ("last~1000", None),
            ("last~-1", None),
            ("A1B", None),
            ("A1BU", None),
            ("A1B ", None),
            ("", None),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV0", None),
        ] {
            assert_eq!(text.parse().ok(), name, "{text}");
        }
        assert!(
            IdKind::ALL.iter().all(|(kind, word)| IdKind::of(word) == Some(*kind) && kind.as_str() == *word)
        );
    }

    #[test]
    fn beginnings_and_endings_match_and_middles_do_not() {
        let id: RunId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let matches = |text: &str| IdFragment::parse(text).unwrap().matches(id.to_bytes());
        assert!(["01AR", "5FAV", "g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FAV"].into_iter().all(matches));
        assert!(!["1ARZ", "G5FA", "NDEK", "01AS"].into_iter().any(matches));
    }
}
