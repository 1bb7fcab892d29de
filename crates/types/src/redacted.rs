//! Content that a log line must never show: as it came in, and after the redactor.
//!
//! Owns the two types and how one becomes the other. Knows no rule. Invariant: product code makes a [`Redacted`] by the
//! redactor, from a literal, or from what is stored; `cargo xtask tidy` lists the files that may name its constructors.

use std::fmt;
use std::sync::Arc;

use crate::{MemoryId, Timestamp};

/// A value as a person, a model, a tool or an outside system said it.
///
/// Only the redactor makes something of it that is recorded or shown: `redact` rewrites words, `check` admits values that
/// must not be rewritten. Its `Debug` shows only that something is there.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Content<T>(T);

impl<T> Content<T> {
    /// Wraps a value from outside.
    pub const fn new(content: T) -> Self {
        Self(content)
    }

    /// Returns the value; the caller answers for where it goes.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Unwraps the value; the caller answers for where it goes.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

impl<T> From<T> for Content<T> {
    fn from(content: T) -> Self {
        Self(content)
    }
}

impl From<&str> for Content<String> {
    fn from(content: &str) -> Self {
        Self(content.to_owned())
    }
}

/// What was cleaned may be cleaned again.
impl<T> From<Redacted<T>> for Content<T> {
    fn from(content: Redacted<T>) -> Self {
        Self(content.0)
    }
}

impl<T> fmt::Debug for Content<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<content>")
    }
}

/// A value that may be recorded and shown: its secrets were replaced, or it has none.
///
/// Its `Debug` shows only that something is there, so that it cannot slip into a trace. In the journal
/// it belongs to the erasable payload of an entry, never to its facts.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// Wraps what the redactor cleaned, or admitted unchanged. For redactors alone.
    pub const fn cleaned(content: T) -> Self {
        Self(content)
    }

    /// Wraps what is read from where only redacted content is stored. For codecs alone.
    pub const fn from_stored(content: T) -> Self {
        Self(content)
    }

    /// Wraps a name that was checked where it came in.
    pub(crate) const fn of_name(name: T) -> Self {
        Self(name)
    }

    /// Returns the content; the caller answers for where it goes.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Unwraps the content; the caller answers for where it goes.
    pub fn into_exposed(self) -> T {
        self.0
    }

    /// Makes something else of this alone: `make` is a function without captures, so nothing raw can come in by it.
    pub fn map<U>(self, make: fn(T) -> U) -> Redacted<U> {
        Redacted(make(self.0))
    }

    /// Puts another value beside this, for [`map`](Self::map).
    pub fn zip<U>(self, other: Redacted<U>) -> Redacted<(T, U)> {
        Redacted((self.0, other.0))
    }

    /// Returns the content to be changed in place, for the list of content fields.
    pub(crate) fn exposed_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Redacted<Option<T>> {
    /// Returns the value if there is one.
    pub fn transpose(self) -> Option<Redacted<T>> {
        self.0.map(Redacted)
    }
}

impl<T> Redacted<Vec<T>> {
    /// Returns the elements.
    pub fn into_elements(self) -> Vec<Redacted<T>> {
        self.0.into_iter().map(Redacted).collect()
    }
}

impl<T, U> Redacted<(T, U)> {
    /// Undoes [`zip`](Redacted::zip).
    pub fn unzip(self) -> (Redacted<T>, Redacted<U>) {
        (Redacted(self.0.0), Redacted(self.0.1))
    }
}

impl Redacted<String> {
    /// Appends another text.
    pub fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Cuts the text in two, at a character's border not behind `at`.
    #[must_use]
    pub fn split_at(&self, at: usize) -> (Self, Self) {
        let (head, tail) = self.0.split_at(self.0.floor_char_boundary(at));
        (Self(head.to_owned()), Self(tail.to_owned()))
    }
}

/// Joins texts as they are.
impl FromIterator<Self> for Redacted<String> {
    fn from_iter<I: IntoIterator<Item = Self>>(texts: I) -> Self {
        Self(texts.into_iter().map(Self::into_exposed).collect())
    }
}

/// A literal of the program.
impl From<&'static str> for Redacted<String> {
    fn from(literal: &'static str) -> Self {
        Self(literal.to_owned())
    }
}

/// Bytes of the program.
impl From<&'static [u8]> for Redacted<Arc<[u8]>> {
    fn from(literal: &'static [u8]) -> Self {
        Self(literal.into())
    }
}

/// Makes values without text redacted ones.
macro_rules! without_text {
    ($($type:ty),*) => {
        $(impl From<$type> for Redacted<$type> {
            fn from(value: $type) -> Self {
                Self(value)
            }
        })*
    };
}

without_text!([u8; 32], u64, usize, Timestamp, MemoryId);

impl<T> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<content>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_hides_the_content() {
        assert_eq!(format!("{:?}", Redacted::<String>::from("canary")), "<content>");
        assert_eq!(format!("{:?}", Content::<String>::from("canary")), "<content>");
    }

    #[test]
    fn redacted_texts_are_cut_and_joined() {
        let text = Redacted::<String>::from("grün");
        let (head, tail) = text.split_at(3);
        assert_eq!((head.expose().as_str(), tail.expose().as_str()), ("gr", "ün"));
        assert_eq!([head, tail].into_iter().collect::<Redacted<String>>(), text);
        let pair = text.zip(Redacted::from(7_u64)).map(|(text, number)| format!("{text} {number}"));
        assert_eq!(pair.expose(), "grün 7");
    }
}
