//! Times as people read them.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;
use palyra_screen_text::coarse_span;
use prost_types::Timestamp;

/// Returns a time as a date, UTC, to the second; empty when there is none.
pub fn date(time: Option<Timestamp>) -> String {
    let date = time.and_then(|time| jiff::Timestamp::from_second(time.seconds).ok());
    date.map_or_else(String::new, |date| date.to_string())
}

/// Returns how long ago a time was, such as `3m`; empty when there is none.
pub fn age(time: Option<Timestamp>) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let passed = |time: Timestamp| now.saturating_sub(u64::try_from(time.seconds).unwrap_or(0));
    time.map_or_else(String::new, |time| coarse_span(passed(time)))
}

/// Reads a time that was typed: `today` or `yesterday`, from the midnight of this machine's time zone on; how long ago, such
/// as `90m` or `7d`; or a date with or without a time, UTC where no offset is named. `now` is in seconds since 1970.
///
/// # Errors
/// The forms to type.
pub fn typed_time(text: &str, now: i64) -> Result<Timestamp, String> {
    typed_time_in(text, now, &TimeZone::system())
}

/// As [`typed_time`], of days of UTC.
///
/// # Errors
/// The forms to type.
pub fn typed_day(text: &str, now: i64) -> Result<Timestamp, String> {
    typed_time_in(text, now, &TimeZone::UTC)
}

fn typed_time_in(text: &str, now: i64, zone: &TimeZone) -> Result<Timestamp, String> {
    let of = |seconds| Timestamp { seconds, nanos: 0 };
    if let Some(span) = typed_span(text) {
        return Ok(of(now.saturating_sub(span)));
    }
    if let Some(midnight) = named_day(text, now, zone) {
        return Ok(of(midnight.as_second()));
    }
    let exact = text.parse::<jiff::Timestamp>().or_else(|_| {
        let civil: jiff::civil::DateTime = text.parse()?;
        jiff::tz::Offset::UTC.to_timestamp(civil)
    });
    exact.map(|time| of(time.as_second())).map_err(|_| {
        "a time is today, yesterday, a span until now such as 30m, 12h or 7d, or a date such as 2026-11-29 or \
         2026-11-29T08:00:00Z"
            .to_owned()
    })
}

/// Returns when the day begins that `today` or `yesterday` means.
fn named_day(text: &str, now: i64, zone: &TimeZone) -> Option<jiff::Timestamp> {
    let today = jiff::Timestamp::from_second(now).ok()?.to_zoned(zone.clone()).date();
    let day = match text {
        "today" => today,
        "yesterday" => today.yesterday().ok()?,
        _ => return None,
    };
    // Where a change of the clock leaves out midnight, the day begins later.
    day.to_zoned(zone.clone()).ok().map(|begun| begun.timestamp())
}

/// Returns the seconds of a span such as `90m`.
fn typed_span(text: &str) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    number.parse::<u32>().ok().map(|number| i64::from(number) * seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_typed_as_a_span_or_a_date() {
        let now = 1_800_000_000;
        let read = |text: &str| typed_time(text, now).map(|time| time.seconds);
        for (text, seconds) in [
            ("30s", now - 30),
            ("90m", now - 5_400),
            ("12h", now - 43_200),
            ("7d", now - 604_800),
            ("2w", now - 1_209_600),
            ("2027-01-15", 1_799_971_200),
            ("2027-01-15T08:00:00", now),
            ("2027-01-15T08:00:00Z", now),
            ("2027-01-15T09:00:00+01:00", now),
        ] {
            assert_eq!(read(text), Ok(seconds), "{text}");
        }
        for text in ["", "d", "-1d", "1.5h", "5y", "tomorrow", "2027-13-01", "7ä"] {
            let forms = read(text).unwrap_err();
            assert!(
                forms.contains("today, yesterday, ") && forms.contains("such as 30m, 12h or 7d"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_day_that_is_named_begins_at_the_midnight_of_its_zone() {
        // 2027-01-15T08:00:00Z, which is 22:00 of the day before in Honolulu and 17:00 in Tokyo.
        let now = 1_800_000_000;
        let day = 86_400;
        let midnight = now - 8 * 3_600;
        for (zone, today) in [
            ("UTC", midnight),
            ("Asia/Tokyo", midnight - 9 * 3_600),
            ("Pacific/Honolulu", midnight + 10 * 3_600 - day),
        ] {
            let zone = TimeZone::get(zone).unwrap();
            let read = |text: &str| typed_time_in(text, now, &zone).map(|time| time.seconds);
            assert_eq!((read("today"), read("yesterday")), (Ok(today), Ok(today - day)), "{zone:?}");
        }
        assert_eq!(typed_day("today", now).map(|time| time.seconds), Ok(midnight));
    }

    #[test]
    fn a_date_is_told_to_the_second_and_none_is_empty() {
        assert_eq!(date(Some(Timestamp { seconds: 1_800_000_000, nanos: 5 })), "2027-01-15T08:00:00Z");
        assert_eq!((date(None), age(None)), (String::new(), String::new()));
    }
}
