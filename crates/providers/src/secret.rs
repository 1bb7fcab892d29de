//! A credential in memory.

use std::fmt;

/// What stands where a credential stood.
const SCRUBBED: &str = "[credential]";
/// A shorter beginning of a credential gives nothing away: vendors' keys begin alike.
const CUT_BYTES_MIN: usize = 4;

/// A value that neither `Debug` nor any error shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: String,
    /// Where it was found, for what is said of a server that refuses it.
    origin: Option<String>,
}

impl Secret {
    /// Wraps a value, without the white space around it that files and shells leave.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self { value: value.trim().to_owned(), origin: None }
    }

    /// Says where it was found: a reference such as `env:NAME`.
    #[must_use]
    pub fn found_at(self, origin: &impl fmt::Display) -> Self {
        Self { origin: Some(origin.to_string()), ..self }
    }

    /// Returns where it was found, where that was said.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    /// Returns the value; the caller answers for where it goes.
    pub(crate) fn expose(&self) -> &str {
        &self.value
    }

    /// Returns the value, for whoever keeps it out of texts.
    #[must_use]
    pub fn to_be_redacted(&self) -> palyra_types::Content<String> {
        palyra_types::Content::new(self.value.clone())
    }

    /// Returns `text` without the value, should a server have echoed it, and without the beginning of one that
    /// was cut off at its end.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.value.is_empty() {
            return text.to_owned();
        }
        let mut clean = text.replace(&self.value, SCRUBBED);
        let parts = (CUT_BYTES_MIN..self.value.len()).rev().filter_map(|bytes| self.value.get(..bytes));
        if let Some(rest) = parts.into_iter().find_map(|part| clean.strip_suffix(part)) {
            let end = rest.len();
            clean.truncate(end);
            clean.push_str(SCRUBBED);
        }
        clean
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<secret>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Secret::new(" canary-17\n");
        assert_eq!(format!("{secret:?}"), "<secret>");
        assert_eq!(secret.expose(), "canary-17");
        assert_eq!(secret.scrub("bad key canary-17!"), "bad key [credential]!");
        assert_eq!(secret.scrub("canary-17 canary-1"), "[credential] [credential]");
        assert_eq!(secret.scrub("canary-1 can"), "canary-1 can");
        assert_eq!(Secret::new("").scrub("as it is"), "as it is");
    }
}
