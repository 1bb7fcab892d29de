//! What a search of sessions found in them, for the way back to it.
//!
//! Pure. A session goes on after its last run, which need not be the one that was searched for.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::age;

const INPUT_CHARS_MAX: usize = 60;

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
