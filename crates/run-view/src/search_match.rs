//! What a search of sessions found in them, for the way back to it.
//!
//! Pure. A session goes on after its last run, which need not be the one that was searched for.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::age;

/// Characters of an input that the journal keeps for lists and searches.
const SEARCHED_CHARS: usize = 120;
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

/// Says why a list of runs is empty: what was looked for, or which filter left them out.
pub fn no_runs_note(
    search: &str,
    since: Option<&prost_types::Timestamp>,
    request: &v1::ListRunsRequest,
) -> String {
    match search {
        "" if since.is_some() => {
            "no run was begun since then; `palyra runs list` shows the newest".to_owned()
        }
        "" if request.only() == v1::RunFilter::Open => {
            "no run is open; `palyra runs list` shows those that are over".to_owned()
        }
        "" if request.only() == v1::RunFilter::Finished => {
            "no run is over yet; `palyra runs list` shows those that are open".to_owned()
        }
        "" if !request.session_id.is_empty() => "this session has no runs yet".to_owned(),
        "" if !request.workspace_root.is_empty() => {
            "no run works in this folder; `palyra runs list` without the filter shows all".to_owned()
        }
        "" => "there are no runs yet; `palyra run \"...\"` makes one".to_owned(),
        search => format!(
            "no run has \"{}\" in the first {SEARCHED_CHARS} characters of its input, which are searched; `palyra runs tail RUN` \
             shows the whole of one",
            clean_line(search, INPUT_CHARS_MAX)
        ),
    }
}

/// Returns the surface of a name.
///
/// # Errors
/// What surfaces there are.
pub fn surface_named(name: &str) -> Result<v1::Surface, String> {
    let known = |surface: &palyra_types::surface::Surface| surface.name() == name;
    if palyra_types::surface::Surface::ALL.iter().any(known) {
        let name = format!("SURFACE_{}", name.to_uppercase());
        return Ok(v1::Surface::from_str_name(&name).unwrap_or_default());
    }
    let names = palyra_types::surface::Surface::ALL.map(palyra_types::surface::Surface::name).join(", ");
    let shown = clean_line(name, INPUT_CHARS_MAX);
    Err(format!("there is no surface `{shown}`; there are {names}"))
}

/// Returns whether the input that a search found is shown in the place of a title without the text.
pub fn shows_match(session: &v1::Session, title: &str, search: &str) -> bool {
    !search.is_empty()
        && !session.matched.is_empty()
        && !title.to_lowercase().contains(&search.to_lowercase())
}

/// Which sessions were searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchedSessions {
    /// Those that are not archived.
    Current,
    /// Archived ones.
    Archived,
    /// All.
    All,
}

/// Says what was looked for among sessions, where, and what was left out.
pub fn no_match_note(search: &str, searched: SearchedSessions) -> String {
    let search = clean_line(search, INPUT_CHARS_MAX);
    let which = if searched == SearchedSessions::Archived { "no archived session" } else { "no session" };
    let left_out = match searched {
        SearchedSessions::Current => "; `--all` looks at archived ones too",
        SearchedSessions::Archived | SearchedSessions::All => "",
    };
    format!(
        "{which} has \"{search}\" in its key, its title or the first {SEARCHED_CHARS} characters of an input; the rest and \
         answers are not searched{left_out}; `palyra runs list` lists the runs, `palyra runs tail RUN` shows all of one"
    )
}

/// Says that no session has a name, or a text in its title or inputs.
pub fn no_session_note(text: &str) -> String {
    let is_part = text.len() < ID_CHARS_MIN && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let part = if is_part { "; of an id, at least 4 characters are needed" } else { "" };
    let text = clean_line(text, INPUT_CHARS_MAX);
    format!(
        "no session is named `{text}`, or has it in its title or the first {SEARCHED_CHARS} characters of an input{part}; answers are not \
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
