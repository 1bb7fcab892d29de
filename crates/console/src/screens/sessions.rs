//! The conversations of the person, most recently used first.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::{count, short_id};
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::screen_call::ScreenCall;
use crate::wording::{line, line_or, now_seconds, time_tag};

const EMPTY: &str = "There are no such conversations.";
const PAGE_ROWS: u32 = 50;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/sessions",
    title: "Sessions",
    navigation: Some(NavigationRow::First),
    operation: "ListSessions",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView {
        view: || view(&v1::ListSessionsResponse::default(), "", 0),
        sentence: EMPTY,
    }),
};

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let search = call.query("search");
    let request = v1::ListSessionsRequest {
        page_size: PAGE_ROWS,
        page_token: call.query("after"),
        search: search.clone(),
        ..Default::default()
    };
    Ok(view(&call.call(request).await?, &search, now_seconds()))
}

fn view(list: &v1::ListSessionsResponse, search: &str, now: i64) -> Markup {
    html! {
        form method="get" action="/console/sessions" role="search" {
            label for="search" { "Search" }
            input type="text" id="search" name="search" value=(line(search));
            div.actions { button type="submit" { "Search" } }
        }
        @if list.sessions.is_empty() { p { (EMPTY) " " a href="/console/chat" { "Start one" } } }
        ul.rows { @for session in &list.sessions { li { (row(session, now)) } } }
        @if !list.next_page_token.is_empty() && search.is_empty() {
            p { a href={ "/console/sessions?after=" (list.next_page_token) } { "Older conversations" } }
        }
    }
}

fn row(session: &v1::Session, now: i64) -> Markup {
    let title = if session.label.is_empty() { &session.first_input } else { &session.label };
    html! {
        div { a href={ "/console/sessions/" (session.session_id) } { (line_or(title, "Without words")) } }
        div.muted {
            code { (short_id(&session.session_id)) } " - " (count(session.runs, "run")) ", used "
            (time_tag(session.updated.as_ref(), now))
            @if session.archived.is_some() { ", archived" }
        }
        @if !session.matched.is_empty() { div.muted { (line(&session.matched)) } }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let session = v1::Session {
        label: text.to_owned(),
        first_input: text.to_owned(),
        matched: text.to_owned(),
        ..Default::default()
    };
    let unnamed = v1::Session { label: String::new(), ..session.clone() };
    let list = v1::ListSessionsResponse { sessions: vec![session, unnamed], next_page_token: "9".to_owned() };
    view(&list, text, 0)
}
