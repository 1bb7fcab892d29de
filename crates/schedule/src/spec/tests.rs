//! Specifications: zones that do not exist, times that are over, intervals that are too short.

use super::*;
use crate::fixture::{at, cron, show, zones};

fn refusal(spec: &ScheduleSpec) -> String {
    PlannedTimes::for_new(spec, &zones(), at("2027-01-01T00:00Z")).unwrap_err().to_string()
}

#[test]
fn a_zone_that_does_not_exist_is_refused_with_a_similar_one() {
    assert_eq!(
        refusal(&cron("0 8 * * *", "Europe/Pragu")),
        "the time zone `Europe/Pragu` is not known: write an IANA name, for example `Europe/Prague`"
    );
    assert!(refusal(&cron("0 8 * * *", "new york")).contains("`America/New_York`"));
    assert!(refusal(&cron("0 8 * * *", "")).contains("such as `Europe/Prague`"));
    assert!(refusal(&cron("0 8 * * *", "../etc/passwd")).contains("is not known"));
}

#[test]
fn a_line_that_never_fires_is_refused() {
    assert!(refusal(&cron("0 8 31 2,4 *", "UTC")).contains("no occurrence in 50 years"));
}

#[test]
fn an_interval_is_at_least_a_minute() {
    let every = |minutes| ScheduleSpec::Every { minutes, anchor: at("2027-01-01T00:00Z") };
    assert!(refusal(&every(0)).contains("write 1 to"));
    assert!(refusal(&every(u32::MAX)).contains("write 1 to"));
    let planned_times = PlannedTimes::for_new(&every(90), &zones(), at("2026-12-01T00:00Z")).unwrap();
    let planned: Vec<String> = planned_times.iter_after(at("2027-01-01T00:00Z")).take(2).map(show).collect();
    assert_eq!(planned, ["2027-01-01T01:30Z", "2027-01-01T03:00Z"]);
    assert_eq!(
        planned_times.next_after(at("2026-12-01T00:00Z")).map(show).as_deref(),
        Some("2027-01-01T00:00Z")
    );
    assert_eq!(planned_times.next_after(Timestamp(i64::MAX)), None);
}

#[test]
fn a_time_that_is_over_or_no_time_is_refused() {
    let once = |local: &str| ScheduleSpec::At { local: local.to_owned(), zone: "Europe/Prague".to_owned() };
    assert_eq!(refusal(&once("2026-12-31T23:00")), "the time is over: write a later one");
    assert!(refusal(&once("2027-02-30T08:00")).contains("is not a local time"));
    let gap = PlannedTimes::for_new(&once("2027-03-28T02:30"), &zones(), at("2027-01-01T00:00Z")).unwrap();
    assert_eq!(gap.iter_after(at("2027-01-01T00:00Z")).map(show).collect::<Vec<_>>(), ["2027-03-28T01:00Z"]);
}

#[test]
fn specifications_read_as_people_write_them() {
    let every = |minutes| ScheduleSpec::Every { minutes, anchor: Timestamp(0) }.to_string();
    assert_eq!(
        [every(1), every(90), every(60), every(2880)],
        ["every minute", "every 90 minutes", "every hour", "every 2 days"]
    );
    assert_eq!(cron("0 8 * * 1-5", "Europe/Prague").to_string(), "cron 0 8 * * 1-5 (Europe/Prague)");
}

#[test]
fn a_preview_names_what_a_change_of_the_clock_does() {
    let oddities = |line: &str, after: &str| -> Vec<String> {
        let planned_times = PlannedTimes::new(&cron(line, "Europe/Prague"), &zones()).unwrap();
        let next = planned_times.iter_after(at(after)).take(2);
        next.map(|planned| format!("{} {:?}", show(planned), planned_times.oddity_of(planned))).collect()
    };
    assert_eq!(
        oddities("30 2 * * *", "2027-03-27T12:00Z"),
        ["2027-03-28T01:00Z Some(EndOfGap)", "2027-03-29T00:30Z None"]
    );
    assert_eq!(
        oddities("30 2 * * *", "2027-10-30T12:00Z"),
        ["2027-10-31T00:30Z Some(FirstOfTwo)", "2027-11-01T01:30Z None"]
    );
    assert_eq!(
        oddities("30 */2 * * *", "2027-10-30T23:00Z"),
        ["2027-10-31T00:30Z Some(OneOfTwo)", "2027-10-31T01:30Z Some(OneOfTwo)"]
    );
}
