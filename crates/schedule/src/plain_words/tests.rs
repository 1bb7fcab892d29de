//! Plain words and what they read back as; texts that are refused.

use super::*;
use crate::fixture::{at, show, zones};
use crate::spec::PlannedTimes;

/// A Wednesday, 10:20:30 in Prague.
const NOW: &str = "2027-06-16T08:20:30Z";

fn read_at(text: &str, now: &str) -> Result<ScheduleSpec, UnreadableWords> {
    let zone = zones().get("Europe/Prague").unwrap();
    read_plain_words(text, &WordsContext { now: at(now), zone: &zone, zone_name: "Europe/Prague" })
}

fn shown(text: &str) -> String {
    match read_at(text, NOW) {
        Ok(ScheduleSpec::Every { minutes, anchor }) => format!("every {minutes} from {}", show(anchor)),
        Ok(spec) => spec.to_string().replace(" (Europe/Prague)", ""),
        Err(cause) => format!("refused: {cause}"),
    }
}

#[test]
fn words_read_back_as_cron_interval_or_time() {
    let cases = [
        ("every minute", "cron * * * * *"),
        ("every 15 minutes", "cron */15 * * * *"),
        ("Every half hour.", "cron */30 * * * *"),
        ("every quarter of an hour", "cron */15 * * * *"),
        ("every hour", "cron 0 * * * *"),
        ("every 1 hour", "cron 0 * * * *"),
        ("every two hours", "cron 0 */2 * * *"),
        ("hourly", "cron 0 * * * *"),
        ("every 90 minutes", "every 90 from 2027-06-16T09:51Z"),
        ("every 7 minutes", "every 7 from 2027-06-16T08:28Z"),
        ("every 5 hours", "every 300 from 2027-06-16T13:21Z"),
        ("every hour at minute 30", "cron 30 * * * *"),
        ("every 15 minutes between 9:00 and 17:00 on weekdays", "cron */15 9-16 * * 1-5"),
        ("every 2 hours from 8 to 18", "cron 0 8-17/2 * * *"),
        ("every hour between 9am and 5pm every monday", "cron 0 9-16 * * 1"),
        ("twice a day", "cron 0 8,20 * * *"),
        ("three times a day", "cron 0 8,14,20 * * *"),
        ("every day at 7:30pm", "cron 30 19 * * *"),
        ("daily at noon", "cron 0 12 * * *"),
        ("every day at midnight", "cron 0 0 * * *"),
        ("every day at 12am", "cron 0 0 * * *"),
        ("every day at 12 pm", "cron 0 12 * * *"),
        ("once a day at 8 o'clock", "cron 0 8 * * *"),
        ("every day at 8, 12 and 18", "cron 0 8,12,18 * * *"),
        ("every weekday at 8", "cron 0 8 * * 1-5"),
        ("on weekdays at 8:05", "cron 5 8 * * 1-5"),
        ("on weekends at 10:00", "cron 0 10 * * 6,0"),
        ("every weekend at 10:00", "cron 0 10 * * 6,0"),
        ("every monday and thursday at 10:00", "cron 0 10 * * 1,4"),
        ("mondays and fridays at 9", "cron 0 9 * * 1,5"),
        ("every mon, wed and fri at 7", "cron 0 7 * * 1,3,5"),
        ("monday to friday at 8 and 17", "cron 0 8,17 * * 1-5"),
        ("from friday to sunday at 22:00", "cron 0 22 * * 5-7"),
        ("on the first of each month at 9", "cron 0 9 1 * *"),
        ("on the 1st and 15th of every month at 9", "cron 0 9 1,15 * *"),
        ("monthly on the 15th at 6pm", "cron 0 18 15 * *"),
        ("on the last day of every month at 18:00", "cron 0 18 L * *"),
        ("on the second friday of each month at noon", "cron 0 12 * * 5#2"),
        ("every month on the last monday at 9", "cron 0 9 * * 1#L"),
        ("every year on 1 may at 9", "cron 0 9 1 5 *"),
        ("yearly on december 24th at 18:00", "cron 0 18 24 12 *"),
        ("at 8 every day", "cron 0 8 * * *"),
        ("at 9:15 on weekdays", "cron 15 9 * * 1-5"),
        ("every 3 days at 9", "every 4320 from 2027-06-17T07:00Z"),
        ("every other day at 23:00", "every 2880 from 2027-06-16T21:00Z"),
        ("every other monday at 9", "every 20160 from 2027-06-21T07:00Z"),
        ("every 2 weeks on friday at 9", "every 20160 from 2027-06-18T07:00Z"),
        ("in 20 minutes", "at 2027-06-16 10:41"),
        ("in an hour", "at 2027-06-16 11:21"),
        ("in half an hour", "at 2027-06-16 10:51"),
        ("in 3 days", "at 2027-06-19 10:20"),
        ("in two weeks", "at 2027-06-30 10:20"),
        ("today at 17:00", "at 2027-06-16 17:00"),
        ("tomorrow at 9", "at 2027-06-17 09:00"),
        ("at 9 tomorrow", "at 2027-06-17 09:00"),
        ("next monday at 9", "at 2027-06-21 09:00"),
        ("on wednesday at 9", "at 2027-06-23 09:00"),
        ("on 2027-12-24 at 18:00", "at 2027-12-24 18:00"),
        ("on 24 december at 18:00", "at 2027-12-24 18:00"),
        ("on may 1st at 9", "at 2028-05-01 09:00"),
        ("on the 1st of may 2029 at 9", "at 2029-05-01 09:00"),
        ("at noon", "at 2027-06-16 12:00"),
        ("at 9", "at 2027-06-17 09:00"),
        ("0 8 * * MON-FRI", "cron 0 8 * * MON-FRI"),
        (" */5   * * * * ", "cron */5 * * * *"),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn each_example_is_understood_and_has_a_next_time() {
    for example in word_examples() {
        let spec = read_at(example, NOW).unwrap();
        assert!(PlannedTimes::for_new(&spec, &zones(), at(NOW)).is_ok(), "{example}");
    }
}

#[test]
fn a_text_that_is_not_understood_whole_is_refused_with_examples() {
    let cases = [
        "every weekday at 8 please",
        "every blue moon",
        "every monday at 25:00",
        "every day at 13pm",
        "every 0 minutes",
        "every weekday at 8 except holidays",
        "on the 32nd of each month at 9",
        "in a moment",
        "every 20 minutes between 9:30 and 17:00",
        "tomorrow",
        "on monday",
        "friday to monday at 9",
        "",
        "when it rains",
        "every day at 8 and",
        "every other day at 8 and 9",
        "every \u{1f600} at 8",
        "on the 1\u{e9} of each month at 9",
    ];
    for text in cases {
        let message = shown(text);
        assert!(message.contains("is not understood: write for example `"), "{text}: {message}");
    }
    assert!(shown("every wekday at 8").contains("`every weekday at 8`"), "{}", shown("every wekday at 8"));
}

#[test]
fn words_behind_a_time_are_named_and_a_task_leads_to_the_whole_command() {
    for (text, when, task) in [
        ("every day at 9 run the tests", "every day at 9", "run the tests"),
        ("every day at 9, please Run the tests", "every day at 9", "Run the tests"),
        ("every day at 9: to run the tests", "every day at 9", "run the tests"),
        ("every 15 minutes look at the build", "every 15 minutes", "look at the build"),
        ("tomorrow at 9 call the bank", "tomorrow at 9", "call the bank"),
        ("0 8 * * MON-FRI sum up my mail", "0 8 * * MON-FRI", "sum up my mail"),
    ] {
        let message = shown(text);
        let command = format!("`palyra admin schedules add \"{when}\" --prompt \"{task}\"`");
        assert!(message.starts_with(&format!("refused: `{task}` is not a part of a time: ")), "{message}");
        assert!(message.contains(&command), "{message}");
    }
    // A shell would read these signs.
    let message = shown("every day at 9 say \"$HOME\"");
    assert!(message.contains("`palyra admin schedules add \"every day at 9\" --prompt TEXT`"), "{message}");
    for (text, rest) in [
        ("every weekday at 8 except holidays", "`except holidays` behind `every weekday at 8` is not"),
        ("every weekday at 8 please", "`please` behind `every weekday at 8` is not"),
        ("every day at 8 and", "`and` behind `every day at 8` is not"),
        (
            "every 20 minutes between 9:30 and 17:00",
            "`between 9:30 and 17:00` behind `every 20 minutes` is not",
        ),
    ] {
        let message = shown(text);
        assert!(message.contains(rest) && !message.contains("--prompt"), "{message}");
    }
    assert!(!shown("when it rains").contains("behind"), "{}", shown("when it rains"));
}

#[test]
fn a_missing_time_and_impossible_times_say_so() {
    assert_eq!(
        shown("every monday"),
        "refused: `every monday` does not say at which time: write for example `every monday at 9:00`"
    );
    assert_eq!(
        shown("every day at 8 and 17:30"),
        "refused: times with different minutes need one schedule for each time"
    );
    assert!(shown("60 8 * * *").contains("field `minute`"));
    assert!(shown("* * * * * *").contains("seconds"));
    assert!(shown(&"every day ".repeat(30)).contains("longer than 200 bytes"));
}

#[test]
fn a_time_that_the_clock_shows_twice_keeps_its_offset() {
    let spec = read_at("in 20 minutes", "2027-10-31T01:10Z").unwrap();
    assert_eq!(spec.to_string(), "at 2027-10-31 02:30+01:00 (Europe/Prague)");
    let planned = PlannedTimes::for_new(&spec, &zones(), at("2027-10-31T01:10Z")).unwrap();
    assert_eq!(planned.next_after(at("2027-10-31T01:10Z")).map(show).as_deref(), Some("2027-10-31T01:30Z"));
}

#[test]
fn any_text_is_read_or_refused() {
    proptest::proptest!(|(text in "(every|each|at|on|the|in|and|of|month|day|monday|[0-9]{1,3}|[0-9]:[0-9]{2}|pm|last|first|other| |\\PC){0,8}")| {
        if let Ok(spec) = read_at(&text, NOW) {
            proptest::prop_assert!(PlannedTimes::new(&spec, &zones()).is_ok(), "{} became {}", text, spec);
        }
    });
}
