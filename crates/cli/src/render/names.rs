//! The words for what the wire says in numbers.

use palyra_wire::v1::{BranchPoint, RunState, Session};

/// Reads a run's state; a number of a newer version is unspecified.
pub(crate) fn run_state(number: i32) -> RunState {
    RunState::try_from(number).unwrap_or(RunState::Unspecified)
}

/// Returns the word for a run's state.
pub(crate) fn run_state_name(state: RunState) -> &'static str {
    match state {
        RunState::Unspecified => "unknown",
        RunState::Pending => "pending",
        RunState::InProgress => "in progress",
        RunState::Done => "done",
        RunState::Cancelled => "cancelled",
        RunState::Failed => "failed",
    }
}

/// Characters of an id that tables show: its end, since ids that were made at about the same time begin alike.
const SHORT_ID_CHARS: usize = 6;

/// Returns as much of an id as tables show.
pub(crate) fn short_id(id: &str) -> String {
    let begin = id.len().saturating_sub(SHORT_ID_CHARS);
    id.get(begin..).unwrap_or(id).to_owned()
}

/// What lists show instead of words that were erased.
pub(crate) const ERASED_MARK: &str = "(erased)";

/// How the keys begin that chats give to the session of a folder; people did not choose them.
const FOLDER_KEY_BEGINS: &str = "chat:";

/// Returns where a branch begins.
pub(crate) fn branch_origin(point: &BranchPoint) -> String {
    let run = short_id(&point.run_id);
    match point.tape_seq {
        0 => format!("a branch of run {run}"),
        number => format!("a branch of run {run}, after entry {number}"),
    }
}

/// Returns what a session is about: its title, a key that a person chose, or the first words said in it, or
/// the run that it branched off; then the input that a search found.
pub(crate) fn session_title(session: &Session) -> String {
    let is_chosen = !session.session_key.starts_with(FOLDER_KEY_BEGINS);
    let key = if is_chosen { session.session_key.as_str() } else { "" };
    let names = [session.label.as_str(), key, &session.first_input, &session.session_key];
    let branch = session.branched_from.as_ref();
    let branch = branch.map(|point| format!("(branch of run {})", short_id(&point.run_id)));
    let name = names.into_iter().find(|name| !name.is_empty());
    let name = name.or(branch.as_deref()).unwrap_or_default();
    let archived = if session.archived.is_some() { " (archived)" } else { "" };
    match session.matched.as_str() {
        matched if matched.is_empty() || matched == name => format!("{name}{archived}"),
        matched => format!("{name}{archived}: {matched}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_told_by_what_it_is_about() {
        let session = |label: &str, key: &str, first_input: &str, matched: &str| Session {
            label: label.to_owned(),
            session_key: key.to_owned(),
            first_input: first_input.to_owned(),
            matched: matched.to_owned(),
            ..Session::default()
        };
        for (session, title) in [
            (session("Notes", "notes", "hello", ""), "Notes"),
            (session("", "notes", "hello", ""), "notes"),
            (session("", "chat:/home/a", "hello", ""), "hello"),
            (session("", "chat:/home/a", "", ""), "chat:/home/a"),
            (session("", "", "hello", "hello"), "hello"),
            (session("", "", "hello", "buy tea"), "hello: buy tea"),
        ] {
            assert_eq!(session_title(&session), title);
        }
        assert_eq!(short_id("01ARZ3NDEKTSV4RRFFQ69G5FAV"), "9G5FAV");
        assert_eq!(short_id("AB"), "AB");
    }
}
