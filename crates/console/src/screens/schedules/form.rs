//! The form of a schedule in two steps: what it means is shown first, with its next five times, and it is saved from there.
//!
//! Invariant: the page that saves has the cron line or the time that it shows, also where that was typed in words.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_schedule_text::interval_minutes;
use palyra_screen_text::clean_text;
use palyra_wire::v1;

use super::words::planned_list;
use crate::cron_words::{ExactTimes, exact_times, times_words};
use crate::forms::FormFields;
use crate::page_parts::FieldPresence::Optional;
use crate::page_parts::{TextField, refusal_body, text_field};
use crate::paths::{EDIT_SCHEDULE_PATH, NEW_SCHEDULE_PATH, PREVIEW_SUFFIX};
use crate::screen_call::ScreenCall;
use crate::screens::ScreenSpec;
use crate::wording::{line, line_or, now_seconds};

/// The forms of times, with the value that the field has.
const TIMES: [(&str, &str); 4] = [
    ("words", "in plain words: every weekday at 8"),
    ("cron", "as a cron line: 0 8 * * 1-5"),
    ("every", "as an interval: 15m, 2h or 1d"),
    ("at", "once: 2027-03-14T18:00"),
];
const SCHEDULE_ACTIONS: [(&str, &str); 2] =
    [("prompt", "start a run with this text"), ("reminder", "deliver this text, without a model")];
const MISSED: [(&str, &str); 3] = [
    ("run_once", "the last one that was missed runs"),
    ("skip", "none of them runs"),
    ("catch_up", "the last ones run, one after another"),
];
const OVERLAP: [(&str, &str); 3] = [
    ("forbid", "the later one is skipped"),
    ("queue", "the later one waits"),
    ("replace", "the later one replaces the running one"),
];

/// A schedule that can be saved as it is.
pub(super) struct ScheduleExample {
    pub(super) when: &'static str,
    action: &'static str,
    pub(super) text: &'static str,
}

/// What a person without schedules may begin with.
pub(super) const EXAMPLES: [ScheduleExample; 3] = [
    ScheduleExample {
        when: "every weekday at 8",
        action: "prompt",
        text: "Say what changed in this folder since yesterday.",
    },
    ScheduleExample {
        when: "fridays at 16:00",
        action: "prompt",
        text: "Sum up my conversations of this week in five sentences.",
    },
    ScheduleExample { when: "every day at 22:00", action: "reminder", text: "Write down how the day went." },
];

pub(in crate::screens) const NEW_SCREEN: ScreenSpec = ScreenSpec {
    path: NEW_SCHEDULE_PATH,
    title: "New schedule",
    navigation: None,
    operation: "ListSchedules",
    render: |call| render_new(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

pub(in crate::screens) const EDIT_SCREEN: ScreenSpec = ScreenSpec {
    path: EDIT_SCHEDULE_PATH,
    title: "Edit a schedule",
    navigation: None,
    operation: "GetSchedule",
    render: |call| render_edit(call).boxed(),
    #[cfg(test)]
    fixture: preview_fixture,
    #[cfg(test)]
    empty: None,
};

async fn render_new(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    // The person's role has to have schedules, so that the form is of use.
    call.call(v1::ListSchedulesRequest {}).await?;
    let at = usize::try_from(call.query_number("example")).unwrap_or_default();
    let example = at.checked_sub(1).and_then(|at| EXAMPLES.get(at));
    let mut form = ScheduleForm::empty(NEW_SCHEDULE_PATH, call.form_token(NEW_SCHEDULE_PATH));
    if let Some(example) = example {
        example.when.clone_into(&mut form.when);
        example.action.clone_into(&mut form.action);
        example.text.clone_into(&mut form.text);
    }
    Ok(form.markup())
}

async fn render_edit(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let schedule_id = call.param("schedule_id");
    let details = call.call(v1::GetScheduleRequest { schedule_id }).await?;
    let schedule = details.schedule.unwrap_or_default();
    let path = call.target.path.clone();
    let form = ScheduleForm::of_schedule(&path, call.form_token(&path), &schedule);
    Ok(html! {
        p { "An edit replaces the schedule as a whole and approves it again. Its agent stays." }
        (form.markup())
    })
}

/// What the fields of the form have in them.
#[derive(Debug, Clone, Default)]
struct ScheduleForm {
    path: String,
    token: String,
    times: String,
    when: String,
    zone: String,
    action: String,
    text: String,
    name: String,
    agent: String,
    missed: String,
    catch_up_max: String,
    overlap: String,
    jitter: String,
}

impl ScheduleForm {
    fn empty(path: &str, token: String) -> Self {
        Self { path: path.to_owned(), token, ..Self::default() }
    }

    /// Returns the form with what was typed.
    fn filled(path: &str, token: String, fields: &FormFields) -> Self {
        Self {
            path: path.to_owned(),
            token,
            times: fields.text("times"),
            when: fields.text("when"),
            zone: fields.text("zone"),
            action: fields.text("does"),
            text: fields.text("text"),
            name: fields.text("name"),
            agent: fields.text("agent"),
            missed: fields.text("missed"),
            catch_up_max: fields.text("catch_up_max"),
            overlap: fields.text("overlap"),
            jitter: fields.text("jitter"),
        }
    }

    /// Returns the form with what a schedule is.
    fn of_schedule(path: &str, token: String, schedule: &v1::Schedule) -> Self {
        let mut form = Self {
            zone: schedule.time_zone.clone(),
            action: if schedule.is_reminder { "reminder" } else { "prompt" }.to_owned(),
            text: schedule.text.clone(),
            name: schedule.name.clone(),
            agent: schedule.agent.clone(),
            missed: schedule.missed().short_name().to_owned(),
            overlap: schedule.overlap().short_name().to_owned(),
            jitter: schedule.jitter_seconds.to_string(),
            ..Self::empty(path, token)
        };
        if schedule.catch_up_max > 0 {
            form.catch_up_max = schedule.catch_up_max.to_string();
        }
        if let Some(times) = exact_times(&schedule.times) {
            form.set_times(times);
        }
        form
    }

    fn set_times(&mut self, times: ExactTimes) {
        let (kind, when) = match times {
            ExactTimes::Cron(line) => ("cron", line),
            ExactTimes::Every(span) => ("every", span),
            ExactTimes::At(local) => ("at", local),
        };
        kind.clone_into(&mut self.times);
        self.when = when;
    }

    /// Returns the form of the first step.
    fn markup(&self) -> Markup {
        html! {
            form.card method="post" action=(self.path) autocomplete="off" {
                input type="hidden" name="token" value=(self.token);
                label for="when" { "When" }
                input id="when" name="when" type="text" required spellcheck="false" value=(clean_text(&self.when));
                (choice(&ChoiceField { name: "times", label: "Written", options: &TIMES, chosen: &self.times }))
                (choice(&ChoiceField { name: "does", label: "What it does", options: &SCHEDULE_ACTIONS, chosen: &self.action }))
                label for="text" { "Text" }
                textarea id="text" name="text" rows="4" required { @if !self.text.is_empty() { "\n" (clean_text(&self.text)) } }
                details open[self.has_more()] {
                    summary { "Name, zone and rules" }
                    (self.more())
                }
                div.actions {
                    button.primary type="submit" formaction={ (self.path) (PREVIEW_SUFFIX) } { "Show when it is due" }
                }
            }
        }
    }

    fn more(&self) -> Markup {
        html! {
            (text_field(&TextField { name: "name", label: "Name", value: &self.name, help: "Empty for the beginning of its text.", presence: Optional }))
            (text_field(&TextField { name: "zone", label: "Time zone", value: &self.zone, help: "Empty for yours. Such as Europe/Prague.", presence: Optional }))
            (text_field(&TextField { name: "agent", label: "Agent", value: &self.agent, help: "The agent of its runs. Empty for main.", presence: Optional }))
            (choice(&ChoiceField { name: "missed", label: "While the daemon is down", options: &MISSED, chosen: &self.missed }))
            (text_field(&TextField { name: "catch_up_max", label: "How many of those run", value: &self.catch_up_max, help: "From 1 to 10, where the last ones run.", presence: Optional }))
            (choice(&ChoiceField { name: "overlap", label: "While another one runs", options: &OVERLAP, chosen: &self.overlap }))
            (text_field(&TextField { name: "jitter", label: "Longest delay in seconds", value: &self.jitter, help: "Empty for none. Each start is delayed by up to so long.", presence: Optional }))
        }
    }

    /// Returns whether something differs from the usual in what is folded.
    fn has_more(&self) -> bool {
        [&self.name, &self.zone, &self.agent, &self.catch_up_max].iter().any(|field| !field.is_empty())
    }

    /// Returns the fields of the second step, with nothing to type.
    fn hidden(&self) -> Markup {
        let fields = [
            ("times", &self.times),
            ("when", &self.when),
            ("zone", &self.zone),
            ("does", &self.action),
            ("text", &self.text),
            ("name", &self.name),
            ("agent", &self.agent),
            ("missed", &self.missed),
            ("catch_up_max", &self.catch_up_max),
            ("overlap", &self.overlap),
            ("jitter", &self.jitter),
        ];
        html! { @for (name, value) in fields { input type="hidden" name=(name) value=(clean_text(value)); } }
    }
}

/// A field with options.
struct ChoiceField<'a> {
    name: &'static str,
    label: &'static str,
    options: &'static [(&'static str, &'static str)],
    chosen: &'a str,
}

fn choice(field: &ChoiceField<'_>) -> Markup {
    html! {
        label for=(field.name) { (field.label) }
        select id=(field.name) name=(field.name) {
            @for (value, text) in field.options { option value=(value) selected[*value == field.chosen] { (text) } }
        }
    }
}

/// Returns what a form asks for.
///
/// # Errors
/// [`ApiError`]: a field cannot be read.
pub(crate) fn draft_of(fields: &FormFields) -> Result<v1::ScheduleDraft, ApiError> {
    let when = fields.text("when").trim().to_owned();
    let text = fields.text("text");
    if when.is_empty() || text.trim().is_empty() {
        return Err(ApiError::invalid_argument("a schedule needs a time and a text: write both"));
    }
    let mut draft = v1::ScheduleDraft {
        name: fields.text("name").trim().to_owned(),
        time_zone: fields.text("zone").trim().to_owned(),
        catch_up_max: number(fields, "catch_up_max")?,
        jitter_seconds: number(fields, "jitter")?,
        ..Default::default()
    };
    match fields.text("times").as_str() {
        "" | "words" => draft.words = when,
        "cron" => draft.cron = when,
        "every" => {
            draft.every_minutes = interval_minutes(&when)
                .ok_or_else(|| ApiError::invalid_argument("an interval is for example 15m, 2h or 1d"))?;
        }
        "at" => draft.at = when,
        _ => return Err(ApiError::invalid_argument("`times` is words, cron, every or at")),
    }
    match fields.text("does").as_str() {
        "" | "prompt" => {
            draft.prompt = text;
            draft.agent = fields.text("agent").trim().to_owned();
        }
        "reminder" => draft.reminder = text,
        _ => return Err(ApiError::invalid_argument("`does` is prompt or reminder")),
    }
    draft.missed = match fields.text("missed").as_str() {
        "" => v1::ScheduleMissedRule::Unspecified,
        rule => v1::ScheduleMissedRule::from_short_name(rule)
            .ok_or_else(|| ApiError::invalid_argument("`missed` is run_once, skip or catch_up"))?,
    }
    .into();
    draft.overlap = match fields.text("overlap").as_str() {
        "" => v1::ScheduleOverlapRule::Unspecified,
        rule => v1::ScheduleOverlapRule::from_short_name(rule)
            .ok_or_else(|| ApiError::invalid_argument("`overlap` is forbid, queue or replace"))?,
    }
    .into();
    Ok(draft)
}

fn number(fields: &FormFields, name: &str) -> Result<u32, ApiError> {
    match fields.text(name).trim() {
        "" => Ok(0),
        text => {
            text.parse().map_err(|_| ApiError::invalid_argument(&format!("`{name}` is a number, or empty")))
        }
    }
}

/// Returns what a schedule would mean, and the form that saves it.
pub(crate) async fn preview_schedule(
    call: &ScreenCall,
    fields: &FormFields,
    path: &str,
) -> Result<Markup, ApiError> {
    let draft = draft_of(fields)?;
    let preview = call.call(v1::PreviewScheduleRequest { draft: Some(draft) }).await?;
    let form = ScheduleForm::filled(path, call.form_token(path), fields);
    Ok(preview_view(&preview, &form, now_seconds()))
}

fn preview_view(preview: &v1::PreviewScheduleResponse, typed: &ScheduleForm, now: i64) -> Markup {
    let mut exact = typed.clone();
    // Words such as `tomorrow` mean another day tomorrow. Words of an interval may name where it begins, so they stay.
    match exact_times(&preview.times) {
        Some(times @ (ExactTimes::Cron(_) | ExactTimes::At(_))) => {
            exact.set_times(times);
            exact.zone.clone_from(&preview.time_zone);
        }
        Some(ExactTimes::Every(_)) | None => {}
    }
    html! {
        section.card {
            h2 { (line(&times_words(&preview.times))) }
            dl.facts {
                @if !preview.cron.is_empty() { dt { "Cron line" } dd { code { (line(&preview.cron)) } } }
                dt { "Time zone" } dd { (line(&preview.time_zone)) }
                dt { "What it does" } dd {
                    @if typed.action == "reminder" { "delivers a reminder" } @else { "starts a run of " (line_or(&typed.agent, "main")) }
                }
            }
            pre { (clean_text(&typed.text)) }
            h3 { "Next times" }
            @if preview.next.is_empty() { p { "It is never due." } }
            (planned_list(&preview.next, now))
            form method="post" action=(typed.path) {
                input type="hidden" name="token" value=(typed.token);
                (exact.hidden())
                div.actions { button.primary type="submit" { "Save this schedule" } }
            }
        }
        details {
            summary { "Change it first" }
            (typed.markup())
        }
    }
}

/// Returns the refusal above the form, with what was typed.
pub(crate) fn schedule_again(call: &ScreenCall, fields: &FormFields, refusal: &ApiError) -> Markup {
    let path = call.target.path.as_str();
    let path = path.strip_suffix(PREVIEW_SUFFIX).unwrap_or(path);
    html! {
        (refusal_body(refusal))
        (ScheduleForm::filled(path, call.form_token(path), fields).markup())
    }
}

#[cfg(test)]
fn typed(text: &str) -> ScheduleForm {
    let text = || text.to_owned();
    ScheduleForm {
        times: text(),
        when: text(),
        zone: text(),
        action: text(),
        text: text(),
        name: text(),
        agent: text(),
        missed: text(),
        catch_up_max: text(),
        overlap: text(),
        jitter: text(),
        ..ScheduleForm::empty(NEW_SCHEDULE_PATH, "token".to_owned())
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    typed(text).markup()
}

#[cfg(test)]
fn preview_fixture(text: &str) -> Markup {
    let next = v1::PlannedScheduleTime { local: text.to_owned(), ..Default::default() };
    let preview = v1::PreviewScheduleResponse {
        times: text.to_owned(),
        cron: text.to_owned(),
        time_zone: text.to_owned(),
        next: vec![next],
    };
    preview_view(&preview, &typed(text), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> FormFields {
        FormFields::parse(text).unwrap()
    }

    #[test]
    fn a_form_is_read_as_it_was_typed() {
        let words =
            draft_of(&fields("when=every+day+at+8&times=words&does=prompt&text=hi&agent=helper")).unwrap();
        assert_eq!(
            (words.words.as_str(), words.prompt.as_str(), words.agent.as_str()),
            ("every day at 8", "hi", "helper")
        );
        let reminder = "when=2h&times=every&does=reminder&text=tea&missed=catch_up&catch_up_max=3&overlap=queue&jitter=9";
        let reminder = draft_of(&fields(reminder)).unwrap();
        assert_eq!(
            (reminder.every_minutes, reminder.reminder.as_str(), reminder.jitter_seconds),
            (120, "tea", 9)
        );
        assert_eq!((reminder.missed(), reminder.catch_up_max), (v1::ScheduleMissedRule::CatchUp, 3));
        assert_eq!(reminder.overlap(), v1::ScheduleOverlapRule::Queue);
        for wrong in [
            "",
            "when=+&text=hi",
            "when=every+day+at+8&text=+",
            "when=2y&times=every&text=hi",
            "when=0m&times=every&text=hi",
            "when=x&times=moon&text=hi",
            "when=x&does=dance&text=hi",
            "when=x&missed=never&text=hi",
            "when=x&overlap=both&text=hi",
            "when=x&jitter=long&text=hi",
        ] {
            assert!(draft_of(&fields(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_options_of_the_form_are_values_of_the_operation() {
        assert_eq!(
            MISSED.map(|(value, _)| v1::ScheduleMissedRule::from_short_name(value).is_some()),
            [true; 3]
        );
        assert_eq!(
            OVERLAP.map(|(value, _)| v1::ScheduleOverlapRule::from_short_name(value).is_some()),
            [true; 3]
        );
        for example in EXAMPLES {
            assert!(SCHEDULE_ACTIONS.iter().any(|(action, _)| *action == example.action), "{}", example.when);
        }
    }

    /// The words of a day mean another one tomorrow.
    #[test]
    fn the_time_that_is_saved_is_the_one_that_is_shown() {
        let typed = ScheduleForm {
            when: "tomorrow at 9".to_owned(),
            times: "words".to_owned(),
            text: "a & b".to_owned(),
            ..ScheduleForm::empty(NEW_SCHEDULE_PATH, "token".to_owned())
        };
        let preview = v1::PreviewScheduleResponse {
            times: "at 2027-03-14 09:00 (Europe/Prague)".to_owned(),
            time_zone: "Europe/Prague".to_owned(),
            ..Default::default()
        };
        let shown = preview_view(&preview, &typed, 0).into_string();
        let (saving, changing) = shown.split_once("<details>").unwrap();
        for part in [
            "name=\"times\" value=\"at\"",
            "value=\"2027-03-14T09:00\"",
            "value=\"Europe/Prague\"",
            "value=\"a &amp; b\"",
        ] {
            assert!(saving.contains(part), "{part}: {saving}");
        }
        assert!(changing.contains("tomorrow at 9") && !saving.contains("tomorrow at 9"), "{shown}");
    }

    #[test]
    fn the_form_of_an_edit_has_what_the_schedule_is() {
        let schedule = v1::Schedule {
            times: "every 2 hours".to_owned(),
            time_zone: "UTC".to_owned(),
            text: "look".to_owned(),
            is_reminder: true,
            missed: v1::ScheduleMissedRule::Skip.into(),
            ..Default::default()
        };
        let form = ScheduleForm::of_schedule("/console/schedules/ID/edit", "token".to_owned(), &schedule);
        let shown = form.markup().into_string();
        for part in [
            "value=\"2h\"",
            "\"every\" selected",
            "\"reminder\" selected",
            "\"skip\" selected",
            "value=\"UTC\"",
            "look",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
