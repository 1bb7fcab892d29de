//! What was learned from the person's conversations: what waits for a review, with its evidence, and what is in use.

mod card;

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::count;
use palyra_wire::v1;

use self::card::{ShownCandidate, done_notice, full_card, used_row};
use super::{NavigationRow, ScreenSpec};
use crate::paths::LEARNING_PATH;
use crate::screen_call::ScreenCall;
use crate::wording::now_seconds;

const EMPTY: &str = "Nothing waits for your review.";
/// Candidates of a page that wait.
const PENDING_MAX: u32 = 10;
/// Candidates of each state in use that a page lists; the newest.
const USED_MAX: u32 = 50;
const STATES_IN_USE: [v1::LearningState; 3] =
    [v1::LearningState::Applied, v1::LearningState::Accepted, v1::LearningState::Edited];

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: LEARNING_PATH,
    title: "Learning",
    navigation: Some(NavigationRow::More),
    operation: "ListLearningCandidates",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&LearningView::default(), 0), sentence: EMPTY }),
};

/// What the page shows.
#[derive(Default)]
struct LearningView {
    /// The one that was decided just now.
    decided: Option<ShownCandidate>,
    /// The one that the address names.
    named: Option<ShownCandidate>,
    pending: Vec<ShownCandidate>,
    /// Where the next page of those that wait begins.
    next: String,
    used: Vec<ShownCandidate>,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let request = v1::ListLearningCandidatesRequest {
        state: v1::LearningState::PendingReview.into(),
        page_size: PENDING_MAX,
        page_token: call.query("after"),
    };
    let page = call.call(request).await?;
    let mut pending = Vec::new();
    for candidate in page.candidates {
        pending.push(read_one(&call, candidate.candidate_id).await?);
    }
    let mut used = Vec::new();
    for state in STATES_IN_USE {
        let request = v1::ListLearningCandidatesRequest {
            state: state.into(),
            page_size: USED_MAX,
            ..Default::default()
        };
        let found = call.call(request).await?.candidates;
        used.extend(found.into_iter().map(|candidate| ShownCandidate::listed(&call, candidate)));
    }
    used.sort_by_key(|shown| std::cmp::Reverse(shown.updated()));
    let decided = named_one(&call, "decided").await?;
    let named = named_one(&call, "show").await?;
    Ok(view(&LearningView { decided, named, pending, next: page.next_page_token, used }, now_seconds()))
}

/// Returns the candidate that a value of the query names.
async fn named_one(call: &ScreenCall, name: &str) -> Result<Option<ShownCandidate>, ApiError> {
    match call.query(name) {
        id if id.is_empty() => Ok(None),
        id => read_one(call, id).await.map(Some),
    }
}

async fn read_one(call: &ScreenCall, candidate_id: String) -> Result<ShownCandidate, ApiError> {
    let details = call.call(v1::GetLearningCandidateRequest { candidate_id }).await?;
    Ok(ShownCandidate::read(call, details))
}

fn view(shown: &LearningView, now: i64) -> Markup {
    html! {
        @if let Some(decided) = &shown.decided { (done_notice(decided)) }
        @if let Some(named) = &shown.named {
            h2 { "What you asked for" }
            (full_card(named, now))
        }
        h2 { "To review" }
        @if shown.pending.is_empty() {
            p { (EMPTY) " " a href="/console/memory" { "See what is remembered" } }
        } @else {
            p.muted { "Each is a sentence of yours, with the entry that it comes from. Nothing is used before you accept it." }
        }
        @for one in shown.pending.iter().filter(|one| !shown.is_named(one)) { (full_card(one, now)) }
        @if !shown.next.is_empty() {
            p { a href={ (LEARNING_PATH) "?after=" (shown.next) } { "More to review" } }
        }
        h2 { "In use" }
        @if shown.used.is_empty() { p { "Nothing that was learned is in use." } }
        @else {
            p.muted { (count(u64::try_from(shown.used.len()).unwrap_or(u64::MAX), "item")) ", the latest first. An undo ends its use with the next run." }
            ul.rows { @for one in &shown.used { li { (used_row(one, now)) } } }
        }
    }
}

impl LearningView {
    /// Returns whether a candidate is shown above the list already.
    fn is_named(&self, one: &ShownCandidate) -> bool {
        self.named.as_ref().is_some_and(|named| named.id() == one.id())
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let states = [v1::LearningState::Rejected, v1::LearningState::Undone];
    let [decided, named] = states.map(|state| Some(ShownCandidate::example(text, state)));
    let pending = vec![ShownCandidate::example(text, v1::LearningState::PendingReview)];
    let used = vec![ShownCandidate::example(text, v1::LearningState::Applied)];
    view(&LearningView { decided, named, pending, next: "7".to_owned(), used }, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_the_address_names_is_shown_once() {
        let one = || ShownCandidate::example("short answers", v1::LearningState::PendingReview);
        let listed = LearningView { pending: vec![one()], ..Default::default() };
        let named = LearningView { named: Some(one()), pending: vec![one()], ..Default::default() };
        for shown in [listed, named] {
            let html = view(&shown, 0).into_string();
            assert_eq!(html.matches("value=\"accept\"").count(), 1, "{html}");
        }
    }
}
