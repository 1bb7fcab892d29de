//! Cron lines that are refused with a remedy, and their times around changes of the clock.

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;
use crate::fixture::zones;

fn refusal(line: &str) -> String {
    CronLine::parse(line).unwrap_err().to_string()
}

fn next(line: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let line = CronLine::parse(line).unwrap();
    let zone = zones().get(zone).unwrap();
    let first = line.next_after(after.parse().unwrap(), &zone);
    std::iter::successors(first, |at| line.next_after(*at, &zone))
        .take(count)
        .map(|at| at.to_zoned(zone.clone()).strftime("%m-%d %H:%M%z").to_string())
        .collect()
}

#[test]
fn a_wrong_line_is_refused_with_the_field_and_a_remedy() {
    let cases = [
        (
            "0 8 * *",
            "a cron line has 5 fields (minute, hour, day of month, month, day of week), this one has 4",
        ),
        ("* * * * * *", "remove the field of seconds, the smallest interval is one minute"),
        ("60 8 * * *", "`60` is not valid in the field `minute`: write `*` or numbers from 0 to 59"),
        ("0 24 * * *", "`24` is not valid in the field `hour`: write `*` or numbers from 0 to 23"),
        ("0 8 0 * *", "`0` is not valid in the field `day of month`"),
        ("0 8 * FOO *", "names from JAN to DEC"),
        ("0 8 * * MONDAY", "names from SUN to SAT"),
        ("0 8 * * 8", "`8` is not valid in the field `day of week`"),
        ("*/0 * * * *", "a step of 0 never ends"),
        ("*/90 * * * *", "a step is at most 59: each hour starts again, use `every` for longer intervals"),
        ("5/15 * * * *", "a step needs a range: write `5-59/15` or `*/15`"),
        ("0 22-6 * * *", "the range ends before it begins: write two ranges, `22-23,0-6`"),
        ("0,,5 * * * *", "`` is not valid in the field `minute`"),
        ("-5 * * * *", "`-5` is not valid in the field `minute`"),
        ("0 8 * * 5#6", "write a week from 1 to 5 or L after `#`"),
        ("0 8 15W * *", "`15W` is not valid in the field `day of month`"),
        ("0 8 ? * *", "`?` is not valid in the field `day of month`"),
        ("@reboot", "this one has 1"),
        ("0 8 * * +1", "`+1` is not valid in the field `day of week`"),
    ];
    for (line, part) in cases {
        let message = refusal(line);
        assert!(message.contains(part), "{line}: {message}");
    }
    assert!(refusal(&"0,".repeat(200)).contains("longer than 256 bytes"));
}

#[test]
fn names_ranges_and_the_last_day_are_read() {
    let weekdays = next("0 8 * * MON-FRI", "UTC", "2027-01-01T09:00Z", 2);
    assert_eq!(weekdays, ["01-04 08:00+0000", "01-05 08:00+0000"]);
    assert_eq!(
        next("0 8 * * fri-sun", "UTC", "2027-01-01T09:00Z", 2),
        ["01-02 08:00+0000", "01-03 08:00+0000"]
    );
    assert_eq!(next("0 8 L feb *", "UTC", "2027-01-01T09:00Z", 2), ["02-28 08:00+0000", "02-29 08:00+0000"]);
    assert_eq!(next("0 8 * * 5#L", "UTC", "2027-01-01T09:00Z", 2), ["01-29 08:00+0000", "02-26 08:00+0000"]);
}

#[test]
fn a_fixed_time_runs_once_at_the_end_of_a_gap_and_once_at_the_first_of_an_overlap() {
    let gap = next("30 2 * * *", "Europe/Prague", "2027-03-27T12:00Z", 2);
    assert_eq!(gap, ["03-28 03:00+0200", "03-29 02:30+0200"]);
    let overlap = next("30 2 * * *", "Europe/Prague", "2027-10-30T12:00Z", 2);
    assert_eq!(overlap, ["10-31 02:30+0200", "11-01 02:30+0100"]);
}

#[test]
fn lists_and_ranges_of_hours_are_fixed_times() {
    assert_eq!(CronLine::parse("0 1,3-5 */2 * *").unwrap().rule(), ClockRule::FixedTimes);
    assert_eq!(CronLine::parse("0 1-5/2 * * *").unwrap().rule(), ClockRule::Intervals);
    let overlap = next("30 2,3 * * *", "Europe/Prague", "2027-10-30T12:00Z", 3);
    assert_eq!(overlap, ["10-31 02:30+0200", "10-31 03:30+0100", "11-01 02:30+0100"]);
}

#[test]
fn intervals_skip_a_gap_and_repeat_in_an_overlap() {
    let gap = next("*/30 * * * *", "Europe/Prague", "2027-03-28T00:15Z", 3);
    assert_eq!(gap, ["03-28 01:30+0100", "03-28 03:00+0200", "03-28 03:30+0200"]);
    let overlap = next("*/30 2 * * *", "Europe/Prague", "2027-10-30T12:00Z", 4);
    assert_eq!(overlap, ["10-31 02:00+0200", "10-31 02:30+0200", "10-31 02:00+0100", "10-31 02:30+0100"]);
}

#[test]
fn a_line_that_is_due_once_a_year_does_not_miss_the_second_half_of_an_overlap() {
    let overlap = next("*/30 2 31 10 *", "Europe/Prague", "2027-10-31T00:45Z", 2);
    assert_eq!(overlap, ["10-31 02:00+0100", "10-31 02:30+0100"]);
}

#[test]
fn a_day_that_a_zone_skipped_is_planned_at_its_end() {
    assert_eq!(next("0 9 30 12 *", "Pacific/Apia", "2011-12-29T12:00Z", 1), ["12-31 00:00+1400"]);
}

#[test]
fn rare_days_are_found_and_impossible_ones_end_the_search() {
    assert_eq!(next("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", 1), ["02-29 00:00+0000"]);
    assert_eq!(next("0 0 * 2 MON#5", "UTC", "2072-03-01T00:00Z", 1).len(), 1, "after 28 years");
    let line = CronLine::parse("0 0 30,31 2 *").unwrap();
    assert_eq!(line.next_after("2027-01-01T00:00Z".parse().unwrap(), &TimeZone::UTC), None);
}

/// Walks over minutes as the table's script does, and asks the library whether the local time of each matches.
fn brute_force(line: &CronLine, zone: &TimeZone, from: Instant, minutes: i64) -> Vec<Instant> {
    let minute = jiff::SignedDuration::from_mins(1);
    let cron: croner::Cron = line.text().parse().unwrap();
    let mut planned = Vec::new();
    let mut latest = zone.to_datetime(from);
    for step in 1..=minutes {
        let now = from.checked_add(minute * i32::try_from(step).unwrap()).unwrap();
        let local = zone.to_datetime(now);
        let is_due = match line.rule() {
            ClockRule::Intervals => cron.is_time_matching(&local).unwrap(),
            ClockRule::FixedTimes => {
                let mut is_due = false;
                while latest < local {
                    latest = latest.checked_add(minute).unwrap();
                    is_due |= cron.is_time_matching(&latest).unwrap();
                }
                is_due
            }
        };
        if is_due {
            planned.push(now);
        }
    }
    planned
}

fn field(low: u8, high: u8) -> impl Strategy<Value = String> {
    let value = move || low..=high;
    prop_oneof![
        2 => Just("*".to_owned()),
        3 => value().prop_map(|value| value.to_string()),
        1 => (value(), value()).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        1 => (value(), value(), value()).prop_map(|(a, b, c)| format!("{a},{b},{c}")),
        1 => (1..=(high - low)).prop_map(|step| format!("*/{step}")),
        1 => (value(), 1..=(high - low)).prop_map(move |(first, step)| format!("{first}-{high}/{step}")),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let days = prop_oneof![3 => Just("*".to_owned()), 1 => field(1, 31), 1 => Just("L".to_owned())];
    let weekdays = prop_oneof![3 => Just("*".to_owned()), 1 => field(0, 7)];
    (field(0, 59), prop_oneof![field(0, 23), field(0, 4)], days, field(1, 12), weekdays)
        .prop_map(|(minute, hour, day, month, weekday)| format!("{minute} {hour} {day} {month} {weekday}"))
}

const ZONES: [&str; 8] = [
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Europe/Prague",
    "Asia/Kathmandu",
    "Africa/Casablanca",
    "America/St_Johns",
    "Pacific/Apia",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn planned_instants_rise_and_equal_those_of_a_walk_over_all_minutes(
        text in line(),
        zone in proptest::sample::select(&ZONES[..]),
        start_minute in 22_000_000_i64..32_000_000,
        near_change in any::<bool>(),
    ) {
        let zone = zones().get(zone).unwrap();
        let line = CronLine::parse(&text).unwrap();
        let mut from = Instant::from_second(start_minute * 60).unwrap();
        if near_change && let Some(change) = zone.following(from).next() {
            from = change.timestamp().checked_sub(jiff::SignedDuration::from_hours(30)).unwrap();
        }
        let minutes = 3 * 24 * 60;
        let end = from.checked_add(jiff::SignedDuration::from_mins(minutes)).unwrap();
        let mut made = Vec::new();
        let mut at = from;
        while let Some(planned) = line.next_after(at, &zone).filter(|planned| *planned <= end) {
            prop_assert!(planned > at);
            made.push(planned);
            at = planned;
        }
        prop_assert_eq!(made, brute_force(&line, &zone, from, minutes), "{} {:?}", text, zone);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-0-9*/,#LW@? A-Z]{0,40}") {
        if let Ok(line) = CronLine::parse(&text) {
            prop_assert_eq!(CronLine::parse(line.text()).unwrap(), line);
        }
    }
}
