//! The words for what the wire says in numbers.

use palyra_screen_text::short_id;
use palyra_wire::v1::{BranchPoint, Run, RunEndReason, RunPhase, RunState, Session};

/// Reads a run's state; a number of a newer version is unspecified.
pub fn run_state(number: i32) -> RunState {
    RunState::try_from(number).unwrap_or(RunState::Unspecified)
}

/// Returns the word for a run's state.
pub fn run_state_name(state: RunState) -> &'static str {
    match state {
        RunState::Unspecified => "unknown",
        RunState::Pending => "pending",
        RunState::InProgress => "in progress",
        RunState::Done => "done",
        RunState::Cancelled => "cancelled",
        RunState::Failed => "failed",
    }
}

/// Returns a run's state, with what it waits for or why it ended.
pub fn standing(run: &Run) -> String {
    let state = run_state_name(run_state(run.state));
    match (run.phase(), run.reason()) {
        (RunPhase::Waiting, _) => format!("waiting ({})", run.waiting_for_name()),
        (RunPhase::Finished, RunEndReason::FinalAnswer | RunEndReason::Cancelled) => state.to_owned(),
        (RunPhase::Finished, _) if run.reason != 0 => format!("{state} ({})", run.reason_name()),
        _ => state.to_owned(),
    }
}

/// What lists show instead of words that were erased.
pub const ERASED_MARK: &str = "(erased)";

/// How the keys begin that chats give to the session of a folder; people did not choose them.
const FOLDER_KEY_BEGINS: &str = "chat:";

/// Returns where a branch begins.
pub fn branch_origin(point: &BranchPoint) -> String {
    let run = short_id(&point.run_id);
    match point.tape_seq {
        0 => format!("a branch of run {run}"),
        number => format!("a branch of run {run}, after entry {number}"),
    }
}

/// Returns what a session is about: its title, a key that a person chose, or the first words said in it, or
/// the run that it branched off; then the input that a search found.
pub fn session_title(session: &Session) -> String {
    let names = [session.label.as_str(), chosen_key(session), &session.first_input, &session.session_key];
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

/// Returns whether a person gave a session its title or its key.
pub fn is_named(session: &Session) -> bool {
    !session.label.is_empty() || !chosen_key(session).is_empty()
}

fn chosen_key(session: &Session) -> &str {
    let is_chosen = !session.session_key.starts_with(FOLDER_KEY_BEGINS);
    if is_chosen { &session.session_key } else { "" }
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
    }

    #[test]
    fn where_a_run_stands_is_told_in_a_few_words() {
        let run = |state: RunState, phase: &str, waiting_for: &str, reason: &str| Run {
            state: state.into(),
            phase: RunPhase::from_short_name(phase).unwrap().into(),
            waiting_for: palyra_wire::v1::WaitReason::from_short_name(waiting_for).unwrap().into(),
            reason: RunEndReason::from_short_name(reason).unwrap().into(),
            ..Default::default()
        };
        for (run, expect) in [
            (run(RunState::Pending, "queued", "", ""), "pending"),
            (run(RunState::InProgress, "running", "", ""), "in progress"),
            (run(RunState::InProgress, "waiting", "loop_check", ""), "waiting (loop_check)"),
            (run(RunState::Done, "finished", "", "final_answer"), "done"),
            (run(RunState::Failed, "finished", "", "turn_limit"), "failed (turn_limit)"),
            (run(RunState::Cancelled, "finished", "", "cancelled"), "cancelled"),
        ] {
            assert_eq!(standing(&run), expect);
        }
    }
}
