//! What is known of a session, in lines.

use palyra_screen_text::clean_line;
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
}
