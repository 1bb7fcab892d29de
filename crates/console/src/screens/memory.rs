//! What is remembered for the person: each item with where it comes from, and the form that forgets it.

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_wire::v1;

use super::{NavigationRow, ScreenSpec};
use crate::screen_call::ScreenCall;
use crate::wording::{StateMark, id_tag, line, now_seconds, surface_word, time_tag};

const EMPTY: &str = "Nothing is remembered. Ask for it in a conversation, or write it here.";
/// Items of a page.
const ROWS_MAX: u32 = 100;
/// Where a new item is sent.
pub(crate) const SAVE_PATH: &str = "/console/memory/save";

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/memory",
    title: "Memory",
    navigation: Some(NavigationRow::More),
    operation: "ListMemories",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: Some(super::EmptyView { view: || view(&MemoryView::default(), 0), sentence: EMPTY }),
};

/// An item with the token of the form that forgets it.
struct ShownItem {
    item: v1::Memory,
    token: String,
}

/// What the screen shows.
#[derive(Default)]
struct MemoryView {
    /// What was looked for.
    query: String,
    items: Vec<ShownItem>,
    /// Where the next page begins.
    next: String,
    save_token: String,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let query = call.query("q");
    let (items, next) = if query.trim().is_empty() {
        let page_token = call.query("page");
        let request = v1::ListMemoriesRequest { page_size: ROWS_MAX, page_token, ..Default::default() };
        let page = call.call(request).await?;
        (page.memories, page.next_page_token)
    } else {
        let request =
            v1::SearchMemoriesRequest { text: query.clone(), limit: ROWS_MAX, ..Default::default() };
        (call.call(request).await?.memories, String::new())
    };
    let shown = |item: v1::Memory| ShownItem { token: call.form_token(&forget_path(&item)), item };
    let items = items.into_iter().map(shown).collect();
    let save_token = call.form_token(SAVE_PATH);
    Ok(view(&MemoryView { query, items, next, save_token }, now_seconds()))
}

fn forget_path(item: &v1::Memory) -> String {
    format!("/console/memory/{}/forget", item.memory_id)
}

fn view(shown: &MemoryView, now: i64) -> Markup {
    html! {
        form method="get" action="/console/memory" role="search" {
            label for="memory-query" { "Search" }
            input id="memory-query" type="search" name="q" maxlength="500" value=(line(&shown.query));
            button type="submit" { "Search" }
        }
        form method="post" action=(SAVE_PATH) {
            input type="hidden" name="token" value=(shown.save_token);
            label for="memory-text" { "Remember" }
            input id="memory-text" type="text" name="text" maxlength="2000" required autocomplete="off";
            button type="submit" { "Remember this" }
        }
        @if shown.items.is_empty() {
            p { @if shown.query.is_empty() { (EMPTY) } @else { "Nothing that is remembered has to do with this." } }
        }
        @for one in &shown.items { (card(one, now)) }
        @if !shown.next.is_empty() {
            p { a href={ "/console/memory?page=" (shown.next) } { "Older items" } }
        }
    }
}

fn card(shown: &ShownItem, now: i64) -> Markup {
    let item = &shown.item;
    html! {
        section.card {
            p { (line(&item.text)) }
            @if !item.superseded_by.is_empty() {
                p { (StateMark::new("■", "superseded", "muted").markup()) " by " (id_tag(&item.superseded_by)) }
            }
            dl.facts {
                dt { "Holds" } dd { (place(item)) }
                dt { "Saved" } dd { (time_tag(item.created.as_ref(), now)) ", " (origin(item)) }
                @if !item.taints.is_empty() {
                    dt { "The run had read" } dd { (line(&item.taints.join(", "))) }
                }
                @if item.expires.is_some() { dt { "Ends" } dd { (time_tag(item.expires.as_ref(), now)) } }
                @if !item.supersedes.is_empty() { dt { "Supersedes" } dd { (id_tag(&item.supersedes)) } }
                dt { "Item" } dd { (id_tag(&item.memory_id)) }
            }
            form method="post" action=(forget_path(item)) {
                input type="hidden" name="token" value=(shown.token);
                div.actions { button.danger type="submit" { "Forget this" } }
            }
        }
    }
}

fn place(item: &v1::Memory) -> Markup {
    match item.reach() {
        v1::MemoryReach::Session => html! {
            "in " a href={ "/console/sessions/" (item.session_id) } { "one conversation" }
        },
        v1::MemoryReach::Folder => html! { "in " code { (line(&item.folder)) } },
        v1::MemoryReach::Everywhere | v1::MemoryReach::Unspecified => html! { "in every conversation" },
    }
}

fn origin(item: &v1::Memory) -> Markup {
    let surface = surface_word(item.surface());
    if item.run_id.is_empty() {
        return html! { "written by you, " (surface) };
    }
    html! {
        "learned in " a href={ "/console/runs/" (item.run_id) } { "a run" } ", entry " (item.tape_seq) ", " (surface)
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let time = Some(prost_types::Timestamp { seconds: 5, nanos: 0 });
    let item = v1::Memory {
        text: text.to_owned(),
        folder: text.to_owned(),
        reach: v1::MemoryReach::Folder.into(),
        taints: vec![text.to_owned()],
        expires: time,
        superseded_by: "01ARZ3NDEKTSV4RRFFQ69G5FAV".to_owned(),
        ..Default::default()
    };
    let items = vec![ShownItem { item, token: "token".to_owned() }];
    let save_token = "token".to_owned();
    view(&MemoryView { query: text.to_owned(), items, next: "7".to_owned(), save_token }, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_says_where_it_comes_from() {
        let written = origin(&v1::Memory::default()).into_string();
        assert!(written.starts_with("written by you"), "{written}");
        let learned = v1::Memory { run_id: "RUN".to_owned(), tape_seq: 12, ..Default::default() };
        let learned = origin(&learned).into_string();
        assert!(learned.contains("/console/runs/RUN") && learned.contains("entry 12"), "{learned}");
    }

    #[test]
    fn an_item_says_where_it_holds() {
        let shown = |reach: v1::MemoryReach| {
            let item = v1::Memory { reach: reach.into(), folder: "/work".to_owned(), ..Default::default() };
            place(&item).into_string()
        };
        assert_eq!(shown(v1::MemoryReach::Everywhere), "in every conversation");
        assert!(shown(v1::MemoryReach::Folder).contains("/work"));
        assert!(shown(v1::MemoryReach::Session).contains("one conversation"));
    }
}
