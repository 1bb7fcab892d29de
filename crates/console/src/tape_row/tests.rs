//! Rows of entries: what they say, and that foreign text stays text.

use super::*;
use crate::hostile_text::{HOSTILE, assert_inert};

fn entry(seq: u32, event: Event) -> v1::TapeEntry {
    v1::TapeEntry { tape_seq: seq, event: Some(event), ..Default::default() }
}

fn text(seq: u32, attempt: u32, text: &str) -> v1::TapeEntry {
    entry(seq, Event::ModelText(v1::ModelText { attempt, text: text.to_owned() }))
}

/// Every event that holds foreign text, with it in each of its fields.
fn hostile_events() -> Vec<Event> {
    let hostile = || HOSTILE.to_owned();
    let prompt = v1::ApprovalPrompt {
        summary: hostile(),
        tool: hostile(),
        arguments: hostile(),
        ..Default::default()
    };
    vec![
        Event::RunStarted(v1::RunStarted {
            input: hostile(),
            attachments: vec![v1::AttachmentInfo { name: hostile(), ..Default::default() }],
            ..Default::default()
        }),
        Event::InputReceived(v1::InputReceived { input: hostile(), ..Default::default() }),
        Event::ModelRequested(v1::ModelRequested {
            model: hostile(),
            passed_over: vec![v1::PassedOverModel { model: hostile(), causes: vec![6] }],
            ..Default::default()
        }),
        Event::ModelText(v1::ModelText { attempt: 1, text: hostile() }),
        Event::ModelReasoning(v1::ModelReasoning { attempt: 1, text: hostile() }),
        Event::ModelMessage(v1::ModelMessage { model: hostile(), ..Default::default() }),
        Event::ModelSwitched(v1::ModelSwitched { model: hostile(), ..Default::default() }),
        Event::ModelAttemptAbandoned(v1::ModelAttemptAbandoned { detail: hostile(), ..Default::default() }),
        Event::ToolProposed(v1::ToolProposed { tool: hostile(), arguments: hostile(), ..Default::default() }),
        Event::ToolDecided(v1::ToolDecided { explanation: hostile(), ..Default::default() }),
        Event::ToolOutput(v1::ToolOutput { text: hostile(), ..Default::default() }),
        Event::ToolFinished(v1::ToolFinished {
            output: hostile(),
            error_code: hostile(),
            ..Default::default()
        }),
        Event::EffectResolved(v1::EffectResolved { note: hostile(), ..Default::default() }),
        Event::ApprovalRequested(v1::ApprovalRequested { prompt: Some(prompt), ..Default::default() }),
        Event::ApprovalVoted(v1::ApprovalVoted { note: hostile(), ..Default::default() }),
        Event::ApprovalResolved(v1::ApprovalResolved { note: hostile(), ..Default::default() }),
        Event::ClientToolsCalled(v1::ClientToolsCalled {
            calls: vec![v1::ClientToolCallInfo { name: hostile(), ..Default::default() }],
            ..Default::default()
        }),
        Event::RunFinished(v1::RunFinished {
            message: hostile(),
            error_code: hostile(),
            ..Default::default()
        }),
    ]
}

#[test]
fn a_request_says_why_its_model_is_asked_and_which_ones_are_not() {
    let mut asked = v1::ModelRequested { model: "b/large".to_owned(), ..Default::default() };
    asked.routing = vec![v1::RoutingReason::ConfiguredOrder.into(), v1::RoutingReason::NoBudget.into()];
    let causes = vec![v1::PassOverCause::Unavailable.into(), v1::PassOverCause::NoTools.into()];
    asked.passed_over = vec![v1::PassedOverModel { model: "a/small".to_owned(), causes }];
    asked.sources = vec![v1::ContextSourcePlan::default()];
    let row = tape_row(&entry(1, Event::ModelRequested(asked))).into_string();
    assert!(row.contains("Passed over a/small: unavailable, no tools."), "{row}");
    assert!(row.contains("Why this model: configured order, no budget."), "{row}");
}

#[test]
fn foreign_text_in_any_entry_stays_text() {
    for event in hostile_events() {
        let entry = entry(1, event);
        assert_inert(&tape_row(&entry).into_string());
        assert_inert(&tape_rows(&[entry]).into_string());
    }
    assert_inert(&difference(&format!("--- a\n+++ b\n@@ -1 +1 @@\n-{HOSTILE}\n+{HOSTILE}\n")).into_string());
}

#[test]
fn the_pieces_of_one_answer_are_one_text_and_those_of_another_attempt_are_not() {
    let rows = tape_rows(&[text(2, 1, "a *wor"), text(3, 1, "d*"), text(4, 2, "other")]).into_string();
    assert!(
        rows.contains("id=\"seq-2\"") && !rows.contains("id=\"seq-3\"") && rows.contains("id=\"seq-4\""),
        "{rows}"
    );
    assert!(rows.contains("a <em>word</em>"), "{rows}");
}

#[test]
fn an_erased_entry_is_a_tombstone() {
    let entry = v1::TapeEntry { erased: true, ..text(5, 1, "secret words") };
    for shown in [tape_row(&entry), tape_rows(&[entry.clone(), text(6, 1, "x")])] {
        let shown = shown.into_string();
        assert!(shown.contains("was erased") && !shown.contains("secret"), "{shown}");
    }
}

#[test]
fn a_long_output_is_shortened_and_says_so() {
    let output = "é".repeat(OUTPUT_CHARS_MAX + 1);
    let shown = shortened(&output);
    assert!(shown.ends_with("[shortened; the tape has all of it]"));
    assert!(!shortened(&output[..2 * OUTPUT_CHARS_MAX]).contains("shortened"));
}

#[test]
fn a_difference_marks_its_lines() {
    let shown = difference("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n").into_string();
    assert!(shown.contains("class=\"removed\">-old") && shown.contains("class=\"added\">+new"), "{shown}");
}

#[test]
fn a_row_belongs_to_the_filters_that_show_it() {
    let failed = v1::ToolFinished { succeeded: false, ..Default::default() };
    let entries = [
        text(1, 1, "a"),
        entry(2, Event::ToolFinished(failed)),
        entry(3, Event::ToolFinished(v1::ToolFinished { succeeded: true, ..Default::default() })),
        entry(4, Event::ApprovalRequested(v1::ApprovalRequested::default())),
        v1::TapeEntry { erased: true, ..text(5, 1, "gone") },
    ];
    let counted = ROW_FILTERS.map(|filter| count_of_filter(&entries, filter));
    assert_eq!(counted, [1, 2, 1, 1]);
    assert!(tape_row(&entries[1]).into_string().contains("class=\"k-tools k-failed\""));
    for event in hostile_events() {
        let kinds = kinds_of(&event);
        assert!(kinds.iter().all(|kind| ROW_FILTERS.contains(&kind.trim_start_matches("k-"))), "{kinds:?}");
    }
}
