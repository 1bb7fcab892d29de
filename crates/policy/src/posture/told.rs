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
    pub(crate) fn told(&self, posture: Posture) -> String {
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

/// Returns milliseconds since 1970 as a date and a time in UTC, by Howard Hinnant's `civil_from_days`.
fn date(ms: u64) -> String {
    let (days, minutes) = (ms / 86_400_000 + 719_468, ms / 60_000 % 1_440);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
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
    }
}
