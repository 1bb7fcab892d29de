//! States, reasons and times of schedules in words.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use palyra_schedule_text::{oddity_words, schedule_state};
use palyra_wire::v1;

use crate::wording::{StateMark, line, time_tag};

/// Returns whether a schedule goes on, and why it does not.
pub(super) fn schedule_mark(schedule: &v1::Schedule) -> StateMark {
    let (sign, look) = match schedule.paused() {
        _ if !schedule.unreadable.is_empty() => ("✕", "danger"),
        v1::SchedulePauseCause::Failures => ("✕", "danger"),
        v1::SchedulePauseCause::Refused => ("!", "caution"),
        v1::SchedulePauseCause::Person | v1::SchedulePauseCause::All => ("‖", "muted"),
        v1::SchedulePauseCause::Unspecified if schedule.is_running => ("▶", "info"),
        v1::SchedulePauseCause::Unspecified if schedule.next.is_none() => ("■", "muted"),
        v1::SchedulePauseCause::Unspecified => ("✓", "positive"),
    };
    StateMark::new(sign, schedule_state(schedule), look)
}

/// Returns how an occurrence ended, or where it is.
pub(super) fn stage_mark(stage: v1::ScheduleOccurrenceStage) -> StateMark {
    match stage {
        v1::ScheduleOccurrenceStage::Waiting => StateMark::new("◌", "waits", "muted"),
        v1::ScheduleOccurrenceStage::Running => StateMark::new("▶", "runs", "info"),
        v1::ScheduleOccurrenceStage::Succeeded => StateMark::new("✓", "succeeded", "positive"),
        v1::ScheduleOccurrenceStage::Failed => StateMark::new("✕", "failed", "danger"),
        v1::ScheduleOccurrenceStage::Cancelled => StateMark::new("■", "cancelled", "muted"),
        v1::ScheduleOccurrenceStage::Replaced => StateMark::new("■", "replaced by a later one", "muted"),
        v1::ScheduleOccurrenceStage::Skipped => StateMark::new("–", "skipped", "caution"),
        v1::ScheduleOccurrenceStage::Unspecified => StateMark::new("?", "not known", "muted"),
    }
}

/// Returns why an occurrence ran, or did not.
pub(super) fn reason_words(reason: v1::ScheduleOccurrenceReason) -> &'static str {
    match reason {
        v1::ScheduleOccurrenceReason::Unspecified => "not known",
        v1::ScheduleOccurrenceReason::Due => "its time had come",
        v1::ScheduleOccurrenceReason::CaughtUp => "it was missed, and caught up",
        v1::ScheduleOccurrenceReason::Manual => "a person started it",
        v1::ScheduleOccurrenceReason::Missed => {
            "the daemon did not run at its time, and missed ones do not run"
        }
        v1::ScheduleOccurrenceReason::Overlap => "the one before was still running",
        v1::ScheduleOccurrenceReason::LineFull => "ten others waited already",
        v1::ScheduleOccurrenceReason::Replaced => "it waited, and a later one replaced it",
        v1::ScheduleOccurrenceReason::Paused => "it waited, and the schedule was paused",
        v1::ScheduleOccurrenceReason::Removed => "it waited, and the schedule was removed",
        v1::ScheduleOccurrenceReason::Edited => "it waited, and the schedule was edited",
        v1::ScheduleOccurrenceReason::Creator => "the person who made the schedule is disabled",
        v1::ScheduleOccurrenceReason::AgentGone => "the agent is archived",
        v1::ScheduleOccurrenceReason::AgentChanged => "the agent was changed since the schedule was approved",
        v1::ScheduleOccurrenceReason::TextChanged => "the text was erased",
        v1::ScheduleOccurrenceReason::TargetChanged => "answers would go elsewhere than approved",
        v1::ScheduleOccurrenceReason::Policy => "the role of the person does not allow runs",
    }
}

/// Returns planned times, with what changes of the clock do to them.
pub(super) fn planned_list(times: &[v1::PlannedScheduleTime], now: i64) -> Markup {
    html! {
        ol.times { @for time in times { li { (planned_time(time, now)) } } }
    }
}

/// Returns a planned time in its zone, and how far it is from now.
pub(super) fn planned_time(time: &v1::PlannedScheduleTime, now: i64) -> Markup {
    html! {
        (line(&time.local)) " " span.muted { "(" (time_tag(time.planned.as_ref(), now)) ")" }
        @if let Some(oddity) = oddity_words(time.oddity()) { div.caution { "! " (oddity) } }
    }
}

/// Returns a past time in the zone of a schedule, and how far it is from now.
pub(super) fn local_time(time: Option<&prost_types::Timestamp>, zone: &str, now: i64) -> Markup {
    let instant = time.and_then(|time| jiff::Timestamp::from_second(time.seconds).ok());
    let zone = TimeZone::get(zone).unwrap_or(TimeZone::UTC);
    html! {
        @if let Some(instant) = instant {
            (instant.to_zoned(zone).strftime("%a %Y-%m-%d %H:%M %Z").to_string())
            " " span.muted { "(" (time_tag(time, now)) ")" }
        } @else { span.muted { "not known" } }
    }
}
