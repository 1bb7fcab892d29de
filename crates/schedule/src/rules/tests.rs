//! Limits of rules, and the random delay.

use super::*;
use crate::fixture::{at, cron, zones};

fn with_jitter(jitter_seconds: u32) -> ScheduleRules {
    ScheduleRules { missed: MissedRule::Skip, overlap: OverlapRule::Forbid, jitter_seconds }
}

#[test]
fn a_random_delay_is_shorter_than_the_distance_between_two_occurrences() {
    let now = at("2027-01-01T00:00Z");
    let often = PlannedTimes::new(&cron("0,5 * * * *", "UTC"), &zones()).unwrap();
    assert!(often.check_rules(&with_jitter(299), now).is_ok());
    let refusal = often.check_rules(&with_jitter(300), now).unwrap_err().to_string();
    assert_eq!(refusal, "a random delay of 300 seconds is not possible: write at most 299");
    let daily = PlannedTimes::new(&cron("0 8 * * *", "UTC"), &zones()).unwrap();
    assert!(daily.check_rules(&with_jitter(JITTER_SECONDS_MAX), now).is_ok());
    assert!(daily.check_rules(&with_jitter(JITTER_SECONDS_MAX + 1), now).is_err());
}

#[test]
fn a_delay_depends_on_schedule_and_instant_alone() {
    let rules = with_jitter(600);
    let planned: Vec<Timestamp> = (0..200)
        .map(|day| at("2027-01-01T08:00Z").after(std::time::Duration::from_hours(24 * day)))
        .collect();
    let delays = |schedule| -> Vec<u64> {
        let id = ScheduleId::from_parts(1, schedule);
        planned.iter().map(|planned| due_at(&rules, id, *planned).since(*planned).as_secs()).collect()
    };
    assert_eq!(delays(1), delays(1));
    assert_ne!(delays(1), delays(2));
    let all = delays(1);
    assert!(all.iter().all(|delay| *delay <= 600));
    assert!(all.iter().any(|delay| *delay < 100) && all.iter().any(|delay| *delay > 500), "{all:?}");
}

#[test]
fn the_number_of_occurrences_to_catch_up_has_a_limit() {
    let now = at("2027-01-01T00:00Z");
    let daily = PlannedTimes::new(&cron("0 8 * * *", "UTC"), &zones()).unwrap();
    for (count_max, is_valid) in [(0, false), (1, true), (CATCH_UP_MAX, true), (CATCH_UP_MAX + 1, false)] {
        let rules = ScheduleRules { missed: MissedRule::CatchUp { count_max }, ..with_jitter(0) };
        assert_eq!(daily.check_rules(&rules, now).is_ok(), is_valid);
    }
}
