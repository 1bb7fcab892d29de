//! The approvals that a conversation waits for, each as the card of its own screen.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_wire::v1;

use crate::page_response::html_response;
use crate::screen_call::ScreenCall;
use crate::screens::approval;

/// Cards at once, at most; the rest is on the first screen.
const CARDS_MAX: u32 = 5;

/// Answers with the cards alone, for a page that is open already.
pub(crate) async fn asked_fragment(call: &ScreenCall) -> Result<Response, ApiError> {
    let session_id = call.param("session_id");
    let request = v1::ListRunsRequest { session_id, page_size: 1, ..Default::default() };
    let list = call.call(request).await?;
    let cards = match list.runs.first() {
        Some(newest) => cards(call, newest).await?,
        None => html! {},
    };
    Ok(html_response(StatusCode::OK, cards))
}

/// Returns the cards of a run that waits for approvals.
pub(super) async fn cards(call: &ScreenCall, run: &v1::Run) -> Result<Markup, ApiError> {
    if run.phase() == v1::RunPhase::Finished {
        return Ok(html! {});
    }
    let request = v1::ListApprovalsRequest {
        run_id: run.run_id.clone(),
        only: v1::ApprovalFilter::Pending.into(),
        page_size: CARDS_MAX,
        ..Default::default()
    };
    let list = call.call(request).await?;
    let mut cards = Vec::new();
    // Newest first: one that comes later is added above those that are being read, in a list that grows upwards.
    for pending in &list.approvals {
        cards.push(approval::card_in_conversation(call, pending).await);
    }
    Ok(view(&cards, !list.next_page_token.is_empty()))
}

fn view(cards: &[Markup], more: bool) -> Markup {
    html! {
        @for card in cards { (card) }
        @if more { p.notice { "More approvals wait: " a href="/console" { "see all" } "." } }
    }
}

#[cfg(test)]
pub(super) fn fixture(text: &str) -> Markup {
    view(&[approval::pending_fixture(text)], true)
}
