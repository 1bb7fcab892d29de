//! A credential in memory.

use std::fmt;

/// A value that neither `Debug` nor any error shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value, without the white space around it that files and shells leave.
    #[must_use]
    pub fn new(value: &str) -> Self {
        Self(value.trim().to_owned())
    }

    /// Returns the value; the caller answers for where it goes.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Returns `text` without the value, should a server have echoed it.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "[credential]") }
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
        assert_eq!(Secret::new("").scrub("as it is"), "as it is");
    }
}
