//! The runs of the person, newest first.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{count, short_id};
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::screen_call::ScreenCall;
use crate::wording::{line_or, now_seconds, run_mark, time_tag};

const EMPTY: &str = "There are no such runs.";
const PAGE_ROWS: u32 = 50;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/runs",
    title: "Runs",
    navigation: Some(NavigationRow::First),
    operation: "ListRuns",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView {
        view: || view(&v1::ListRunsResponse::default(), v1::RunFilter::Unspecified, 0),
        sentence: EMPTY,
    }),
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let only = match call.query("only").as_str() {
        "open" => v1::RunFilter::Open,
        "finished" => v1::RunFilter::Finished,
        _ => v1::RunFilter::Unspecified,
    };
    let request = v1::ListRunsRequest {
        only: only.into(),
        page_size: PAGE_ROWS,
        page_token: call.query("after"),
        ..Default::default()
    };
    Ok(view(&call.call(request).await?, only, now_seconds()))
}

fn view(list: &v1::ListRunsResponse, only: v1::RunFilter, now: i64) -> Markup {
    let filters = [v1::RunFilter::Unspecified, v1::RunFilter::Open, v1::RunFilter::Finished];
    let word = |filter: v1::RunFilter| match filter {
        v1::RunFilter::Unspecified => "all",
        v1::RunFilter::Open => "open",
        v1::RunFilter::Finished => "finished",
    };
    html! {
        p {
            "Show: "
            @for filter in filters {
                a href={ "/console/runs?only=" (word(filter)) } aria-current=[(filter == only).then_some("true")] { (word(filter)) } " "
            }
        }
        @if list.runs.is_empty() { p { (EMPTY) " " a href="/console/chat" { "Ask something" } } }
        @else { (table(&list.runs, now)) }
        @if !list.next_page_token.is_empty() {
            p { a href={ "/console/runs?only=" (word(only)) "&after=" (list.next_page_token) } { "Older runs" } }
        }
    }
}

/// Returns the rows of runs.
fn table(runs: &[v1::Run], now: i64) -> Markup {
    html! {
        div.scroll { table {
            thead { tr { th { "Run" } th { "State" } th { "Input" } th { "Used" } th { "Changed" } } }
            tbody {
                @for run in runs {
                    tr {
                        td { a href={ "/console/runs/" (run.run_id) } { code { (short_id(&run.run_id)) } } }
                        td { (run_mark(run).markup()) }
                        td { (line_or(&run.input_preview, "erased")) }
                        td { (count(run.turns.into(), "turn")) ", " (count(run.tool_calls.into(), "call")) }
                        td { (time_tag(run.updated.as_ref(), now)) }
                    }
                }
            }
        } }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let run = v1::Run { input_preview: text.to_owned(), ..Default::default() };
    let list = v1::ListRunsResponse { runs: vec![run], next_page_token: "9".to_owned() };
    view(&list, v1::RunFilter::Open, 0)
}
