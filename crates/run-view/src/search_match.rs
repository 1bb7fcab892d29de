//! What a search of sessions found in them, for the way back to it.
//!
//! Pure. A session goes on after its last run, which need not be the one that was searched for.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::age;

const INPUT_CHARS_MAX: usize = 60;
/// Characters of an id that are enough to name a session.
const ID_CHARS_MIN: usize = 4;

/// An input that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchMatch {
    session_id: String,
    /// Its beginning.
    input: String,
}

impl SearchMatch {
    /// Returns what was found in a session; `None` where only its name or title has the text.
    pub fn of(session: &v1::Session) -> Option<Self> {
        let input = session.matched.clone();
        (!input.is_empty()).then(|| Self { session_id: session.session_id.clone(), input })
    }

    /// Returns whether the input is of a session.
    pub fn is_in(&self, session: &v1::Session) -> bool {
        self.session_id == session.session_id
    }

    /// Returns whether a run began with this input.
    pub fn is_input_of(&self, run: &v1::Run) -> bool {
        let preview = run.input_preview.as_str();
        !preview.is_empty() && (self.input.starts_with(preview) || preview.starts_with(&self.input))
    }

    /// Returns how to go on from the run that has it.
    pub fn note(&self, run: &v1::Run) -> String {
        format!(
            "the input that was found (\"{}\", {} ago) is not the last of this session; /branch {} goes on from there",
            clean_line(&self.input, INPUT_CHARS_MAX),
            age(run.created),
            short_id(&run.run_id)
        )
    }
}

/// Says that no session has a name, or a text in its title or inputs.
pub fn no_session_note(text: &str) -> String {
    let is_part = text.len() < ID_CHARS_MIN && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let part = if is_part { "; of an id, at least 4 characters are needed" } else { "" };
    let text = clean_line(text, INPUT_CHARS_MAX);
    format!(
        "no session is named `{text}`, or has it in its title or the first 120 characters of an input{part}; answers are not \
         searched, and /sessions lists the latest"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_an_id_that_is_too_short_is_said_to_be_so() {
        for (text, is_short) in [("RDG", true), ("r1", true), ("RDGA", false), ("a b", false)] {
            let message = no_session_note(text);
            assert_eq!(message.contains("at least 4 characters"), is_short, "{message}");
        }
    }
}
