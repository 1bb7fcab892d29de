//! The form that says for a conversation whether its runs are given items of memory unasked.

use maud::{Markup, html};
use palyra_wire::v1;

use crate::screen_call::ScreenCall;

/// What a conversation can say: the value, and its words.
const CHOICES: [(v1::RecallSwitch, &str, &str); 3] = [
    (v1::RecallSwitch::Inherit, "inherit", "as its agent or the configuration says"),
    (v1::RecallSwitch::On, "on", "on"),
    (v1::RecallSwitch::Off, "off", "off"),
];

/// What a conversation says, and where its form is sent.
pub(super) struct RecallPart {
    recall: v1::RecallSwitch,
    path: String,
    token: String,
}

impl RecallPart {
    /// Returns what a conversation says; nothing where it is not among those that were read.
    pub(super) fn of(call: &ScreenCall, read: &[v1::Session], session_id: &str) -> Option<Self> {
        let own = read.iter().find(|session| session.session_id == session_id)?;
        let path = format!("/console/sessions/{session_id}/recall");
        Some(Self { recall: own.recall(), token: call.form_token(&path), path })
    }

    pub(super) fn markup(&self) -> Markup {
        html! {
            details {
                summary { "Memory in this conversation: " (self.words()) }
                p { "Items of memory that fit a message can be given to its run." }
                form method="post" action=(self.path) {
                    input type="hidden" name="token" value=(self.token);
                    div.actions {
                        @for (_, name, words) in CHOICES.iter().filter(|(value, ..)| *value != self.recall) {
                            button type="submit" name="recall" value=(name) { (words) }
                        }
                    }
                }
            }
        }
    }

    fn words(&self) -> &'static str {
        CHOICES.iter().find(|(value, ..)| *value == self.recall).map_or("", |(_, _, words)| words)
    }

    #[cfg(test)]
    pub(super) fn fixture() -> Self {
        let path = "/console/sessions/s/recall".to_owned();
        Self { recall: v1::RecallSwitch::Off, path, token: "token".to_owned() }
    }
}

/// Reads what the form sends.
pub(crate) fn recall_choice(name: &str) -> Option<v1::RecallSwitch> {
    CHOICES.iter().find(|(_, known, _)| *known == name).map(|(value, ..)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_shows_the_setting_and_each_choice_is_read_back() {
        let shown = RecallPart::fixture().markup().into_string();
        assert!(shown.contains("conversation: off") && !shown.contains("value=\"off\""), "{shown}");
        for (value, name, _) in CHOICES {
            assert_eq!(recall_choice(name), Some(value));
        }
        assert_eq!(recall_choice("maybe"), None);
    }
}
