//! How the daemon is: the checks of `palyra doctor` that it makes itself.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::clean_text;
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::screen_call::ScreenCall;
use crate::wording::{check_mark, line, now_seconds, spaced, time_tag};

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/status",
    title: "Status",
    navigation: Some(NavigationRow::More),
    operation: "GetStatus",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let status = call.call(v1::GetStatusRequest {}).await?;
    Ok(view(&status, now_seconds()))
}

fn view(status: &v1::GetStatusResponse, now: i64) -> Markup {
    html! {
        dl.facts {
            dt { "Version" } dd { (status.version) }
            dt { "Started" } dd { (time_tag(status.started.as_ref(), now)) }
            dt { "Model" } dd { (line(&status.default_model)) }
            dt { "Open runs" } dd { (status.open_runs) }
            dt { "State" } dd { code { (line(&status.state_dir)) } }
            dt { "Serves" } dd { @for address in &status.listening { div { code { (line(address)) } } } }
        }
        h2 { "Checks" }
        ul.rows { @for check in &status.checks { li { (check_row(check)) } } }
    }
}

/// Returns a check with what was found and what to do about it.
pub(super) fn check_row(check: &v1::Check) -> Markup {
    html! {
        div { (check_mark(check.level()).markup()) " " strong { (line(&spaced(&check.name))) } }
        div { (clean_text(&check.found)) }
        @if !check.mend.is_empty() { div.muted { (clean_text(&check.mend)) } }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let check = v1::Check {
        name: text.to_owned(),
        found: text.to_owned(),
        mend: text.to_owned(),
        ..Default::default()
    };
    let status = v1::GetStatusResponse {
        default_model: text.to_owned(),
        state_dir: text.to_owned(),
        listening: vec![text.to_owned()],
        checks: vec![check],
        ..Default::default()
    };
    view(&status, 0)
}
