//! Times as a model reads them: in the zone of the person who spoke.

use jiff::tz::TimeZone;
use palyra_types::Timestamp;

/// Returns the zone of the first name that the IANA database has; UTC where it has none.
#[must_use]
pub fn zone_named<'a>(names: impl IntoIterator<Item = &'a str>) -> TimeZone {
    let mut known = names.into_iter().filter(|name| !name.is_empty());
    known.find_map(|name| TimeZone::get(name).ok()).unwrap_or(TimeZone::UTC)
}

/// Returns a time in words, such as `Sunday 2026-11-29 16:21 +01:00 Europe/Prague`; `None` beyond the years 1 to 9999.
#[must_use]
pub fn in_words(time: Timestamp, zone: &TimeZone) -> Option<String> {
    let time = jiff::Timestamp::from_microsecond(time.0).ok()?.to_zoned(zone.clone());
    let name = zone.iana_name().unwrap_or_default();
    Some(format!("{} {name}", time.strftime("%A %Y-%m-%d %H:%M %:z")).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_zone() {
        let summer = Timestamp(1_753_961_415_000_000);
        let cases = [
            (["Europe/Prague", ""], "Thursday 2025-07-31 13:30 +02:00 Europe/Prague"),
            (["", "Asia/Kolkata"], "Thursday 2025-07-31 17:00 +05:30 Asia/Kolkata"),
            (["no such zone", "America/New_York"], "Thursday 2025-07-31 07:30 -04:00 America/New_York"),
            (["", ""], "Thursday 2025-07-31 11:30 +00:00 UTC"),
        ];
        for (names, expected) in cases {
            assert_eq!(in_words(summer, &zone_named(names)).as_deref(), Some(expected), "{names:?}");
        }
        assert_eq!(in_words(Timestamp(i64::MAX), &TimeZone::UTC), None);
        assert_eq!(in_words(Timestamp(i64::MIN), &TimeZone::UTC), None);
    }
}
