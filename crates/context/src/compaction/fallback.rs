//! The summary by rule: it needs no model, and passes the check.

use palyra_types::model::ChatMessage;

use super::facts::SurvivingFacts;
use super::lists::SummaryLists;
use super::source::CompactionSource;
use super::words::one_line;
use crate::prompt::PastRun;

/// Characters of an input and of an answer that are shown, at most.
const INPUT_CHARS_MAX: usize = 120;
const ANSWER_CHARS_MAX: usize = 160;
/// Bytes of a line beside its text.
const LINE_BYTES: usize = 3;

/// Makes the lists of a summary of at most so many bytes.
pub(super) fn lists(source: &CompactionSource, facts: &SurvivingFacts, bytes_max: usize) -> SummaryLists {
    let open = facts.open_calls.iter().chain(&facts.plan_items).cloned();
    let mut lists = SummaryLists {
        pinned: facts.pins.clone(),
        decisions: facts.decisions.clone(),
        done: Vec::new(),
        open: open.collect(),
    };
    let mut left = bytes_max.saturating_sub(lists.render().len());
    let mut done = source.earlier_lists().done;
    done.extend(source.runs.iter().filter_map(line_of));
    for line in done.into_iter().rev() {
        let Some(rest) = left.checked_sub(line.len() + LINE_BYTES) else { break };
        left = rest;
        lists.done.push(line);
    }
    lists.done.reverse();
    lists
}

/// Returns a run as one line: the beginnings of what was asked and of what was answered last.
fn line_of(run: &PastRun) -> Option<String> {
    let asked = run.messages.iter().rev().find_map(asked_in)?;
    Some(match run.messages.iter().rev().find_map(answered_in) {
        Some(answer) => format!("asked: {asked} / answered: {answer}"),
        None => format!("asked: {asked}"),
    })
}

fn asked_in(message: &ChatMessage) -> Option<String> {
    match message {
        ChatMessage::User { text, .. } => Some(one_line(text.expose(), INPUT_CHARS_MAX)),
        ChatMessage::Assistant { .. } | ChatMessage::ToolResult { .. } => None,
    }
    .filter(|text| !text.is_empty())
}

fn answered_in(message: &ChatMessage) -> Option<String> {
    match message {
        ChatMessage::Assistant { text, .. } => Some(one_line(text.expose(), ANSWER_CHARS_MAX)),
        ChatMessage::User { .. } | ChatMessage::ToolResult { .. } => None,
    }
    .filter(|text| !text.is_empty())
}
