//! The things that wait for a person, from every run.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_types::access::AccessScope;
use palyra_wire::v1;

use super::first_steps::first_steps;
use super::{NavigationRow, ScreenSpec};
use crate::paths::{ATTENTION_PATH, INCIDENTS_PATH, LEARNING_PATH, SCHEDULES_PATH};
use crate::screen_call::ScreenCall;
use crate::wording::{item_key, line_or, now_seconds, risk_mark, time_tag};

const EMPTY: &str = "Nothing waits for you.";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console",
    title: "Waiting",
    navigation: Some(NavigationRow::First),
    operation: "ListAttention",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(v1::ListAttentionResponse::default(), 0), sentence: EMPTY }),
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let list = call.call(v1::ListAttentionRequest::default()).await?;
    let may_ask = call.has_scope(AccessScope::Runs);
    if list.items.is_empty() && may_ask && has_no_run(&call).await? {
        return first_steps(&call).await;
    }
    Ok(view(list, now_seconds()))
}

/// Returns whether the person has not asked anything yet.
async fn has_no_run(call: &ScreenCall) -> Result<bool, ApiError> {
    let request = v1::ListRunsRequest { page_size: 1, ..Default::default() };
    Ok(call.call(request).await?.runs.is_empty())
}

fn view(list: v1::ListAttentionResponse, now: i64) -> Markup {
    let v1::ListAttentionResponse { mut items, more } = list;
    let age = |item: &v1::AttentionItem| item.since.map_or(0, |since| since.seconds);
    items.sort_by_key(|item| (std::cmp::Reverse(item.risk), age(item)));
    let keys: Vec<String> = items.iter().map(item_key).collect();
    html! {
        div data-attention=(ATTENTION_PATH) data-keys=(keys.join(" ")) {
            @if items.is_empty() {
                p { (EMPTY) }
                p { a href="/console/chat" { "Ask something" } }
            }
            ul.rows { @for item in &items { li { (row(item, now)) } } }
            @if more { p.notice { "More waits than is listed here." } }
        }
    }
}

fn row(item: &v1::AttentionItem, now: i64) -> Markup {
    let (what, path, link) = match item.kind() {
        v1::AttentionKind::Approval => (
            "A call needs your approval",
            format!("/console/approvals/{}", item.approval_id),
            "Look and decide",
        ),
        v1::AttentionKind::Question => {
            ("A run waits for your answer", format!("/console/sessions/{}", item.session_id), "Answer")
        }
        v1::AttentionKind::Loop => {
            ("A run repeats itself", format!("/console/sessions/{}", item.session_id), "Say what to do")
        }
        v1::AttentionKind::Budget => (
            "A budget does not allow a run's next model request",
            format!("/console/runs/{}", item.run_id),
            "See the run",
        ),
        v1::AttentionKind::Review => (
            "Something was learned that waits for your review",
            format!("{LEARNING_PATH}?show={}", item.candidate_id),
            "Accept or reject it",
        ),
        v1::AttentionKind::SchedulePaused => {
            ("A schedule paused itself", schedule_path(item), "See why, and let it go on")
        }
        v1::AttentionKind::Reminder => {
            ("A reminder was delivered", schedule_path(item), "Say that you saw it")
        }
        v1::AttentionKind::UnknownOutcome => (
            "It is not known whether a call took effect",
            "/console/effects".to_owned(),
            "Say what became of it",
        ),
        v1::AttentionKind::Incident => {
            ("Self-healing found something wrong", INCIDENTS_PATH.to_owned(), "See the incident")
        }
        v1::AttentionKind::UnknownEntry | v1::AttentionKind::Unspecified => {
            ("A newer version has to look at a run", format!("/console/runs/{}", item.run_id), "See the run")
        }
    };
    html! {
        div { strong { (what) } " " @if item.risk() != v1::RiskLevel::Unspecified { (risk_mark(item.risk()).markup()) } }
        div { (line_or(&item.about, "Its words were erased.")) }
        div.muted { "Waits since " (time_tag(item.since.as_ref(), now)) ". " a href=(path) { (link) } }
    }
}

fn schedule_path(item: &v1::AttentionItem) -> String {
    format!("{SCHEDULES_PATH}/{}", item.schedule_id)
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let item = |kind: v1::AttentionKind| v1::AttentionItem {
        kind: kind.into(),
        about: text.to_owned(),
        risk: v1::RiskLevel::High.into(),
        ..Default::default()
    };
    let kinds = [
        v1::AttentionKind::Approval,
        v1::AttentionKind::Question,
        v1::AttentionKind::Loop,
        v1::AttentionKind::SchedulePaused,
        v1::AttentionKind::Reminder,
        v1::AttentionKind::Review,
        v1::AttentionKind::Incident,
    ];
    view(v1::ListAttentionResponse { items: kinds.map(item).to_vec(), more: true }, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_leads_to_where_it_is_decided() {
        let item = |kind: v1::AttentionKind| v1::AttentionItem {
            kind: kind.into(),
            candidate_id: "CANDIDATE".to_owned(),
            schedule_id: "SCHEDULE".to_owned(),
            ..Default::default()
        };
        for (kind, path) in [
            (v1::AttentionKind::Review, "/console/learning?show=CANDIDATE"),
            (v1::AttentionKind::Reminder, "/console/schedules/SCHEDULE"),
            (v1::AttentionKind::SchedulePaused, "/console/schedules/SCHEDULE"),
            (v1::AttentionKind::Incident, "/console/incidents"),
        ] {
            let shown = row(&item(kind), 0).into_string();
            assert!(shown.contains(&format!("href=\"{path}\"")), "{shown}");
        }
    }

    #[test]
    fn what_can_do_most_harm_is_first_and_then_what_waits_longest() {
        let item = |about: &str, risk: v1::RiskLevel, seconds| v1::AttentionItem {
            about: about.to_owned(),
            risk: risk.into(),
            since: Some(prost_types::Timestamp { seconds, nanos: 0 }),
            ..Default::default()
        };
        let (low, high) = (v1::RiskLevel::Low, v1::RiskLevel::High);
        let items = vec![item("third", low, 5), item("second", high, 9), item("first", high, 7)];
        let shown = view(v1::ListAttentionResponse { items, more: false }, 10).into_string();
        let places = ["first", "second", "third"].map(|about| shown.find(about).unwrap());
        assert!(places.is_sorted(), "{shown}");
    }
}
