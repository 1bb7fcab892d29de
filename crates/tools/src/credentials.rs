//! Credentials among what a walk meets: they are left out, and counted so that the result says so.
//!
//! Policy asks a person about a call that names credentials, and about no other. Invariant: what a walk shows of
//! credentials is only what the call itself named; all that it merely met stays out, however it was matched.

use std::path::Path;

use palyra_types::places::{folded, folded_names, is_credential, is_credential_itself};

use crate::quantity::quantity;

/// More names than any row of the table has.
const NAMES_MAX: usize = 4;

/// Stands behind the name of what is named and not shown.
pub(crate) const CREDENTIALS_TOLD: &str = " (credentials, contents not shown)";

/// Leaves credentials out of one walk.
#[derive(Debug)]
pub(crate) struct CredentialFilter {
    is_off: bool,
    left_out: u64,
}

impl CredentialFilter {
    /// Makes the filter of a call that names `path`, and below it a pattern where it has one.
    pub(crate) fn new(path: &Path, pattern: Option<&str>) -> Self {
        let names = |text: &str| is_credential(&folded_names(text));
        // A pattern with alternatives may match more than a reader of it sees.
        let is_plain = |pattern: &&str| !pattern.contains(['{', '[', '\\']);
        let is_off = names(&path.to_string_lossy()) || pattern.filter(is_plain).is_some_and(names);
        Self { is_off, left_out: 0 }
    }

    /// Returns whether an entry, by its path from the root, is left out; its parents are not.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        if self.is_off {
            return false;
        }
        let mut names: Vec<String> =
            path.iter().rev().take(NAMES_MAX).map(|name| folded(&name.to_string_lossy())).collect();
        names.reverse();
        is_credential_itself(&names)
    }

    /// Counts one that was left out.
    pub(crate) fn count(&mut self) {
        self.left_out += 1;
    }

    /// Returns a sentence about what was left out, when anything was.
    pub(crate) fn note(&self) -> Option<String> {
        let paths = quantity(self.left_out, "path");
        let note = || {
            format!("{paths} that may hold credentials left out; name one as `path` to ask the person for it")
        };
        (self.left_out > 0).then(note)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, pattern: Option<&str>, met: &str, is_hidden: bool) {
        let filter = CredentialFilter::new(Path::new(path), pattern);
        assert_eq!(filter.hides(Path::new(met)), is_hidden, "{path} {pattern:?} {met}");
    }

    #[test]
    fn what_is_only_met_stays_out_and_what_is_named_does_not() {
        for met in ["server.key", "a/b/c/.env", "secrets", "d/.config/gh", "CREDENTIALS.json"] {
            check("", None, met, true);
            check("", Some("*.ke[y]"), met, true);
            check("", Some("{**,x/id_rsa}"), met, true);
            check("secrets", None, met, false);
            check("", Some("*.key"), met, false);
        }
        check("", None, "src/main.rs", false);
        check("", None, ".env.example", false);
    }
}
