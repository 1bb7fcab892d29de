//! Content that a log line must never show.

use std::fmt;

/// A value said by a person, a model, a tool or an outside system.
///
/// Its `Debug` shows only that something is there, so that it cannot slip into a trace. In the journal
/// it belongs to the erasable payload of an entry, never to its facts.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// Wraps content.
    pub fn new(content: T) -> Self {
        Self(content)
    }

    /// Returns the content; the caller answers for where it goes.
    pub fn expose(&self) -> &T {
        &self.0
    }

    /// Unwraps the content; the caller answers for where it goes.
    pub fn into_exposed(self) -> T {
        self.0
    }

    /// Returns the content to be changed in place, for the list of content fields.
    pub(crate) fn exposed_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> From<T> for Redacted<T> {
    fn from(content: T) -> Self {
        Self(content)
    }
}

impl From<&str> for Redacted<String> {
    fn from(content: &str) -> Self {
        Self(content.to_owned())
    }
}

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
    }
}
