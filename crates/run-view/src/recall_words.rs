//! Whether runs are given items of memory unasked, and who says so, in words.

use palyra_wire::v1;

/// Says for a run who decided about recall; nothing where recall is off because nothing turned it on, and in older runs.
pub(crate) fn recall_reason(setting: &v1::RecallSetting) -> Option<String> {
    let switch = match setting.switch() {
        v1::RecallSwitch::On => "on",
        v1::RecallSwitch::Off => "off",
        v1::RecallSwitch::Inherit | v1::RecallSwitch::Unspecified => return None,
    };
    let level = match setting.level() {
        v1::RecallLevel::Session => "for this session",
        v1::RecallLevel::Channel => "on this surface",
        v1::RecallLevel::Agent => "for this agent",
        v1::RecallLevel::Configuration if switch == "on" => "in the configuration",
        v1::RecallLevel::Configuration | v1::RecallLevel::Unspecified => return None,
    };
    Some(format!("recall is {switch} {level}"))
}

/// Says what holds for a session from now on.
#[must_use]
pub fn recall_note(session: &v1::Session) -> &'static str {
    match session.recall() {
        v1::RecallSwitch::On => {
            "recall is on for this session: its next runs begin with items of memory that fit their input"
        }
        v1::RecallSwitch::Off => {
            "recall is off for this session: its next runs begin without items of memory"
        }
        v1::RecallSwitch::Inherit | v1::RecallSwitch::Unspecified => {
            "this session does not say whether memory is recalled: its agent does, or the configuration"
        }
    }
}

/// Reads a switch as a person writes it.
#[must_use]
pub fn recall_switch_of(word: &str) -> Option<v1::RecallSwitch> {
    match word {
        "on" => Some(v1::RecallSwitch::On),
        "off" => Some(v1::RecallSwitch::Off),
        "inherit" => Some(v1::RecallSwitch::Inherit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_says_who_decided_unless_nothing_did() {
        use v1::{RecallLevel as Level, RecallSwitch as Switch};
        for (switch, level, expected) in [
            (Switch::Off, Level::Session, Some("recall is off for this session")),
            (Switch::On, Level::Agent, Some("recall is on for this agent")),
            (Switch::Off, Level::Channel, Some("recall is off on this surface")),
            (Switch::On, Level::Configuration, Some("recall is on in the configuration")),
            (Switch::Off, Level::Configuration, None),
            (Switch::Unspecified, Level::Session, None),
        ] {
            let setting = v1::RecallSetting { switch: switch.into(), level: level.into() };
            assert_eq!(recall_reason(&setting).as_deref(), expected);
        }
    }
}
