//! An answer to an approval as it is typed at a terminal.

use palyra_wire::v1;

/// What a typed line says to an approval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Yes or no.
    Decide {
        /// Which.
        decision: v1::ApprovalDecision,
        /// What was said with a no.
        note: String,
        /// What shall be remembered with a yes.
        remember: Option<v1::GrantWish>,
    },
    /// Show all of it.
    More,
    /// Leave it for later.
    Skip,
    /// None of these.
    Unclear,
}

impl Answer {
    /// What stands before the line.
    pub(crate) const PROMPT: &str = "run it? [y/n/s/m/l/?] ";

    /// What the letters mean.
    pub(crate) const HELP: &str = "y runs it, n denies it (n TEXT tells the model why), s runs it and equal calls of this \
                                   session silently, m shows all of it, l leaves it for later";

    /// Reads a line; nothing but a clear yes is a yes.
    pub(crate) fn read(line: &str) -> Self {
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (word.to_ascii_lowercase().as_str(), rest.is_empty()) {
            ("y" | "yes", true) => Self::yes(None),
            ("s" | "session", true) => {
                Self::yes(Some(v1::GrantWish { scope: "session".to_owned(), ..Default::default() }))
            }
            ("n" | "no", _) => {
                Self::Decide { decision: v1::ApprovalDecision::Deny, note: rest.to_owned(), remember: None }
            }
            ("m" | "more", true) => Self::More,
            ("l" | "later", true) => Self::Skip,
            _ => Self::Unclear,
        }
    }

    fn yes(remember: Option<v1::GrantWish>) -> Self {
        Self::Decide { decision: v1::ApprovalDecision::Approve, note: String::new(), remember }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        for line in ["y", " Yes ", "YES", "s"] {
            let yes = Answer::read(line);
            assert!(
                matches!(yes, Answer::Decide { decision: v1::ApprovalDecision::Approve, .. }),
                "{line}: {yes:?}"
            );
        }
        for line in ["", "yeah", "y please", "ja", "ok", "yes but", "\u{ff59}"] {
            assert_eq!(Answer::read(line), Answer::Unclear, "{line}");
        }
    }

    #[test]
    fn a_no_may_say_why() {
        let no = |note: &str| Answer::Decide {
            decision: v1::ApprovalDecision::Deny,
            note: note.to_owned(),
            remember: None,
        };
        assert_eq!(Answer::read("n"), no(""));
        assert_eq!(Answer::read("no  not this file "), no("not this file"));
        assert_eq!((Answer::read("m"), Answer::read("l")), (Answer::More, Answer::Skip));
    }
}
