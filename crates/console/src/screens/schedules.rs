//! The schedules of the person: when each is due, how it went last, and whether it is paused.

mod form;
mod one;
mod words;

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_wire::v1;

pub(super) use form::{EDIT_SCREEN, NEW_SCREEN};
pub(crate) use form::{draft_of, preview_schedule, schedule_again};
pub(super) use one::SCREEN as ONE_SCREEN;

use self::form::EXAMPLES;
use self::words::{planned_time, schedule_mark, stage_mark};
use super::{NavigationRow, ScreenSpec};
use crate::cron_words::times_words;
use crate::paths::{PAUSE_SCHEDULES_PATH, RESUME_SCHEDULES_PATH, SCHEDULES_PATH};
use crate::screen_call::ScreenCall;
use crate::wording::{line, line_or, now_seconds, time_tag};

const EMPTY: &str = "No schedule is made yet.";
/// Schedules of a page; the latest occurrence of each is read.
const ROWS_MAX: usize = 50;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: SCHEDULES_PATH,
    title: "Schedules",
    navigation: Some(NavigationRow::More),
    operation: "ListSchedules",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&ScheduleList::default(), 0), sentence: EMPTY }),
};

/// A schedule with its latest occurrence.
struct ShownSchedule {
    schedule: v1::Schedule,
    latest: Option<v1::ScheduleOccurrence>,
}

/// What the page shows.
#[derive(Default)]
struct ScheduleList {
    shown: Vec<ShownSchedule>,
    /// Where the next page begins; zero after the last one.
    next: usize,
    /// The token of the form that pauses all; `None` where none goes on.
    pause_token: Option<String>,
    /// The token of the form that ends this pause; `None` where there is none.
    resume_token: Option<String>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let all = call.call(v1::ListSchedulesRequest {}).await?.schedules;
    let has_pause = |cause: v1::SchedulePauseCause| all.iter().any(|schedule| schedule.paused() == cause);
    let is_any_on = has_pause(v1::SchedulePauseCause::Unspecified);
    let pause_token = is_any_on.then(|| call.form_token(PAUSE_SCHEDULES_PATH));
    let is_any_paused_with_all = has_pause(v1::SchedulePauseCause::All);
    let resume_token = is_any_paused_with_all.then(|| call.form_token(RESUME_SCHEDULES_PATH));
    let after = usize::try_from(call.query_number("after")).unwrap_or(usize::MAX);
    let next = after.saturating_add(ROWS_MAX);
    let next = if next < all.len() { next } else { 0 };
    let mut shown = Vec::new();
    for schedule in all.into_iter().skip(after).take(ROWS_MAX) {
        let request = v1::GetScheduleRequest { schedule_id: schedule.schedule_id.clone() };
        // A schedule that was removed since the list was read has no latest occurrence.
        let details = call.call(request).await.unwrap_or_default();
        shown.push(ShownSchedule { schedule, latest: details.occurrences.into_iter().next() });
    }
    Ok(view(&ScheduleList { shown, next, pause_token, resume_token }, now_seconds()))
}

fn view(list: &ScheduleList, now: i64) -> Markup {
    html! {
        p {
            "A schedule starts a run, or delivers a reminder, at planned times. "
            a.button href={ (SCHEDULES_PATH) "/new" } { "Make a schedule" }
        }
        @if list.shown.is_empty() {
            p { (EMPTY) " These can be saved as they are:" }
            ul { @for (at, example) in EXAMPLES.iter().enumerate() {
                li { a href={ (SCHEDULES_PATH) "/new?example=" (at + 1) } { (example.when) ": " (example.text) } }
            } }
        }
        @for shown in &list.shown { (card(shown, now)) }
        @if list.next > 0 {
            p { a href={ (SCHEDULES_PATH) "?after=" (list.next) } { "Older schedules" } }
        }
        @if let Some(token) = &list.pause_token {
            form method="post" action=(PAUSE_SCHEDULES_PATH) {
                input type="hidden" name="token" value=(token);
                div.actions { button type="submit" { "Pause all schedules" } }
            }
        }
        @if let Some(token) = &list.resume_token {
            form method="post" action=(RESUME_SCHEDULES_PATH) {
                input type="hidden" name="token" value=(token);
                div.actions { button type="submit" { "Resume those that were paused together" } }
            }
        }
    }
}

fn card(shown: &ShownSchedule, now: i64) -> Markup {
    let schedule = &shown.schedule;
    html! {
        section.card {
            h2 {
                a href={ (SCHEDULES_PATH) "/" (schedule.schedule_id) } { (line_or(&schedule.name, "A schedule whose words were erased")) }
            }
            p { (schedule_mark(schedule).markup()) }
            dl.facts {
                dt { "When" } dd { (line(&times_words(&schedule.times))) ", in " (line(&schedule.time_zone)) }
                dt { "Next" } dd {
                    @match &schedule.next {
                        Some(next) => { (planned_time(next, now)) },
                        None => { span.muted { "no planned time" } },
                    }
                }
                dt { "Latest" } dd {
                    @match &shown.latest {
                        Some(latest) => { (stage_mark(latest.stage()).markup()) " " (time_tag(latest.planned.as_ref(), now)) },
                        None => { span.muted { "nothing yet" } },
                    }
                }
                dt { "Does" } dd { @if schedule.is_reminder { "delivers a reminder" } @else { "starts a run of " (line(&schedule.agent)) } }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let next = v1::PlannedScheduleTime {
        local: text.to_owned(),
        oddity: v1::ScheduleClockOddity::EndOfGap.into(),
        ..Default::default()
    };
    let schedule = v1::Schedule {
        name: text.to_owned(),
        times: text.to_owned(),
        time_zone: text.to_owned(),
        agent: text.to_owned(),
        next: Some(next),
        ..Default::default()
    };
    let latest = Some(v1::ScheduleOccurrence::default());
    let token = || Some("token".to_owned());
    let shown = vec![ShownSchedule { schedule, latest }];
    view(&ScheduleList { shown, next: 7, pause_token: token(), resume_token: token() }, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_says_when_it_is_due_and_how_it_went_last() {
        let next =
            v1::PlannedScheduleTime { local: "Mon 2027-03-01 08:00 CET".to_owned(), ..Default::default() };
        let schedule = v1::Schedule {
            name: "mail".to_owned(),
            times: "cron 0 8 * * 1-5 (Europe/Prague)".to_owned(),
            time_zone: "Europe/Prague".to_owned(),
            is_reminder: true,
            next: Some(next),
            ..Default::default()
        };
        let stage = v1::ScheduleOccurrenceStage::Failed.into();
        let latest = Some(v1::ScheduleOccurrence { stage, ..Default::default() });
        let list = ScheduleList { shown: vec![ShownSchedule { schedule, latest }], ..Default::default() };
        let shown = view(&list, 0).into_string();
        for part in [
            "every weekday at 08:00, in Europe/Prague",
            "Mon 2027-03-01 08:00 CET",
            "failed",
            "delivers a reminder",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("<form"), "nothing can be paused or resumed: {shown}");
    }
}
