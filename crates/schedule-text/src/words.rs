//! What is said of a schedule, on every screen in the same words.

use palyra_screen_text::count;
use palyra_wire::v1;

/// Returns whether a schedule goes on, and why it does not.
#[must_use]
pub fn schedule_state(schedule: &v1::Schedule) -> &'static str {
    match schedule.paused() {
        _ if !schedule.unreadable.is_empty() => "cannot be read",
        v1::SchedulePauseCause::Person => "paused",
        v1::SchedulePauseCause::Failures => "paused after 5 failures",
        v1::SchedulePauseCause::Refused => "paused until it is edited",
        v1::SchedulePauseCause::All => "paused with all",
        v1::SchedulePauseCause::Unspecified if schedule.is_running => "running",
        v1::SchedulePauseCause::Unspecified if schedule.next.is_none() => "over",
        v1::SchedulePauseCause::Unspecified => "on",
    }
}

/// Returns the rules about missed and overlapping occurrences, and the delay of a start.
#[must_use]
pub fn rules_words(schedule: &v1::Schedule) -> String {
    let missed = match schedule.missed() {
        v1::ScheduleMissedRule::Skip => "missed ones are skipped".to_owned(),
        v1::ScheduleMissedRule::CatchUp => {
            format!("up to {} missed ones are caught up", schedule.catch_up_max)
        }
        v1::ScheduleMissedRule::RunOnce | v1::ScheduleMissedRule::Unspecified => {
            "the last missed one runs".to_owned()
        }
    };
    let overlap = match schedule.overlap() {
        v1::ScheduleOverlapRule::Queue => "overlapping ones wait",
        v1::ScheduleOverlapRule::Replace => "a later one replaces a running one",
        v1::ScheduleOverlapRule::Forbid | v1::ScheduleOverlapRule::Unspecified => {
            "overlapping ones are skipped"
        }
    };
    let delay = match schedule.jitter_seconds {
        0 => String::new(),
        seconds => format!(", each start is delayed by up to {}", count(seconds.into(), "second")),
    };
    format!("{missed}, {overlap}{delay}")
}

/// Returns what a change of the clock does to a planned time; `None` where it does nothing.
#[must_use]
pub fn oddity_words(oddity: v1::ScheduleClockOddity) -> Option<&'static str> {
    match oddity {
        v1::ScheduleClockOddity::Unspecified => None,
        v1::ScheduleClockOddity::EndOfGap => {
            Some("the clock skips the planned time: this is the end of the gap")
        }
        v1::ScheduleClockOddity::FirstOfTwo => Some("the clock shows this time twice: this is the first"),
        v1::ScheduleClockOddity::OneOfTwo => Some("the clock shows this time twice: both are planned"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_says_whether_a_schedule_goes_on() {
        let on = v1::Schedule { next: Some(v1::PlannedScheduleTime::default()), ..v1::Schedule::default() };
        let paused = |cause: v1::SchedulePauseCause| v1::Schedule { paused: cause.into(), ..on.clone() };
        for (schedule, state) in [
            (on.clone(), "on"),
            (v1::Schedule { is_running: true, ..on.clone() }, "running"),
            (v1::Schedule { next: None, ..on.clone() }, "over"),
            (paused(v1::SchedulePauseCause::Person), "paused"),
            (paused(v1::SchedulePauseCause::All), "paused with all"),
            (paused(v1::SchedulePauseCause::Failures), "paused after 5 failures"),
            (v1::Schedule { unreadable: "no such zone".to_owned(), ..on.clone() }, "cannot be read"),
        ] {
            assert_eq!(schedule_state(&schedule), state);
        }
    }

    #[test]
    fn rules_name_what_happens_to_missed_and_overlapping_ones() {
        let plain = v1::Schedule::default();
        assert_eq!(rules_words(&plain), "the last missed one runs, overlapping ones are skipped");
        let queued = v1::Schedule {
            missed: v1::ScheduleMissedRule::CatchUp.into(),
            catch_up_max: 3,
            overlap: v1::ScheduleOverlapRule::Queue.into(),
            jitter_seconds: 1,
            ..plain
        };
        assert_eq!(
            rules_words(&queued),
            "up to 3 missed ones are caught up, overlapping ones wait, each start is delayed by up to 1 second"
        );
        assert_eq!(oddity_words(v1::ScheduleClockOddity::Unspecified), None);
        assert!(oddity_words(v1::ScheduleClockOddity::EndOfGap).is_some_and(|words| words.contains("gap")));
    }
}
