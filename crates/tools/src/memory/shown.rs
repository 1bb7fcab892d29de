//! What a model reads of an item of memory: its id, since when, where it holds, where it comes from, and its text.

use std::fmt::Write;

use palyra_types::memory::{MemoryRecord, MemoryScope};
use palyra_types::tool::Taints;
use palyra_types::{Timestamp, UtcDay};

/// Returns an item as one paragraph.
pub(super) fn item(record: &MemoryRecord) -> String {
    let saved = &record.saved;
    let place = match saved.scope {
        MemoryScope::Principal => "holds everywhere",
        MemoryScope::Session(_) => "holds in this conversation",
        MemoryScope::PrincipalRoot(_) => "holds in this folder",
    };
    let mut shown = format!("{} saved {}, {place}", saved.memory, day(record.created));
    if saved.taints != Taints::NONE {
        let names: Vec<&str> = saved.taints.names().collect();
        add(&mut shown, format_args!(", learned after reading: {}", names.join(", ")));
    }
    if let Some(expires) = saved.expires {
        add(&mut shown, format_args!(", ends {}", day(expires)));
    }
    if let Some(newer) = record.superseded_by {
        add(&mut shown, format_args!(", superseded by {newer}"));
    }
    add(&mut shown, format_args!(": {}", saved.text.expose()));
    shown
}

fn add(shown: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = shown.write_fmt(text);
}

/// Returns the day of UTC of a time, such as `2026-11-29`.
pub(super) fn day(time: Timestamp) -> String {
    // Years begin in March here, so that the day that a leap year has more is the last one.
    let days = i64::from(UtcDay::from(time).0) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (-1, "1969-12-31"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_709_164_800, "2024-02-29"),
            (1_796_083_200, "2026-12-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(Timestamp(seconds * 1_000_000)), expected, "{seconds}");
        }
    }
}
