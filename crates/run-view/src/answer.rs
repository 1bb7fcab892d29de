//! An answer to an approval as it is typed at a terminal.
//!
//! Invariant: nothing but a clear yes is a yes, and above medium risk a yes repeats a word that only its own prompt
//! shows.

mod session_offer;

use palyra_wire::v1;

use palyra_screen_text::clean_line;
pub use session_offer::{GrantSession, OfferScope, SessionOffer};

/// Characters of a line that is not an answer, where it is shown again.
const UNCLEAR_CHARS_MAX: usize = 40;
/// Characters of an approval's id that a yes to a risky call repeats.
const WORD_CHARS: usize = 4;

/// Said in the place of an explanation that is on the screen.
const EXPLAINS: &str = "? explains the keys";

/// What a typed line says to an approval.
#[derive(Debug, Clone, PartialEq)]
pub enum TypedAnswer {
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
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerForm {
    risk: String,
    /// What a yes has to repeat.
    word: Option<String>,
    /// What `s` and `f` do.
    offer: SessionOffer,
    /// Where they do it.
    scope: OfferScope,
    /// Whether the keys were explained below this question already.
    is_explained: bool,
}

/// Whether a plain `y` is not enough. A risk that is not known counts as high.
pub fn is_risky(risk: &str) -> bool {
    !matches!(risk, "low" | "medium")
}

impl AnswerForm {
    /// The answers to the approval with this id.
    pub fn of(approval_id: &str, risk: &str, prompt: &v1::ApprovalPrompt, scope: &OfferScope) -> Self {
        let chars: Vec<char> = approval_id.chars().collect();
        let word = chars[chars.len().saturating_sub(WORD_CHARS)..].iter().collect();
        let offer = SessionOffer::of(prompt, risk);
        let word = is_risky(risk).then_some(word);
        Self { risk: risk.to_owned(), word, offer, scope: scope.clone(), is_explained: false }
    }

    /// Returns the same answers without those that remember something, for a command that names what it remembers.
    #[must_use]
    pub fn without_offer(self) -> Self {
        Self { offer: SessionOffer::Nothing, ..self }
    }

    /// Returns what a yes has to repeat; `None` where a plain yes is enough.
    pub fn word(&self) -> Option<&str> {
        self.word.as_deref()
    }

    /// Returns what is shown where the answer is typed.
    pub fn prompt(&self) -> String {
        let yes = match &self.word {
            None => "[y]es".to_owned(),
            Some(word) => format!("{} risk: type {word} to run it", self.risk),
        };
        let session = match (&self.offer, &self.word) {
            (SessionOffer::Nothing, _) => String::new(),
            (SessionOffer::SameCall, None) => "  [s] this call, in this session".to_owned(),
            (SessionOffer::SameCall, Some(word)) => format!("  [s {word}] this call, in this session"),
            (SessionOffer::BelowFolder { .. }, _) => "  [f]older".to_owned(),
        };
        format!("? {yes}  [n]o, or \"n REASON\"{session}  [m]ore  [l]ater")
    }

    /// Returns what the keys do.
    pub fn help(&self) -> String {
        let (yes, same) = match &self.word {
            None => ("y".to_owned(), "s".to_owned()),
            Some(word) => (word.clone(), format!("s {word}")),
        };
        let reach = self.scope.session_reach();
        let session = match &self.offer {
            SessionOffer::Nothing => String::new(),
            SessionOffer::SameCall => {
                format!("; {same} runs it, and this same call again without asking {reach}")
            }
            SessionOffer::BelowFolder { tool, folder, .. } => {
                let place = self.scope.place_of(folder);
                format!("; f runs it, and each further {tool} {place} {reach}")
            }
        };
        format!(
            "{yes} runs this call once{session}; n denies it, and \"n REASON\" tells the model why; m shows \
             everything; l leaves it for later"
        )
    }

    /// Says that a line is not an answer; which keys are, is explained once and where it is asked for.
    pub fn unclear(&mut self, line: &str) -> Vec<String> {
        let line = clean_line(line.trim(), UNCLEAR_CHARS_MAX);
        let told = format!("\"{line}\" is none of the answers, so nothing was decided");
        match line.as_str() {
            "?" => vec![self.help()],
            "" if self.is_explained => vec![EXPLAINS.to_owned()],
            "" => self.explained(None),
            _ => self.explained(Some(told)),
        }
    }

    /// Returns what to say of a line, and what the keys do unless that was said below this question.
    fn explained(&mut self, told: Option<String>) -> Vec<String> {
        let again = std::mem::replace(&mut self.is_explained, true);
        match told {
            Some(told) if again => vec![format!("{told}; {EXPLAINS}")],
            told => told.into_iter().chain([self.help()]).collect(),
        }
    }

    /// Says that a yes without the word of the prompt runs nothing; the keys are explained once.
    pub fn word_missing(&mut self, line: &str) -> Vec<String> {
        let line = clean_line(line.trim(), UNCLEAR_CHARS_MAX);
        let word = self.word.as_deref().unwrap_or_default();
        let wanted = if line.starts_with(['s', 'S']) { format!("s {word}") } else { word.to_owned() };
        let told = format!("\"{line}\" does not run a {} risk call; type {wanted} to run it", self.risk);
        self.explained(Some(told))
    }

    /// Returns whether a line is one of the answers, or means to be.
    pub fn is_answer(&self, line: &str) -> bool {
        self.read(line) != TypedAnswer::Unclear
    }

    /// Reads a line.
    pub fn read(&self, line: &str) -> TypedAnswer {
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        // A sentence may begin with it, such as "No, keep it". A yes stays without signs.
        let denies = first.trim_end_matches([',', '.', ';', ':', '!']);
        let first = if ["n", "no"].iter().any(|no| denies.eq_ignore_ascii_case(no)) { denies } else { first };
        let rest = rest.trim();
        match (first.to_ascii_lowercase().as_str(), rest, &self.offer) {
            ("n" | "no", note, _) => TypedAnswer::Decide {
                decision: v1::ApprovalDecision::Deny,
                note: note.to_owned(),
                remember: None,
            },
            ("m" | "more", "", _) => TypedAnswer::More,
            ("l" | "later" | "q" | "quit", "", _) => TypedAnswer::Skip,
            ("y" | "yes", rest, _) => self.yes(rest, None),
            ("s" | "session", rest, SessionOffer::SameCall) => {
                let requested = v1::GrantWish { scope: v1::GrantScope::Session.into(), ..Default::default() };
                self.yes(rest, Some(requested))
            }
            ("f" | "folder", rest, SessionOffer::BelowFolder { requested, .. }) => {
                self.yes(rest, Some(requested.clone()))
            }
            (_, "", _) if self.word.as_deref().is_some_and(|word| first.eq_ignore_ascii_case(word)) => {
                self.yes(first, None)
            }
            _ => TypedAnswer::Unclear,
        }
    }

    fn yes(&self, rest: &str, remember: Option<v1::GrantWish>) -> TypedAnswer {
        let yes =
            TypedAnswer::Decide { decision: v1::ApprovalDecision::Approve, note: String::new(), remember };
        match (&self.word, rest) {
            (None, "") => yes,
            (Some(word), rest) if rest.eq_ignore_ascii_case(word) => yes,
            (Some(_), "") => TypedAnswer::WordMissing,
            _ => TypedAnswer::Unclear,
        }
    }
}

#[cfg(test)]
mod tests;
