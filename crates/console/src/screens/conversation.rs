//! A conversation: its newest runs as people read them, what they ask about, and the next message.

mod asked;
mod compacted;
mod recall_part;
mod revision;

use std::sync::Arc;

use futures::FutureExt;
use maud::{Markup, html};
use palyra_api::ApiError;
use palyra_screen_text::count;
use palyra_types::ErrorCode;
use palyra_types::access::AccessScope;
use palyra_wire::v1;

pub(crate) use asked::asked_fragment;
pub(crate) use recall_part::recall_choice;

use super::ScreenSpec;
use super::chat::{InputForm, input_form};
use crate::screen_call::ScreenCall;
use crate::tape_row::tape_rows;
use crate::wording::{now_seconds, run_mark, time_tag};
use compacted::CompactedPart;
use recall_part::RecallPart;
use revision::{RunRevision, revision_form};

/// Runs that are shown, at most: the newest.
const RUNS_MAX: u32 = 10;
/// Entries of each that are shown, at most.
const ENTRIES_MAX: u32 = 500;

pub(super) const SCREEN: ScreenSpec = ScreenSpec {
    path: "/console/sessions/{session_id}",
    title: "Conversation",
    navigation: None,
    operation: "ListRuns",
    render: |call| render(call).boxed(),
    #[cfg(test)]
    fixture,
    #[cfg(test)]
    empty: None,
};

/// A run of the conversation with its entries.
struct SpokenRun {
    run: v1::Run,
    entries: Vec<v1::TapeEntry>,
    more: bool,
    /// How its message can be sent again, where that can be said.
    revision: Option<RunRevision>,
}

/// The questions of the newest run.
#[derive(Default)]
struct AskedPart {
    cards: Markup,
    /// Where they are read again.
    path: String,
}

/// The conversation around the runs.
#[derive(Default)]
struct ConversationParts {
    asked: AskedPart,
    /// The links to other versions, and the form for what the conversation says about recall.
    top: Markup,
    /// The summary that is read in the place of older runs.
    compacted: Option<CompactedPart>,
    has_older: bool,
    is_owner: bool,
    now: i64,
}

async fn render(call: Arc<ScreenCall>) -> Result<Markup, ApiError> {
    let session_id = call.param("session_id");
    let request =
        v1::ListRunsRequest { session_id: session_id.clone(), page_size: RUNS_MAX, ..Default::default() };
    let list = call.call(request).await?;
    let Some(newest) = list.runs.first() else {
        return Err(ApiError::new(
            ErrorCode::SessionNotFound,
            "this conversation has no run of yours".to_owned(),
        ));
    };
    let send_path = format!("/console/runs/{}/send", newest.run_id);
    let is_busy = newest.phase() == v1::RunPhase::Running || newest.phase() == v1::RunPhase::Queued;
    let branches = revision::branches(&call, &session_id).await?;
    let before = revision::runs_before(&list, &branches, &session_id);
    let mut spoken = Vec::new();
    for (run, before) in list.runs.iter().zip(before).rev() {
        let read = v1::ReadTapeRequest { run_id: run.run_id.clone(), after_tape_seq: 0, limit: ENTRIES_MAX };
        let read = call.call(read).await?;
        let revision = before.and_then(|before| RunRevision::of(&call, run, &read.entries, before));
        spoken.push(SpokenRun { run: run.clone(), entries: read.entries, more: read.more, revision });
    }
    let recall = RecallPart::of(&call, &branches, &session_id);
    let top = html! {
        (revision::versions(&branches, &session_id))
        @if let Some(recall) = recall { (recall.markup()) }
    };
    // After the tapes: an approval that is on a tape has its card.
    let parts = ConversationParts {
        asked: AskedPart {
            cards: asked::cards(&call, newest).await?,
            path: format!("/console/sessions/{session_id}/asked"),
        },
        top,
        compacted: CompactedPart::of(&call, &session_id).await?,
        has_older: !list.next_page_token.is_empty(),
        is_owner: call.has_scope(AccessScope::Admin),
        now: now_seconds(),
    };
    let token = call.form_token(&send_path);
    let key = call.form_key();
    let form = InputForm {
        path: &send_path,
        token: &token,
        key: &key,
        draft: &session_id,
        is_busy,
        folder: None,
        without_folder: false,
        text: "",
    };
    Ok(view(&spoken, &parts, &form))
}

fn view(spoken: &[SpokenRun], parts: &ConversationParts, form: &InputForm<'_>) -> Markup {
    html! {
        (parts.top)
        @if parts.has_older {
            p.notice { "Older runs of this conversation are on the screen " a href="/console/runs" { "Runs" } "." }
        }
        @if let Some(compacted) = parts.compacted.as_ref().filter(|part| !part.is_after_one_of(spoken)) {
            (compacted.markup())
        }
        @for (at, run) in spoken.iter().enumerate() {
            (section(run, at + 1 == spoken.len(), parts))
            @if let Some(compacted) = parts.compacted.as_ref().filter(|part| part.is_after(&run.run)) {
                (compacted.markup())
            }
        }
        // At the bottom of the window: rows that arrive do not move what somebody is about to press.
        div.dock {
            div id="asked" data-asked=(parts.asked.path) { (parts.asked.cards) }
            div.composer { (input_form(form)) }
        }
    }
}

fn section(spoken: &SpokenRun, is_newest: bool, parts: &ConversationParts) -> Markup {
    let SpokenRun { run, entries, more, revision } = spoken;
    let is_over = run.phase() == v1::RunPhase::Finished;
    let follows = is_newest && !more && !is_over;
    let last = entries.last().map_or(0, |entry| entry.tape_seq);
    html! {
        section.card {
            p.muted { (run_mark(run).markup()) ", " (time_tag(run.created.as_ref(), parts.now)) }
            (record_line(run, parts))
            @if let Some(revision) = revision { (revision_form(revision)) }
            ol.tape.chat
                data-events=[follows.then(|| format!("/console/runs/{}/events", run.run_id))]
                data-after=[follows.then_some(last)]
            { (tape_rows(entries)) }
            @if *more { p { a href={ "/console/runs/" (run.run_id) "?after=" (last) } { "The rest of this run" } } }
        }
    }
}

/// Returns what is recorded of a run, and what can be done with it. Above its rows, which do not move it.
fn record_line(run: &v1::Run, parts: &ConversationParts) -> Markup {
    let is_over = run.phase() == v1::RunPhase::Finished;
    html! {
        p.muted {
            a href={ "/console/runs/" (run.run_id) } {
                @if is_over { (count(run.last_tape_seq.into(), "step")) " recorded" } @else { "all steps recorded" }
            }
            @if parts.is_owner { " - " a href="/console/proofs/check" { "check the record" } }
            @if !is_over || run.tool_calls > 0 {
                // An open run gets its link when it ends.
                span hidden[!is_over] data-when-over[!is_over] {
                    " - " a href={ "/console/runs/" (run.run_id) "/undo" } { "undo its changes" }
                }
            }
        }
    }
}

#[cfg(test)]
fn fixture(text: &str) -> Markup {
    let event = v1::tape_entry::Event::ModelText(v1::ModelText { attempt: 1, text: text.to_owned() });
    let entry = v1::TapeEntry { tape_seq: 2, event: Some(event), ..Default::default() };
    let run = v1::Run { phase: v1::RunPhase::Running.into(), ..Default::default() };
    let over = v1::Run { phase: v1::RunPhase::Finished.into(), tool_calls: 1, ..run.clone() };
    let spoken = |run, revision| SpokenRun { run, entries: vec![entry.clone()], more: false, revision };
    let form = InputForm {
        path: "/console/runs/R/send",
        token: "token",
        key: "key",
        draft: "s",
        is_busy: true,
        folder: None,
        without_folder: false,
        text: "",
    };
    let parts = ConversationParts {
        asked: AskedPart { cards: asked::fixture(text), path: String::new() },
        compacted: Some(CompactedPart::fixture(text)),
        top: RecallPart::fixture().markup(),
        has_older: true,
        ..Default::default()
    };
    view(&[spoken(over, Some(revision::fixture(text))), spoken(run, None)], &parts, &form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_run_with_calls_can_be_undone_and_only_an_owner_gets_the_check() {
        let run = |phase: v1::RunPhase, tool_calls| v1::Run {
            run_id: "R".to_owned(),
            phase: phase.into(),
            tool_calls,
            last_tape_seq: 11,
            ..Default::default()
        };
        let shown = |run, is_owner| {
            let spoken = SpokenRun { run, entries: Vec::new(), more: false, revision: None };
            section(&spoken, true, &ConversationParts { is_owner, ..Default::default() }).into_string()
        };
        let over = shown(run(v1::RunPhase::Finished, 2), true);
        assert!(over.contains("11 steps recorded") && over.contains("/console/runs/R/undo"), "{over}");
        assert!(over.contains("check the record") && !over.contains("<span hidden"));
        let open = shown(run(v1::RunPhase::Running, 2), false);
        assert!(
            open.contains("<span hidden data-when-over>") && !open.contains("check the record"),
            "{open}"
        );
        assert!(!shown(run(v1::RunPhase::Finished, 0), true).contains("undo its changes"));
    }
}
