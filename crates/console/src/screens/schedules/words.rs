//! States, reasons and times of schedules in words.

use jiff::tz::TimeZone;
use maud::{Markup, html};
use palyra_screen_text::count;
use palyra_wire::v1;

use crate::wording::{StateMark, line, time_tag};

/// Returns whether a schedule goes on, and why it does not.
pub(super) fn schedule_mark(schedule: &v1::Schedule) -> StateMark {
    match schedule.paused() {
        _ if !schedule.unreadable.is_empty() => StateMark::new("✕", "its times cannot be read", "danger"),
        v1::SchedulePauseCause::Person => StateMark::new("‖", "paused", "muted"),
        v1::SchedulePauseCause::Failures => {
            StateMark::new("✕", "paused after five failures in a row", "danger")
        }
        v1::SchedulePauseCause::Refused => StateMark::new("!", "paused until it is edited", "caution"),
        v1::SchedulePauseCause::All => StateMark::new("‖", "paused with all", "muted"),
        v1::SchedulePauseCause::Unspecified if schedule.is_running => StateMark::new("▶", "runs now", "info"),
        v1::SchedulePauseCause::Unspecified if schedule.next.is_none() => {
            StateMark::new("■", "over", "muted")
        }
        v1::SchedulePauseCause::Unspecified => StateMark::new("✓", "on", "positive"),
    }
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

/// Returns the rules about missed and overlapping occurrences.
pub(super) fn rules_words(schedule: &v1::Schedule) -> String {
    let missed = match schedule.missed() {
        v1::ScheduleMissedRule::Skip => "missed ones do not run".to_owned(),
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

/// Returns planned times, with what changes of the clock do to them.
pub(super) fn planned_list(times: &[v1::PlannedScheduleTime], now: i64) -> Markup {
    html! {
        ol.times { @for time in times { li { (planned_time(time, now)) } } }
    }
}

/// Returns a planned time in its zone, and how far it is from now.
pub(super) fn planned_time(time: &v1::PlannedScheduleTime, now: i64) -> Markup {
    let oddity = match time.oddity() {
        v1::ScheduleClockOddity::Unspecified => "",
        v1::ScheduleClockOddity::EndOfGap => "The clock skips the planned time: this is the end of the gap.",
        v1::ScheduleClockOddity::FirstOfTwo => "The clock shows this time twice: this is the first.",
        v1::ScheduleClockOddity::OneOfTwo => "The clock shows this time twice: both are planned.",
    };
    html! {
        (line(&time.local)) " " span.muted { "(" (time_tag(time.planned.as_ref(), now)) ")" }
        @if !oddity.is_empty() { div.caution { "! " (oddity) } }
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
