//! One run: what it does now, and its tape.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{count, short_id};
use palyra_usage_view::run_cost_words;
use palyra_wire::v1;

use super::ScreenSpec;
use crate::screen_call::ScreenCall;
use crate::tape_row::{ROW_FILTERS, count_of_filter, tape_rows};
use crate::wording::{line, line_or, now_seconds, run_mark, time_tag};

/// Entries of a page.
const ENTRIES_MAX: u32 = 500;
/// Entries before the one that a link names.
const ENTRIES_BEFORE: u32 = 25;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/runs/{run_id}",
    title: "Run",
    navigation: None,
    operation: "GetRun",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

/// A page of a tape.
struct TapePage {
    after: u32,
    entries: Vec<v1::TapeEntry>,
    more: bool,
    /// The rows that are shown; every row without one.
    filter: Option<&'static str>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let run_id = call.param("run_id");
    let after = match call.query_number("at") {
        0 => call.query_number("after"),
        at => at.saturating_sub(ENTRIES_BEFORE),
    };
    let run = call.call(v1::GetRunRequest { run_id: run_id.clone() }).await?.run.unwrap_or_default();
    let read = v1::ReadTapeRequest { run_id: run_id.clone(), after_tape_seq: after, limit: ENTRIES_MAX };
    let read = call.call(read).await?;
    let stop_token = call.form_token(&stop_path(&run.run_id));
    let only = call.query("only");
    let filter = ROW_FILTERS.into_iter().find(|filter| *filter == only);
    let page = TapePage { after, entries: read.entries, more: read.more, filter };
    Ok(view(&run, &page, &stop_token, now_seconds()))
}

fn stop_path(run_id: &str) -> String {
    format!("/console/runs/{run_id}/stop")
}

fn view(run: &v1::Run, page: &TapePage, stop_token: &str, now: i64) -> Markup {
    html! {
        (header(run, now))
        @if is_open(run) {
            form method="post" action=(stop_path(&run.run_id)) {
                input type="hidden" name="token" value=(stop_token);
                div.actions { button.danger type="submit" { "Stop the run" } }
            }
        }
        p {
            a href={ "/console/sessions/" (run.session_id) } { "Open its conversation" } " - "
            a href={ "/console/runs/" (run.run_id) "/why" } { "Why its calls ran" }
            @if !is_open(run) && run.tool_calls > 0 {
                " - " a href={ "/console/runs/" (run.run_id) "/undo" } { "Undo its changes" }
            }
            " - " a href={ "/console/runs/" (run.run_id) "/export" } download { "Save as a file" }
            @if page.after > 0 { " - " a href={ "/console/runs/" (run.run_id) } { "From the first entry" } }
        }
        h2 { "Tape" }
        (filters(run, page))
        (tape(run, page))
        @if page.more {
            p { a href={ "/console/runs/" (run.run_id) "?after=" (last_of(page)) } { "Next entries" } }
            (place_form(run))
        }
    }
}

/// Returns the links that show some rows of this page only.
fn filters(run: &v1::Run, page: &TapePage) -> Markup {
    let path = format!("/console/runs/{}?after={}", run.run_id, page.after);
    html! {
        p.filters {
            a href=(path) aria-current=[page.filter.is_none().then_some("true")] { "all (" (page.entries.len()) ")" }
            @for filter in ROW_FILTERS {
                a href={ (path) "&only=" (filter) } aria-current=[(page.filter == Some(filter)).then_some("true")] {
                    (filter) " (" (count_of_filter(&page.entries, filter)) ")"
                }
            }
        }
    }
}

/// Returns the form that leads to an entry of a long tape.
fn place_form(run: &v1::Run) -> Markup {
    html! {
        form method="get" action={ "/console/runs/" (run.run_id) } {
            label for="at" { "Go to entry" }
            input type="text" id="at" name="at" inputmode="numeric" pattern="[0-9]{1,9}" required;
            div.actions { button type="submit" { "Go" } }
        }
    }
}

fn header(run: &v1::Run, now: i64) -> Markup {
    let usage = run.usage.unwrap_or_default();
    html! {
        p { strong { (line_or(&run.input_preview, "The input was erased.")) } }
        dl.facts {
            dt { "State" } dd { (run_mark(run).markup()) }
            dt { "Run" } dd { code title=(run.run_id) { (short_id(&run.run_id)) } }
            dt { "Started" } dd { (time_tag(run.created.as_ref(), now)) }
            dt { "Last entry" } dd { (time_tag(run.updated.as_ref(), now)) }
            dt { "Used" } dd {
                (count(run.turns.into(), "turn")) ", " (count(run.tool_calls.into(), "call")) ", "
                (usage.input_tokens) " tokens in, " (usage.output_tokens) " out"
                @if usage.estimated { " (estimated)" }
            }
            @if let Some(cost) = run.cost.as_ref().and_then(run_cost_words) { dt { "Cost" } dd { (line(&cost)) } }
            @if !run.error_code.is_empty() { dt { "Error" } dd { code { (line(&run.error_code)) } } }
        }
    }
}

fn is_open(run: &v1::Run) -> bool {
    run.phase() != v1::RunPhase::Finished
}

fn last_of(page: &TapePage) -> u32 {
    page.entries.last().map_or(page.after, |entry| entry.tape_seq)
}

/// Returns the entries; a page that has the newest ones of an open run goes on by itself.
fn tape(run: &v1::Run, page: &TapePage) -> Markup {
    let follows = is_open(run) && !page.more;
    html! {
        ol.tape
            data-only=[page.filter]
            data-events=[follows.then(|| format!("/console/runs/{}/events", run.run_id))]
            data-after=[follows.then(|| last_of(page))]
        { (tape_rows(&page.entries)) }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let event =
        v1::tape_entry::Event::RunStarted(v1::RunStarted { input: text.to_owned(), ..Default::default() });
    let entry = v1::TapeEntry { tape_seq: 1, event: Some(event), ..Default::default() };
    let run = v1::Run {
        input_preview: text.to_owned(),
        error_code: text.to_owned(),
        phase: v1::RunPhase::Running.into(),
        ..Default::default()
    };
    view(&run, &TapePage { after: 0, entries: vec![entry], more: false, filter: None }, "token", 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_run_can_be_stopped_and_goes_on_by_itself() {
        let page = |more| TapePage {
            after: 4,
            entries: vec![v1::TapeEntry { tape_seq: 7, ..Default::default() }],
            more,
            filter: None,
        };
        let run = |phase: v1::RunPhase| v1::Run {
            run_id: "R".to_owned(),
            phase: phase.into(),
            ..Default::default()
        };
        let open = view(&run(v1::RunPhase::Running), &page(false), "token", 0).into_string();
        assert!(
            open.contains("Stop the run")
                && open.contains("data-events=\"/console/runs/R/events\" data-after=\"7\"")
        );
        let part = view(&run(v1::RunPhase::Running), &page(true), "token", 0).into_string();
        assert!(!part.contains("data-events") && part.contains("?after=7"), "{part}");
        let over = view(&run(v1::RunPhase::Finished), &page(false), "token", 0).into_string();
        assert!(!over.contains("data-events") && !over.contains("Stop the run"), "{over}");
    }
}
