//! Windows at the edges of days: changes of clocks, gaps at midnight, absurd times.

use jiff::tz::Offset;
use proptest::prelude::*;

use super::*;

const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";
/// Clocks skip midnight in spring and repeat the hour before one o'clock in autumn.
const HAVANA: &str = "CST5CDT,M3.2.0/0,M11.1.0/1";
const CALENDAR: [WindowKind; 3] = [WindowKind::Day, WindowKind::Week, WindowKind::Month];

fn zone(rules: &str) -> TimeZone {
    TimeZone::posix(rules).unwrap()
}

fn at(text: &str) -> Timestamp {
    Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
}

fn shown(time: Timestamp) -> String {
    jiff::Timestamp::from_microsecond(time.0).unwrap().to_string()
}

fn span(kind: WindowKind, now: &str, zone: &TimeZone) -> [String; 2] {
    let span = kind.span_at(at(now), zone);
    [shown(span.start), shown(span.end)]
}

#[test]
fn windows_begin_and_end_where_a_person_expects_it() {
    let berlin = zone(BERLIN);
    for (kind, now, start, end) in [
        (WindowKind::Hour, "2026-05-06T10:59:59Z", "2026-05-06T10:00:00Z", "2026-05-06T11:00:00Z"),
        (WindowKind::Day, "2026-05-06T21:59:59Z", "2026-05-05T22:00:00Z", "2026-05-06T22:00:00Z"),
        (WindowKind::Day, "2026-05-06T22:00:00Z", "2026-05-06T22:00:00Z", "2026-05-07T22:00:00Z"),
        (WindowKind::Week, "2026-05-06T10:00:00Z", "2026-05-03T22:00:00Z", "2026-05-10T22:00:00Z"),
        (WindowKind::Week, "2026-05-10T22:00:00Z", "2026-05-10T22:00:00Z", "2026-05-17T22:00:00Z"),
        (WindowKind::Month, "2026-02-10T10:00:00Z", "2026-01-31T23:00:00Z", "2026-02-28T23:00:00Z"),
        (WindowKind::Month, "2026-12-31T23:30:00Z", "2026-12-31T23:00:00Z", "2027-01-31T23:00:00Z"),
    ] {
        assert_eq!(span(kind, now, &berlin), [start, end], "{kind:?} at {now}");
    }
}

#[test]
fn days_on_which_clocks_change_have_23_and_25_hours() {
    let berlin = zone(BERLIN);
    for (now, hours) in
        [("2026-03-29T12:00:00Z", 23), ("2026-10-25T12:00:00Z", 25), ("2026-10-26T12:00:00Z", 24)]
    {
        let day = WindowKind::Day.span_at(at(now), &berlin);
        assert_eq!(day.end.0 - day.start.0, hours * HOUR_MICROS, "{now}");
    }
}

#[test]
fn a_skipped_midnight_begins_the_day_after_the_gap() {
    let havana = zone(HAVANA);
    let gap = ["2026-03-08T05:00:00Z".to_owned(), "2026-03-09T04:00:00Z".to_owned()];
    assert_eq!(span(WindowKind::Day, "2026-03-08T12:00:00Z", &havana), gap);
    let before = span(WindowKind::Day, "2026-03-08T04:59:59Z", &havana);
    assert_eq!(before[1], gap[0], "the days meet");
}

#[test]
fn runs_and_budgets_without_a_window_never_begin_again() {
    for kind in [WindowKind::Run, WindowKind::Endless] {
        let span = kind.span_at(at("2026-05-06T10:59:59Z"), &zone(BERLIN));
        assert_eq!((span, span.resets()), (WindowSpan::ENDLESS, None));
    }
}

#[test]
fn a_window_follows_only_one_that_has_ended() {
    let berlin = zone(BERLIN);
    let east = TimeZone::fixed(Offset::from_seconds(14 * 3_600).unwrap());
    let today = WindowKind::Day.span_at(at("2026-05-06T12:00:00Z"), &berlin);
    let tomorrow = WindowKind::Day.span_at(at("2026-05-07T12:00:00Z"), &berlin);
    let overlapping = WindowKind::Day.span_at(at("2026-05-06T12:00:00Z"), &east);
    assert!(overlapping.start > today.start, "it begins later, in the middle of the other");
    assert!(tomorrow.follows(today));
    assert!(!today.follows(tomorrow) && !today.follows(today) && !overlapping.follows(today));
    assert!(!WindowSpan::ENDLESS.follows(today) && !today.follows(WindowSpan::ENDLESS));
}

#[test]
fn words_name_kinds() {
    for (kind, word) in WindowKind::ALL {
        assert_eq!((WindowKind::of(word), kind.as_str()), (Some(kind), word));
    }
    assert_eq!(WindowKind::of("year"), None);
}

fn kinds() -> impl Strategy<Value = WindowKind> {
    prop::sample::select(WindowKind::ALL.map(|(kind, _)| kind).to_vec())
}

fn zones() -> impl Strategy<Value = TimeZone> {
    let fixed =
        (-93_599_i32..=93_599).prop_map(|seconds| TimeZone::fixed(Offset::from_seconds(seconds).unwrap()));
    prop_oneof![Just(zone(BERLIN)), Just(zone(HAVANA)), fixed]
}

proptest! {
    #[test]
    fn a_window_contains_its_instant(kind in kinds(), zone in zones(), now in any::<i64>()) {
        let span = kind.span_at(Timestamp(now), &zone);
        prop_assert!(span.start.0 <= now && (now < span.end.0 || span.end.0 == i64::MAX));
    }

    #[test]
    fn neighbouring_windows_meet(kind in prop::sample::select(CALENDAR.to_vec()), zone in zones(), seconds in -10_000_000_000_i64..10_000_000_000) {
        let span = kind.span_at(Timestamp(seconds * 1_000_000), &zone);
        let next = kind.span_at(span.end, &zone);
        prop_assert_eq!(next.start, span.end);
        prop_assert!(next.follows(span));
        prop_assert_eq!(kind.span_at(Timestamp(span.end.0 - 1), &zone), span);
    }
}
