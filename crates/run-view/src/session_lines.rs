//! What is known of a session, in lines.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::times::date;

const NAME_CHARS_MAX: usize = 200;

/// Returns a line for each thing that is known of a session.
pub fn session_lines(session: &v1::Session) -> impl Iterator<Item = String> {
    let branched = session.branched_from.as_ref().map(|place| format!("{}@{}", place.run_id, place.tape_seq));
    let recall = match session.recall() {
        v1::RecallSwitch::On => "on",
        v1::RecallSwitch::Off => "off",
        v1::RecallSwitch::Inherit | v1::RecallSwitch::Unspecified => "",
    };
    let lines = [
        ("session", session.session_id.clone()),
        ("key", clean_line(&session.session_key, NAME_CHARS_MAX)),
        ("label", clean_line(&session.label, NAME_CHARS_MAX)),
        ("agent", session.agent_id.clone()),
        ("recall", recall.to_owned()),
        ("branched", branched.unwrap_or_default()),
        ("created", date(session.created)),
        ("updated", date(session.updated)),
        ("archived", date(session.archived)),
        ("runs", session.runs.to_string()),
        ("last run", session.last_run_id.clone()),
    ];
    let known = lines.into_iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| format!("{name:<9}{value}"))
}

/// Where a conversation can go on that is named to a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatFolder {
    /// In the folder that the person is in.
    Here,
    /// In another one only: no agent works in this one.
    Elsewhere,
}

/// Returns the command that goes on with a session, and where it does.
#[must_use]
pub fn chat_command_in(session: &str, folder: ChatFolder) -> String {
    let id = short_id(session);
    match folder {
        ChatFolder::Here => format!("`palyra chat --session {id}`"),
        ChatFolder::Elsewhere => {
            format!("`palyra chat --session {id} --workspace DIR`, with the folder of a project for DIR,")
        }
    }
}

/// Says how to see more of a session, and how to go on in it.
#[must_use]
pub fn ways_on_in(session: &v1::Session, folder: ChatFolder) -> String {
    let id = short_id(&session.session_id);
    let goes_on = match session.archived {
        Some(_) => format!("it is archived: `palyra sessions restore {id}` makes it active again"),
        None => format!("{} goes on in it", chat_command_in(&session.session_id, folder)),
    };
    format!("`palyra runs list --session {id}` lists its runs, `palyra runs tail RUN` shows one; {goes_on}")
}

/// Says how to go on with the newest session that takes input, or with the newest one of those that are archived.
#[must_use]
pub fn way_on_of(listed: &[v1::Session], folder: ChatFolder) -> String {
    let is_active = |session: &&v1::Session| session.archived.is_none();
    match listed.iter().find(is_active) {
        Some(newest) => {
            format!("{} goes on with that session", chat_command_in(&newest.session_id, folder))
        }
        None => {
            let newest = listed.first().map(|session| short_id(&session.session_id)).unwrap_or_default();
            format!("`palyra sessions restore {newest}` makes that session active again")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_has_no_line() {
        let session = v1::Session {
            session_id: "S".to_owned(),
            label: "a\nb".to_owned(),
            recall: v1::RecallSwitch::Off.into(),
            ..Default::default()
        };
        let lines: Vec<String> = session_lines(&session).collect();
        assert_eq!(lines[0], "session  S");
        assert!(lines.contains(&"recall   off".to_owned()) && lines.contains(&"runs     0".to_owned()));
        assert!(!lines.iter().any(|line| line.starts_with("key") || line.starts_with("branched")));
    }

    #[test]
    fn an_archived_session_is_restored_before_it_goes_on() {
        let session_id = "01M84HKZ5N8HY3ARZ2DB96C5QJ".to_owned();
        let mut session = v1::Session { session_id, ..Default::default() };
        let here = ChatFolder::Here;
        assert!(ways_on_in(&session, here).contains("`palyra chat --session 96C5QJ`"));
        session.archived = Some(prost_types::Timestamp::default());
        let said = ways_on_in(&session, here);
        assert!(said.contains("`palyra sessions restore 96C5QJ`") && !said.contains("chat"), "{said}");
    }

    #[test]
    fn where_no_agent_works_the_way_on_names_a_folder() {
        let session_id = "01M84HKZ5N8HY3ARZ2DB96C5QJ".to_owned();
        let session = v1::Session { session_id, ..Default::default() };
        let named = "`palyra chat --session 96C5QJ --workspace DIR`";
        for said in [
            way_on_of(std::slice::from_ref(&session), ChatFolder::Elsewhere),
            ways_on_in(&session, ChatFolder::Elsewhere),
        ] {
            assert!(said.contains(named) && said.contains("the folder of a project"), "{said}");
        }
        let here = way_on_of(std::slice::from_ref(&session), ChatFolder::Here);
        assert_eq!(here, "`palyra chat --session 96C5QJ` goes on with that session");
    }
}
