//! One entry of a tape as a row: the same for a page that is loaded and for a row that comes later.
//!
//! Begin at [`tape_rows`] for a page, which joins the pieces of an answer, and at [`tape_row`] for one entry.

use maud::{Markup, html};
use palyra_screen_text::{LineLook, clean_text, diff_lines, span};
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;

use crate::markdown::markdown;
use crate::page_parts::wide_table;
use crate::wording::{approval_mark, line, line_or, risk_mark, spaced};

/// Characters of an output that a row has, at most; the rest is on the tape.
const OUTPUT_CHARS_MAX: usize = 20_000;

/// The content of a row.
struct RowContent {
    body: Markup,
    /// The classes of the row.
    classes: &'static str,
}

/// Of the conversation: a chat shows it.
fn spoken(body: Markup) -> RowContent {
    RowContent { body, classes: "" }
}

/// Of the work: a chat leaves it out.
fn quiet(body: Markup) -> RowContent {
    RowContent { body, classes: "quiet" }
}

/// Returns the rows of a page.
pub(crate) fn tape_rows(entries: &[v1::TapeEntry]) -> Markup {
    let mut rows = Vec::new();
    let mut rest = entries;
    while let Some(first) = rest.first() {
        let pieces = rest
            .iter()
            .take_while(|entry| attempt_of(entry).is_some() && attempt_of(entry) == attempt_of(first));
        let count = pieces.count().max(1);
        let (group, after) = rest.split_at(count);
        rows.push(if attempt_of(first).is_some() { answer_row(group) } else { tape_row(first) });
        rest = after;
    }
    html! { @for row in rows { (row) } }
}

/// Returns the attempt whose words an entry holds; `None` for every other entry.
fn attempt_of(entry: &v1::TapeEntry) -> Option<u32> {
    match &entry.event {
        Some(Event::ModelText(text)) if !entry.erased => Some(text.attempt),
        _ => None,
    }
}

/// Returns the words of an answer, whole, as Markdown.
fn answer_row(pieces: &[v1::TapeEntry]) -> Markup {
    let words = pieces.iter().filter_map(|entry| match &entry.event {
        Some(Event::ModelText(text)) => Some(text.text.as_str()),
        _ => None,
    });
    let words: String = words.collect();
    let seq = pieces.first().map(|entry| entry.tape_seq).unwrap_or_default();
    row(seq, "answer k-text", &markdown(&words))
}

/// Returns the row of one entry.
pub(crate) fn tape_row(entry: &v1::TapeEntry) -> Markup {
    if entry.erased {
        return row(
            entry.tape_seq,
            "erased",
            &html! { span.muted { "The content of this entry was erased." } },
        );
    }
    let content = match &entry.event {
        Some(event) => content_of(event),
        None => quiet(html! { span.muted { "This version cannot show this entry." } }),
    };
    let kinds = entry.event.as_ref().map(kinds_of).unwrap_or_default();
    let classes = [&[content.classes], kinds.as_slice()].concat().join(" ");
    row(entry.tape_seq, classes.trim(), &content.body)
}

/// Returns the filters of a run's page that show an entry, as classes of its row.
fn kinds_of(event: &Event) -> Vec<&'static str> {
    let mut kinds = match event {
        Event::RunStarted(_) | Event::InputReceived(_) | Event::ModelText(_) => vec!["k-text"],
        Event::ToolProposed(_)
        | Event::ToolDecided(_)
        | Event::ToolStarted(_)
        | Event::ToolOutput(_)
        | Event::ToolFinished(_)
        | Event::ToolOutcomeUnknown(_)
        | Event::EffectResolved(_)
        | Event::ClientToolsCalled(_)
        | Event::ClientToolsAnswered(_)
        | Event::ReferencesExpanded(_) => vec!["k-tools"],
        Event::ApprovalRequested(_)
        | Event::ApprovalVoted(_)
        | Event::ApprovalResolved(_)
        | Event::GrantStored(_) => vec!["k-approvals"],
        _ => Vec::new(),
    };
    if has_failed(event) {
        kinds.push("k-failed");
    }
    kinds
}

fn has_failed(event: &Event) -> bool {
    match event {
        Event::ToolFinished(finished) => !finished.succeeded,
        Event::ToolDecided(decided) => decided.verdict() == v1::ToolVerdict::Deny,
        Event::ToolOutcomeUnknown(_) | Event::ModelAttemptAbandoned(_) | Event::LoopDetected(_) => true,
        Event::RunFinished(finished) => finished.state() == v1::RunState::Failed,
        _ => false,
    }
}

/// A filter of a run's page.
pub(crate) const ROW_FILTERS: [&str; 4] = ["text", "tools", "approvals", "failed"];

/// Returns how many entries a filter shows.
pub(crate) fn count_of_filter(entries: &[v1::TapeEntry], filter: &str) -> usize {
    let class = format!("k-{filter}");
    let shows = |event: &Event| kinds_of(event).contains(&class.as_str());
    entries.iter().filter(|entry| !entry.erased && entry.event.as_ref().is_some_and(shows)).count()
}

fn row(seq: u32, classes: &str, body: &Markup) -> Markup {
    html! {
        li id={ "seq-" (seq) } class=(classes) {
            a.seq href={ "#seq-" (seq) } { (seq) }
            div { (body) }
        }
    }
}

fn content_of(event: &Event) -> RowContent {
    match event {
        Event::RunStarted(started) => spoken(html! {
            (said(&started.input, &started.attachments))
            (recall_line(started))
        }),
        Event::InputReceived(input) => spoken(said(&input.input, &input.attachments)),
        Event::ModelText(text) => RowContent { body: html! { (clean_text(&text.text)) }, classes: "piece" },
        Event::RunFinished(finished) => spoken(finish(finished)),
        Event::CancelRequested(cancel) => {
            spoken(html! { "Asked to stop: " (spaced(cancel.reason().short_name())) "." })
        }
        Event::RunHeld(held) => spoken(html! { "Paused: " (spaced(held.cause().short_name())) "." }),
        Event::LoopDetected(found) => spoken(html! {
            "The run repeats itself (" (spaced(found.guard().short_name())) ", " (found.repeats) " times) and waits for words."
        }),
        Event::BudgetReached(reached) => spoken(html! {
            "Waits for a budget: " (clean_text(&reached.explanation)) "."
        }),
        Event::SoftLimitNoted(noted) => quiet(html! { (clean_text(&noted.explanation)) "." }),
        Event::Unknown(_) => quiet(html! { span.muted { "A newer version wrote this entry." } }),
        Event::ModelRequested(_)
        | Event::ModelReasoning(_)
        | Event::ModelSwitched(_)
        | Event::ModelMessage(_)
        | Event::ModelAttemptAbandoned(_) => of_model(event),
        Event::ToolProposed(_)
        | Event::ToolDecided(_)
        | Event::ToolStarted(_)
        | Event::ToolOutput(_)
        | Event::ToolFinished(_)
        | Event::ToolOutcomeUnknown(_)
        | Event::EffectResolved(_) => of_tool(event),
        Event::ApprovalRequested(_)
        | Event::ApprovalVoted(_)
        | Event::ApprovalResolved(_)
        | Event::GrantStored(_) => of_approval(event),
        Event::ClientToolsOffered(offered) => {
            quiet(html! { "The client offers " (offered.tools.len()) " functions of its own." })
        }
        Event::ClientToolsCalled(called) => quiet(html! {
            @for call in &called.calls { div { "Calls " code { (line(&call.name)) } " of the client." } }
        }),
        Event::ClientToolsAnswered(answered) => {
            quiet(html! { "The client brought " (answered.results.len()) " results." })
        }
        Event::ReferencesExpanded(expanded) => quiet(html! {
            @for item in &expanded.items { div { "Reference " code { (line(&item.written)) } "." } }
        }),
    }
}

fn of_model(event: &Event) -> RowContent {
    match event {
        Event::ModelRequested(asked) => quiet(html! { (passed_over(asked)) (request(asked)) }),
        Event::ModelReasoning(reasoning) => quiet(html! {
            details { summary { "Reasoning" } div.text { (clean_text(&reasoning.text)) } }
        }),
        Event::ModelSwitched(switched) => {
            quiet(html! { "The next request goes to " (line(&switched.model)) "." })
        }
        Event::ModelMessage(message) => {
            let used = message.usage.unwrap_or_default();
            quiet(html! {
                span.muted { (line(&message.model)) ": " (used.input_tokens) " tokens in, " (used.output_tokens) " out." }
            })
        }
        Event::ModelAttemptAbandoned(gone) => spoken(html! {
            span.caution { "The answer did not arrive: " (spaced(gone.cause().short_name())) ". " }
            @if !gone.detail.is_empty() { (line(&gone.detail)) }
        }),
        _ => quiet(html! {}),
    }
}

/// What a model was asked with: the sources of the request, and what was left out of it and why.
fn request(asked: &v1::ModelRequested) -> Markup {
    let model = line(&asked.model);
    if asked.sources.is_empty() {
        return html! { span.muted { "Asked " (model) "." } };
    }
    let rows = html! {
        @for planned in &asked.sources {
            tr {
                td { (spaced(planned.source().short_name())) }
                td { (planned.tokens_kept) }
                td { @if planned.dropped > 0 {
                    (planned.dropped) " of " (planned.kept.saturating_add(planned.dropped))
                } }
                td { (left_out_because(planned)) }
            }
        }
    };
    html! {
        details {
            summary { span.muted { "Asked " (model) " with about " (asked.tokens_estimated) " tokens" } }
            (wide_table("What the model was shown", &["Source", "Tokens sent", "Left out", "Why"], &rows))
            @if !asked.routing.is_empty() {
                p.muted { "Why this model: " (codes(asked.routing().map(|reason| reason.short_name()))) "." }
            }
        }
    }
}

fn passed_over(asked: &v1::ModelRequested) -> Markup {
    html! {
        @for passed in &asked.passed_over {
            div.caution {
                "Passed over " (line(&passed.model)) ": "
                (codes(passed.causes().map(|cause| cause.short_name()))) "."
            }
        }
    }
}

fn codes(codes: impl Iterator<Item = &'static str>) -> String {
    codes.map(spaced).collect::<Vec<_>>().join(", ")
}

fn left_out_because(planned: &v1::ContextSourcePlan) -> &'static str {
    match planned.dropped_because() {
        v1::ContextDropReason::Unspecified => "",
        v1::ContextDropReason::Window => "the window is too small",
        v1::ContextDropReason::Limit => "the limit of the source",
    }
}

fn of_tool(event: &Event) -> RowContent {
    match event {
        Event::ToolProposed(call) => spoken(html! {
            details {
                summary { "Wants to call " strong { (line(&call.tool)) } }
                pre { (shortened(&call.arguments)) }
            }
        }),
        Event::ToolDecided(decided) => {
            let verdict = match decided.verdict() {
                v1::ToolVerdict::Allow => "Allowed",
                v1::ToolVerdict::Ask => "Needs an approval",
                v1::ToolVerdict::Deny => "Denied",
                v1::ToolVerdict::Unspecified => "Decided",
            };
            let by = spaced(decided.decided_by().short_name());
            let body = html! { span.muted { (verdict) " by " (by) ": " (line_or(&decided.explanation, "no reason given")) } };
            if decided.verdict() == v1::ToolVerdict::Deny { spoken(body) } else { quiet(body) }
        }
        Event::ToolStarted(_) => quiet(html! { span.muted { "Started." } }),
        Event::ToolOutput(output) => quiet(html! { pre { (shortened(&output.text)) } }),
        Event::ToolFinished(finished) => spoken(outcome(finished)),
        Event::ToolOutcomeUnknown(unknown) => spoken(html! {
            span.caution { "It is not known whether the call took effect: " (spaced(unknown.cause().short_name())) "." }
        }),
        Event::EffectResolved(resolved) => spoken(html! {
            "A person said what became of the call: " (spaced(resolved.resolution().short_name())) ". " (line(&resolved.note))
        }),
        _ => quiet(html! {}),
    }
}

fn of_approval(event: &Event) -> RowContent {
    match event {
        Event::ApprovalRequested(asked) => spoken(html! {
            (risk_mark(asked.risk()).markup()) ": "
            (line_or(&asked.prompt.clone().unwrap_or_default().summary, "a call needs an approval"))
            " " a href={ "/console/approvals/" (asked.approval_id) } { "Look and decide" }
        }),
        Event::ApprovalVoted(vote) => spoken(html! { "One of several people approved. " (line(&vote.note)) }),
        Event::ApprovalResolved(resolved) => spoken(html! {
            (approval_mark(resolved.state()).markup()) " " (line(&resolved.note)) " "
            a href={ "/console/approvals/" (resolved.approval_id) } { "See the approval" }
        }),
        Event::GrantStored(_) => quiet(html! { "A grant was stored with the approval." }),
        _ => quiet(html! {}),
    }
}

fn said(input: &str, files: &[v1::AttachmentInfo]) -> Markup {
    let names: Vec<String> = files.iter().map(|file| line(&file.name)).collect();
    html! {
        div.text { strong { "You: " } (clean_text(input)) }
        @if !names.is_empty() { div.muted { "With " (names.join(", ")) "." } }
    }
}

/// Says who decided about items of memory; nothing where recall is off because nothing turned it on.
fn recall_line(started: &v1::RunStarted) -> Markup {
    let Some(setting) = &started.recall else { return html! {} };
    let is_default =
        setting.switch() == v1::RecallSwitch::Off && setting.level() == v1::RecallLevel::Configuration;
    html! {
        @if !is_default {
            div.muted { "Recall of memory is " (setting.switch().short_name()) ", by the " (setting.level().short_name()) "." }
        }
    }
}

fn outcome(finished: &v1::ToolFinished) -> Markup {
    let took =
        finished.duration.and_then(|took| std::time::Duration::try_from(took).ok()).unwrap_or_default();
    html! {
        details {
            summary {
                @if finished.succeeded { span.positive { "✓ done" } }
                @else { span.danger { "✕ failed" } " " code { (line(&finished.error_code)) } }
                " in " (span(took))
            }
            pre { (shortened(&finished.output)) }
        }
    }
}

fn finish(finished: &v1::RunFinished) -> Markup {
    let (colour, word) = match finished.state() {
        v1::RunState::Done => ("positive", "✓ The run is done"),
        v1::RunState::Cancelled => ("muted", "■ The run was cancelled"),
        v1::RunState::Failed => ("danger", "✕ The run failed"),
        v1::RunState::Pending | v1::RunState::InProgress | v1::RunState::Unspecified => {
            ("muted", "The run ended")
        }
    };
    html! {
        span class=(colour) { (word) ": " (spaced(finished.reason().short_name())) "." }
        @if !finished.error_code.is_empty() { " " code { (line(&finished.error_code)) } " " }
        @if !finished.message.is_empty() { div.text { (clean_text(&finished.message)) } }
    }
}

/// Returns a text that may be long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(OUTPUT_CHARS_MAX) {
        Some((end, _)) => format!("{}\n[shortened; the tape has all of it]", clean_text(&text[..end])),
        None => clean_text(text),
    }
}

/// Returns a difference with its added and removed lines marked.
pub(crate) fn difference(text: &str) -> Markup {
    let class_of = |look| match look {
        LineLook::Plain | LineLook::Context => "",
        LineLook::Added => "added",
        LineLook::Removed => "removed",
        LineLook::Header => "header",
    };
    html! {
        pre.diff { @for shown in diff_lines(text) { span class=(class_of(shown.look)) { (clean_text(&shown.text)) } "\n" } }
    }
}

#[cfg(test)]
mod tests;
