//! Schedules as rows and lines.

use palyra_schedule_text::{oddity_words, rules_words, schedule_state};
use palyra_screen_text::{clean_line, short_id};
use palyra_wire::v1;

use crate::date;

const NAME_CHARS_MAX: usize = 40;
const TEXT_CHARS_MAX: usize = 200;

/// Returns id, name, times, next time and state of a schedule.
pub fn schedule_row(schedule: v1::Schedule) -> [String; 5] {
    let state = schedule_state(&schedule).to_owned();
    let next = schedule.next.map(|next| next.local).unwrap_or_default();
    let name = match schedule.name.as_str() {
        "" => crate::ERASED_MARK.to_owned(),
        name => clean_line(name, NAME_CHARS_MAX),
    };
    [schedule.schedule_id, name, schedule.times, next, state]
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
    let oddity = oddity_words(time.oddity()).map_or_else(String::new, |words| format!("  ({words})"));
    format!("  {}{oddity}", time.local)
}

/// Returns the lines about a schedule before its occurrences.
pub fn schedule_lines(details: &v1::GetScheduleResponse) -> Vec<String> {
    let schedule = details.schedule.clone().unwrap_or_default();
    let action = if schedule.is_reminder { "reminder" } else { "prompt" };
    let mut lines = vec![
        format!("{}  {}", schedule.schedule_id, clean_line(&schedule.name, NAME_CHARS_MAX)),
        format!("{}, shown in {}; {}", schedule.times, schedule.time_zone, schedule_state(&schedule)),
        format!("{action}: {}", clean_line(&schedule.text, TEXT_CHARS_MAX)),
        format!("rules: {}", rules_words(&schedule)),
    ];
    if !schedule.is_reminder {
        lines.push(format!("runs of the agent {} in the session {}", schedule.agent, schedule.session_key));
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
    fn a_row_of_many_skipped_occurrences_says_how_many() {
        let last_skipped = Some(prost_types::Timestamp { seconds: 60, nanos: 0 });
        let reason = v1::ScheduleOccurrenceReason::Missed.into();
        let many = v1::ScheduleOccurrence { last_skipped, skipped_count: 7, reason, ..Default::default() };
        assert_eq!(occurrence_row(&many)[2], "missed, 7 of them up to 1970-01-01T00:01:00Z");
    }
}
