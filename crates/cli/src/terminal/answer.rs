//! An answer to an approval as it is typed at a terminal.
//!
//! Invariant: nothing but a clear yes is a yes, and above medium risk a yes repeats a word that only its own prompt
//! shows.

use palyra_wire::v1;

/// Characters of an approval's id that a yes to a risky call repeats.
const WORD_CHARS: usize = 4;

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
    /// A yes without the word that this risk asks for.
    WordMissing,
    /// None of these.
    Unclear,
}

/// Which answers an approval takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerForm {
    risk: String,
    /// What a yes has to repeat.
    word: Option<String>,
}

impl AnswerForm {
    /// The answers to the approval with this id. A risk that is not known counts as high.
    pub(crate) fn of(approval_id: &str, risk: &str) -> Self {
        let chars: Vec<char> = approval_id.chars().collect();
        let word = chars[chars.len().saturating_sub(WORD_CHARS)..].iter().collect();
        let word = (!matches!(risk, "low" | "medium")).then_some(word);
        Self { risk: risk.to_owned(), word }
    }

    /// Returns what is shown where the answer is typed.
    pub(crate) fn prompt(&self) -> String {
        match &self.word {
            None => "? run it? [y/n/s/m/l/?]".to_owned(),
            Some(word) => {
                format!("? {} risk: type {word} to run it [{word}/n/s {word}/m/l/?]", self.risk)
            }
        }
    }

    /// Returns what the letters mean.
    pub(crate) fn help(&self) -> String {
        let (yes, session) = match &self.word {
            None => ("y".to_owned(), "s".to_owned()),
            Some(word) => (word.clone(), format!("s {word}")),
        };
        format!(
            "{yes} runs it, n denies it (n TEXT tells the model why), {session} runs it and equal calls of this session \
             without asking, m shows all of it, l leaves it for later"
        )
    }

    /// Reads a line.
    pub(crate) fn read(&self, line: &str) -> Answer {
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match (first.to_ascii_lowercase().as_str(), rest) {
            ("n" | "no", note) => {
                Answer::Decide { decision: v1::ApprovalDecision::Deny, note: note.to_owned(), remember: None }
            }
            ("m" | "more", "") => Answer::More,
            ("l" | "later", "") => Answer::Skip,
            ("y" | "yes", rest) => self.yes(rest, None),
            ("s" | "session", rest) => {
                let wish = v1::GrantWish { scope: "session".to_owned(), ..Default::default() };
                self.yes(rest, Some(wish))
            }
            (_, "") if self.word.as_deref().is_some_and(|word| first.eq_ignore_ascii_case(word)) => {
                self.yes(first, None)
            }
            _ => Answer::Unclear,
        }
    }

    fn yes(&self, rest: &str, remember: Option<v1::GrantWish>) -> Answer {
        let yes = Answer::Decide { decision: v1::ApprovalDecision::Approve, note: String::new(), remember };
        match (&self.word, rest) {
            (None, "") => yes,
            (Some(word), rest) if rest.eq_ignore_ascii_case(word) => yes,
            (Some(_), "") => Answer::WordMissing,
            _ => Answer::Unclear,
        }
    }
}

#[cfg(test)]
mod tests;
