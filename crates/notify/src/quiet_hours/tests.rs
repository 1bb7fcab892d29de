//! Nights, noons, and the nights in which clocks change.

use super::*;
use crate::fixture::at;

fn span(from: &str, until: &str, zone: &str, time: &str) -> String {
    let hours = QuietHours::parse(from, until, zone).unwrap();
    let text = |time: Timestamp| jiff::Timestamp::from_microsecond(time.0).unwrap().to_string();
    match hours.span_at(at(time)) {
        Some(QuietSpan { begin, end }) => format!("{} - {}", text(begin), text(end)),
        None => "loud".to_owned(),
    }
}

#[test]
fn hours_of_a_night_and_of_a_day() {
    let night = |time| span("22:00", "07:00", "Europe/Prague", time);
    let of_winter = "2026-01-09T21:00:00Z - 2026-01-10T06:00:00Z";
    let cases = [
        ("2026-01-09T20:59:59Z", "loud"),
        ("2026-01-09T21:00:00Z", of_winter),
        ("2026-01-09T23:30:00Z", of_winter),
        ("2026-01-10T05:59:59Z", of_winter),
        ("2026-01-10T06:00:00Z", "loud"),
        ("2026-07-09T20:00:00Z", "2026-07-09T20:00:00Z - 2026-07-10T05:00:00Z"),
    ];
    for (time, expected) in cases {
        assert_eq!(night(time), expected, "{time}");
    }
    let noon = |time| span("12:00", "13:30", "", time);
    assert_eq!(noon("2026-01-09T11:59:59Z"), "loud");
    assert_eq!(noon("2026-01-09T13:29:00Z"), "2026-01-09T12:00:00Z - 2026-01-09T13:30:00Z");
    assert_eq!(noon("2026-01-09T13:30:00Z"), "loud");
}

#[test]
fn nights_in_which_clocks_change_are_shorter_or_longer() {
    let night = |time| span("22:00", "07:00", "Europe/Prague", time);
    // Eight hours in spring, ten in autumn.
    assert_eq!(night("2026-03-29T01:00:00Z"), "2026-03-28T21:00:00Z - 2026-03-29T05:00:00Z");
    assert_eq!(night("2026-10-25T01:00:00Z"), "2026-10-24T20:00:00Z - 2026-10-25T06:00:00Z");
    // A time that is skipped, and one that comes twice.
    assert_eq!(
        span("02:30", "04:00", "Europe/Prague", "2026-03-29T01:45:00Z"),
        "2026-03-29T01:30:00Z - 2026-03-29T02:00:00Z"
    );
    assert_eq!(
        span("02:30", "04:00", "Europe/Prague", "2026-10-25T01:45:00Z"),
        "2026-10-25T00:30:00Z - 2026-10-25T03:00:00Z"
    );
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let refused = |from, until, zone| QuietHours::parse(from, until, zone).unwrap_err().to_string();
    for time in ["", "7", "7:00", "24:00", "22:60", "+7:00", "22:00:00", "22.00", "aa:bb", "22:0\u{663}"] {
        assert_eq!(refused(time, "07:00", ""), InvalidQuietHours::Time(time.to_owned()).to_string());
        assert_eq!(refused("22:00", time, ""), InvalidQuietHours::Time(time.to_owned()).to_string());
    }
    assert_eq!(refused("22:00", "22:00", ""), InvalidQuietHours::Empty("22:00".to_owned()).to_string());
    for zone in ["Europe/Prag", "+02:00", "../../etc/passwd"] {
        assert_eq!(refused("22:00", "07:00", zone), InvalidQuietHours::Zone(zone.to_owned()).to_string());
    }
}
