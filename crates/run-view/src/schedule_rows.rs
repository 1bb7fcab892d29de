//! Schedules as rows and lines.

use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::date;

const NAME_CHARS_MAX: usize = 40;
const TEXT_CHARS_MAX: usize = 200;

/// Returns id, name, times, next time and state of a schedule.
pub fn schedule_row(schedule: v1::Schedule) -> [String; 5] {
    let state = schedule_state(&schedule);
    let next = schedule.next.map(|next| next.local).unwrap_or_default();
    let name = match schedule.name.as_str() {
        "" => crate::ERASED_MARK.to_owned(),
        name => clean_line(name, NAME_CHARS_MAX),
    };
    [schedule.schedule_id, name, schedule.times, next, state]
}

fn schedule_state(schedule: &v1::Schedule) -> String {
    let state = match schedule.paused() {
        _ if !schedule.unreadable.is_empty() => "cannot be read",
        v1::SchedulePauseCause::Person => "paused",
        v1::SchedulePauseCause::Failures => "paused after 5 failures",
        v1::SchedulePauseCause::Refused => "paused until it is edited",
        v1::SchedulePauseCause::All => "paused with all",
        v1::SchedulePauseCause::Unspecified if schedule.is_running => "running",
        v1::SchedulePauseCause::Unspecified if schedule.next.is_none() => "over",
        v1::SchedulePauseCause::Unspecified => "on",
    };
    state.to_owned()
}

/// Returns the lines that a person reads before a schedule is saved.
pub fn schedule_preview_lines(preview: &v1::PreviewScheduleResponse) -> Vec<String> {
    let mut lines = vec![format!("{}, shown in {}", preview.times, preview.time_zone)];
    if !preview.cron.is_empty() {
        lines.push(format!("cron line: {}", preview.cron));
    }
    lines.push("next:".to_owned());
    lines.extend(preview.next.iter().map(planned_line));
    lines
}

fn planned_line(time: &v1::PlannedScheduleTime) -> String {
    let oddity = match time.oddity() {
        v1::ScheduleClockOddity::Unspecified => "",
        v1::ScheduleClockOddity::EndOfGap => "  (the clock skips the planned time: at the end of the gap)",
        v1::ScheduleClockOddity::FirstOfTwo => "  (the clock shows this time twice: at the first)",
        v1::ScheduleClockOddity::OneOfTwo => "  (the clock shows this time twice: at both)",
    };
    format!("  {}{oddity}", time.local)
}

/// Returns the lines about a schedule before its occurrences.
pub fn schedule_lines(details: &v1::GetScheduleResponse) -> Vec<String> {
    let schedule = details.schedule.clone().unwrap_or_default();
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
    let action = if schedule.is_reminder { "reminder" } else { "prompt" };
    let mut lines = vec![
        format!("{}  {}", schedule.schedule_id, clean_line(&schedule.name, NAME_CHARS_MAX)),
        format!("{}, shown in {}; {}", schedule.times, schedule.time_zone, schedule_state(&schedule)),
        format!("{action}: {}", clean_line(&schedule.text, TEXT_CHARS_MAX)),
        format!("rules: {missed}, {overlap}"),
    ];
    if !schedule.is_reminder {
        lines.push(format!("runs of the agent {} in the session {}", schedule.agent, schedule.session_key));
    }
    if schedule.jitter_seconds > 0 {
        lines.push(format!("each start is delayed by up to {} seconds", schedule.jitter_seconds));
    }
    if !schedule.unreadable.is_empty() {
        lines.push(format!("its times cannot be read: {}", schedule.unreadable));
    }
    if !details.next.is_empty() {
        lines.push("next:".to_owned());
        lines.extend(details.next.iter().map(planned_line));
    }
    lines
}

/// Returns planned time, stage, reason and run of an occurrence.
pub fn occurrence_row(occurrence: &v1::ScheduleOccurrence) -> [String; 4] {
    let many = match (occurrence.last_skipped, occurrence.skipped_count) {
        (None, _) => String::new(),
        (Some(last), 0) => format!(", with all up to {}", date(Some(last))),
        (Some(last), count) => format!(", {count} of them up to {}", date(Some(last))),
    };
    let reason = format!("{}{many}", occurrence.reason_name().replace('_', " "));
    let stage = occurrence.stage_name().into_owned();
    let run = match (occurrence.run_id.as_str(), occurrence.explanation.as_str()) {
        ("", why) => clean_line(why, TEXT_CHARS_MAX),
        (run, _) => format!("run {}", short_id(run)),
    };
    [date(occurrence.planned), stage, reason, run]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_whether_a_schedule_is_on() {
        let on = v1::Schedule {
            name: "mail".to_owned(),
            next: Some(v1::PlannedScheduleTime::default()),
            ..v1::Schedule::default()
        };
        let paused = |cause: v1::SchedulePauseCause| v1::Schedule { paused: cause.into(), ..on.clone() };
        let unreadable = v1::Schedule { unreadable: "no such zone".to_owned(), ..on.clone() };
        for (schedule, state) in [
            (on.clone(), "on"),
            (v1::Schedule { is_running: true, ..on.clone() }, "running"),
            (v1::Schedule { next: None, ..on.clone() }, "over"),
            (paused(v1::SchedulePauseCause::Person), "paused"),
            (paused(v1::SchedulePauseCause::All), "paused with all"),
            (paused(v1::SchedulePauseCause::Failures), "paused after 5 failures"),
            (unreadable, "cannot be read"),
        ] {
            assert_eq!(schedule_row(schedule)[4], state);
        }
    }

    #[test]
    fn a_row_of_many_skipped_occurrences_says_how_many() {
        let last_skipped = Some(prost_types::Timestamp { seconds: 60, nanos: 0 });
        let reason = v1::ScheduleOccurrenceReason::Missed.into();
        let many = v1::ScheduleOccurrence { last_skipped, skipped_count: 7, reason, ..Default::default() };
        assert_eq!(occurrence_row(&many)[2], "missed, 7 of them up to 1970-01-01T00:01:00Z");
    }
}
