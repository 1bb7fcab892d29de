//! A setting in words, for people and for the model.

use palyra_types::posture::{Posture, PostureScope};

use super::{PostureFrom, PostureOrigin, PostureSetting, StandingPosture};

impl PostureFrom {
    pub(super) fn of(setting: &PostureSetting) -> Self {
        let place = match setting.scope {
            PostureScope::Global => "global",
            PostureScope::Agent(_) => "agent",
            PostureScope::Workspace(_) => "workspace",
            PostureScope::Session(_) => "session",
        };
        let (entry, by, at) = match setting.origin {
            PostureOrigin::Configuration => (None, None, None),
            PostureOrigin::Person { entry, by, at } => (Some(entry), Some(by), Some(at)),
            PostureOrigin::Erased { entry } => (Some(entry), None, None),
        };
        Self {
            at_ms: at.map(palyra_types::Timestamp::unix_ms),
            by,
            entry: entry.map(|entry| entry.0),
            place: place.to_owned(),
        }
    }

    /// Says what is set, where and by whom: "disabled for this session, set by ... on ...".
    pub(crate) fn describe(&self, posture: Posture) -> String {
        let posture = posture_name(posture).replace('_', " ");
        let place = match self.place.as_str() {
            "session" => "for this session",
            "workspace" => "in this workspace",
            "agent" => "for this agent",
            _ => "everywhere",
        };
        let origin = match (self.entry, self.by, self.at_ms) {
            (None, _, _) => "by the configuration".to_owned(),
            (Some(entry), Some(by), Some(at)) => {
                format!("set by {by} on {} (journal entry {entry})", date(at))
            }
            (Some(entry), _, _) => format!("by a setting whose content was erased (journal entry {entry})"),
        };
        format!("{posture} {place}, {origin}")
    }
}

impl StandingPosture {
    /// Returns its name in policies.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unset => "unset",
            Self::Set(posture) => posture_name(posture),
            Self::Unreadable => "unreadable",
        }
    }
}

/// Returns a setting's name.
#[must_use]
pub fn posture_name(posture: Posture) -> &'static str {
    match posture {
        Posture::AlwaysAllow => "always_allow",
        Posture::Ask => "ask",
        Posture::Disabled => "disabled",
    }
}

/// Returns milliseconds since 1970 as a date and a time in UTC.
fn date(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.map_or_else(|| format!("{ms} ms after 1970"), |time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let check = |seconds: u64, expect: &str| assert_eq!(date(seconds * 1_000), expect);
        check(0, "1970-01-01 00:00 UTC");
        check(951_782_399, "2000-02-28 23:59 UTC");
        check(951_782_400, "2000-02-29 00:00 UTC");
        check(1_709_251_199, "2024-02-29 23:59 UTC");
        check(1_709_251_200, "2024-03-01 00:00 UTC");
        check(1_763_788_980, "2025-11-22 05:23 UTC");
        check(999_999_999_999, "999999999999000 ms after 1970");
    }
}
