//! A schedule: its next ten times, its latest ten occurrences with their reasons, and what can be done with it.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_schedule_text::rules_words;
use palyra_screen_text::{clean_text, count};
use palyra_wire::v1;

use super::words::{local_time, planned_list, reason_words, schedule_mark, stage_mark};
use crate::cron_words::{ExactTimes, exact_times, times_words};
use crate::page_parts::wide_table;
use crate::paths::SCHEDULES_PATH;
use crate::screen_call::ScreenCall;
use crate::screens::ScreenSpec;
use crate::wording::{id_tag, line, line_or, now_seconds, time_tag};

const COLUMNS: [&str; 4] = ["Planned", "Result", "Why", "Run"];

pub(in crate::screens) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/schedules/{schedule_id}",
    title: "Schedule",
    navigation: None,
    operation: "GetSchedule",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

/// The tokens of the forms of a schedule.
#[derive(Default)]
struct ScheduleForms {
    run_now: String,
    pause: String,
    resume: String,
    remove: String,
    /// Whether a reminder was delivered and waits to be seen.
    is_delivered: bool,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let schedule_id = call.param("schedule_id");
    let details = call.call(v1::GetScheduleRequest { schedule_id }).await?;
    let schedule = details.schedule.clone().unwrap_or_default();
    let token = |verb: &str| call.form_token(&action_path(&schedule, verb));
    let forms = ScheduleForms {
        run_now: token("run-now"),
        pause: token("pause"),
        resume: token("resume"),
        remove: token("remove"),
        is_delivered: schedule.is_reminder && is_delivered(&call, &schedule).await?,
    };
    Ok(view(&details, &forms, now_seconds()))
}

/// Returns whether the list of what waits has the reminder.
async fn is_delivered(call: &ScreenCall, schedule: &v1::Schedule) -> Result<bool, ApiError> {
    let list = call.call(v1::ListAttentionRequest::default()).await?;
    let is_it = |item: &v1::AttentionItem| {
        item.kind() == v1::AttentionKind::Reminder && item.schedule_id == schedule.schedule_id
    };
    Ok(list.items.iter().any(is_it))
}

fn action_path(schedule: &v1::Schedule, verb: &str) -> String {
    format!("{SCHEDULES_PATH}/{}/{verb}", schedule.schedule_id)
}

fn view(details: &v1::GetScheduleResponse, forms: &ScheduleForms, now: i64) -> Markup {
    let schedule = details.schedule.clone().unwrap_or_default();
    html! {
        h2 { (line_or(&schedule.name, "Its words were erased")) }
        p { (schedule_mark(&schedule).markup()) }
        (facts(&schedule, now))
        h3 { @if schedule.is_reminder { "The reminder" } @else { "The input of its runs" } }
        @if schedule.text.is_empty() { p.muted { "It was erased." } } @else { pre { (clean_text(&schedule.text)) } }
        (buttons(&schedule, forms))
        h2 { "Next times" }
        @if details.next.is_empty() { p { "No time is planned." } }
        @else {
            @if schedule.paused() != v1::SchedulePauseCause::Unspecified { p.notice { "It is paused, so that nothing starts at these times." } }
            (planned_list(&details.next, now))
        }
        h2 { "Latest occurrences" }
        @if details.occurrences.is_empty() { p { "Nothing was due yet." } }
        @else { (occurrences(details, &schedule.time_zone, now)) }
        (removal(&schedule, &forms.remove))
        p { a href=(SCHEDULES_PATH) { "All schedules" } }
    }
}

fn facts(schedule: &v1::Schedule, now: i64) -> Markup {
    html! {
        dl.facts {
            dt { "When" } dd {
                (line(&times_words(&schedule.times)))
                @if let Some(ExactTimes::Cron(cron)) = exact_times(&schedule.times) { div.muted { "cron line " code { (line(&cron)) } } }
            }
            dt { "Time zone" } dd { (line(&schedule.time_zone)) }
            @if !schedule.unreadable.is_empty() { dt { "Why it stays" } dd { (line(&schedule.unreadable)) } }
            dt { "Rules" } dd { (rules_words(schedule)) }
            @if schedule.failures > 0 { dt { "Failures" } dd { (count(schedule.failures.into(), "failure")) " in a row; five pause it" } }
            @if !schedule.is_reminder { dt { "Agent" } dd { (line(&schedule.agent)) } }
            dt { "Made" } dd {
                (time_tag(schedule.created.as_ref(), now)) " by "
                @if schedule.made_by_run_id.is_empty() { "a person" }
                @else { a href={ "/console/runs/" (schedule.made_by_run_id) } { "a run" } }
            }
            dt { "Schedule" } dd { (id_tag(&schedule.schedule_id)) }
        }
    }
}

fn buttons(schedule: &v1::Schedule, forms: &ScheduleForms) -> Markup {
    let is_on = schedule.paused() == v1::SchedulePauseCause::Unspecified;
    let by_itself =
        matches!(schedule.paused(), v1::SchedulePauseCause::Person | v1::SchedulePauseCause::Failures);
    html! {
        @if schedule.paused() == v1::SchedulePauseCause::All {
            p.notice { "It was paused with all schedules. " a href=(SCHEDULES_PATH) { "Resume them together" } }
        }
        @if forms.is_delivered { (button(&action_path(schedule, "resume"), &forms.resume, "I saw this reminder")) }
        @if by_itself { (button(&action_path(schedule, "resume"), &forms.resume, "Resume")) }
        (button(&action_path(schedule, "run-now"), &forms.run_now, "Run now"))
        @if is_on { (button(&action_path(schedule, "pause"), &forms.pause, "Pause")) }
        p { a href=(action_path(schedule, "edit")) { "Edit this schedule" } }
    }
}

fn button(path: &str, token: &str, text: &str) -> Markup {
    html! {
        form method="post" action=(path) {
            input type="hidden" name="token" value=(token);
            div.actions { button type="submit" { (text) } }
        }
    }
}

/// Returns the form that removes the schedule, which a person opens first.
fn removal(schedule: &v1::Schedule, token: &str) -> Markup {
    html! {
        details {
            summary { "Remove this schedule" }
            p { "Nothing starts at its times any more, and those that wait do not run. A run that it started goes on." }
            form method="post" action=(action_path(schedule, "remove")) {
                input type="hidden" name="token" value=(token);
                div.actions { button.danger type="submit" { "Remove it for good" } }
            }
        }
    }
}

fn occurrences(details: &v1::GetScheduleResponse, zone: &str, now: i64) -> Markup {
    let rows = html! {
        @for occurrence in &details.occurrences {
            tr {
                td { (local_time(occurrence.planned.as_ref(), zone, now)) }
                td { (stage_mark(occurrence.stage()).markup()) }
                td {
                    (reason_words(occurrence.reason())) (skipped_words(occurrence, zone, now))
                    @if !occurrence.explanation.is_empty() { div { (line(&occurrence.explanation)) } }
                }
                td {
                    @if occurrence.run_id.is_empty() { span.muted { "none" } }
                    @else { a href={ "/console/runs/" (occurrence.run_id) } { (id_tag(&occurrence.run_id)) } }
                }
            }
        }
    };
    wide_table("Latest occurrences", &COLUMNS, &rows)
}

/// Returns how many were skipped together.
fn skipped_words(occurrence: &v1::ScheduleOccurrence, zone: &str, now: i64) -> Markup {
    let last = occurrence.last_skipped.as_ref();
    html! {
        @if last.is_some() {
            @match occurrence.skipped_count {
                0 => { ", with all up to " },
                number => { ", " (count(number.into(), "occurrence")) " up to " },
            }
            (local_time(last, zone, now))
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let next = v1::PlannedScheduleTime { local: text.to_owned(), ..Default::default() };
    let occurrence = v1::ScheduleOccurrence {
        stage: v1::ScheduleOccurrenceStage::Failed.into(),
        explanation: text.to_owned(),
        ..Default::default()
    };
    let schedule = v1::Schedule {
        name: text.to_owned(),
        times: format!("cron {text} (UTC)"),
        time_zone: text.to_owned(),
        text: text.to_owned(),
        agent: text.to_owned(),
        unreadable: text.to_owned(),
        failures: 2,
        ..Default::default()
    };
    let details =
        v1::GetScheduleResponse { schedule: Some(schedule), next: vec![next], occurrences: vec![occurrence] };
    let token = || "token".to_owned();
    let forms = ScheduleForms {
        run_now: token(),
        pause: token(),
        resume: token(),
        remove: token(),
        is_delivered: true,
    };
    view(&details, &forms, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paused: v1::SchedulePauseCause, is_delivered: bool) -> String {
        let schedule = v1::Schedule { paused: paused.into(), ..Default::default() };
        let details = v1::GetScheduleResponse { schedule: Some(schedule), ..Default::default() };
        view(&details, &ScheduleForms { is_delivered, ..Default::default() }, 0).into_string()
    }

    #[test]
    fn only_buttons_that_do_something_are_shown() {
        let on = shown(v1::SchedulePauseCause::Unspecified, false);
        assert!(on.contains("/pause\"") && !on.contains("/resume\""), "{on}");
        let delivered = shown(v1::SchedulePauseCause::Unspecified, true);
        assert!(delivered.contains("I saw this reminder") && delivered.contains("/resume\""), "{delivered}");
        for cause in [v1::SchedulePauseCause::Person, v1::SchedulePauseCause::Failures] {
            let paused = shown(cause, false);
            assert!(paused.contains("/resume\"") && !paused.contains("/pause\""), "{paused}");
        }
        let refused = shown(v1::SchedulePauseCause::Refused, false);
        assert!(!refused.contains("/resume\"") && refused.contains("Edit this schedule"), "{refused}");
        let with_all = shown(v1::SchedulePauseCause::All, false);
        assert!(!with_all.contains("/resume\"") && with_all.contains("Resume them together"), "{with_all}");
    }

    #[test]
    fn a_skipped_occurrence_has_its_reason_and_many_have_their_number() {
        let last_skipped = Some(prost_types::Timestamp { seconds: 7_200, nanos: 0 });
        let many = v1::ScheduleOccurrence {
            planned: Some(prost_types::Timestamp::default()),
            stage: v1::ScheduleOccurrenceStage::Skipped.into(),
            reason: v1::ScheduleOccurrenceReason::Missed.into(),
            last_skipped,
            skipped_count: 3,
            ..Default::default()
        };
        let details = v1::GetScheduleResponse { occurrences: vec![many], ..Default::default() };
        let shown = occurrences(&details, "Europe/Prague", 10_000).into_string();
        for part in ["skipped", "missed ones do not run, 3 occurrences up to", "Thu 1970-01-01 03:00 CET"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
