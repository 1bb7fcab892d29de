//! What must survive a summary, and whether it did.

use std::collections::BTreeSet;

use palyra_types::compaction::SummaryRefusal;
use palyra_types::model::{CallId, ChatMessage};

use super::lists::SummaryLists;
use super::source::CompactionSource;
use super::words::{LINE_CHARS_MAX, one_line, paths_and_numbers, sentences};
use crate::transcript::is_open_outcome;

/// Characters of the name of a marked place, at most.
const NAME_CHARS_MAX: usize = 60;
/// Bytes of a line beside its text, and of the headings.
const LINE_BYTES: usize = 3;
const HEADINGS_BYTES: usize = 64;

/// What must be in a summary, each as one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SurvivingFacts {
    /// Marked places, with their names.
    pub pins: Vec<String>,
    /// Calls of which it is not known whether they took effect.
    pub open_calls: Vec<String>,
    /// Items of plans that are not done.
    pub plan_items: Vec<String>,
    /// What the person decided, as far as there is a path or a number in it; the latest ones that there is room for.
    pub decisions: Vec<String>,
}

impl SurvivingFacts {
    /// Gathers the facts of a source; `None` where those that must all survive do not fit.
    pub(super) fn of(source: &CompactionSource, bytes_max: usize) -> Option<Self> {
        let earlier = source.earlier_lists();
        let mut pins = earlier.pinned.clone();
        pins.extend(source.marked.iter().map(|place| {
            let name = one_line(place.name.expose(), NAME_CHARS_MAX);
            one_line(&format!("[{name}] {}", place.text.expose()), LINE_CHARS_MAX)
        }));
        let mut facts = Self {
            pins: unique(pins),
            open_calls: unique(open_calls(source)),
            plan_items: unique(plan_items(source, &earlier)),
            decisions: Vec::new(),
        };
        let demanded = [&facts.pins, &facts.open_calls, &facts.plan_items];
        let demanded: usize = demanded.into_iter().flatten().map(|line| line.len() + LINE_BYTES).sum();
        let mut left = bytes_max.checked_sub(demanded + HEADINGS_BYTES)? / 2;
        for line in decisions(source, &earlier).into_iter().rev() {
            let Some(rest) = left.checked_sub(line.len() + LINE_BYTES) else { break };
            left = rest;
            facts.decisions.push(line);
        }
        facts.decisions.reverse();
        Some(facts)
    }

    /// Returns the lines of a kind with the list that they belong to.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let kinds = [
            ("Pinned", &self.pins),
            ("Open", &self.open_calls),
            ("Open", &self.plan_items),
            ("Decisions", &self.decisions),
        ];
        kinds.into_iter().flat_map(|(list, lines)| lines.iter().map(move |line| (list, line.as_str())))
    }

    /// Returns whether all facts are in a summary, and no decision in it has a path or a number that the source does not have.
    pub(super) fn check(
        &self,
        lists: &SummaryLists,
        source: &CompactionSource,
    ) -> Result<(), SummaryRefusal> {
        if !self.pins.iter().all(|line| lists.items().any(|item| item.contains(line.as_str()))) {
            return Err(SummaryRefusal::PinMissing);
        }
        if !self.open_calls.iter().all(|line| is_among(&lists.open, line)) {
            return Err(SummaryRefusal::OpenCallMissing);
        }
        if !self.plan_items.iter().all(|line| is_among(&lists.open, line) || is_among(&lists.done, line)) {
            return Err(SummaryRefusal::PlanItemMissing);
        }
        let said: BTreeSet<&str> = lists.items().flat_map(paths_and_numbers).collect();
        let demanded = self.decisions.iter().flat_map(|line| paths_and_numbers(line));
        if !demanded.into_iter().all(|word| said.contains(word)) {
            return Err(SummaryRefusal::DecisionMissing);
        }
        let decided = lists.decisions.iter().flat_map(|line| paths_and_numbers(line));
        if !decided.into_iter().all(|word| source.texts().any(|text| text.contains(word))) {
            return Err(SummaryRefusal::DecisionInvented);
        }
        Ok(())
    }
}

fn is_among(items: &[String], line: &str) -> bool {
    items.iter().any(|item| item.contains(line))
}

/// Returns lines without later repetitions.
fn unique(lines: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    lines.into_iter().filter(|line| !line.is_empty() && seen.insert(line.clone())).collect()
}

/// Returns the calls whose outcome is not known, with their arguments.
fn open_calls(source: &CompactionSource) -> Vec<String> {
    let is_open = |wanted: &CallId| {
        source.messages().any(|message| match message {
            ChatMessage::ToolResult { call, text, .. } => call == wanted && is_open_outcome(text.expose()),
            ChatMessage::User { .. } | ChatMessage::Assistant { .. } => false,
        })
    };
    let mut lines = Vec::new();
    for message in source.messages() {
        if let ChatMessage::Assistant { calls, .. } = message {
            let open = calls.iter().filter(|call| is_open(&call.call));
            lines.extend(
                open.map(|call| {
                    one_line(&format!("{} {}", call.tool, call.arguments.expose()), LINE_CHARS_MAX)
                }),
            );
        }
    }
    lines
}

/// Returns the items of plans that are not done: lines such as `- [ ] text` in the words of the person and of the model, and
/// open ones of the earlier summary that were written this way.
fn plan_items(source: &CompactionSource, earlier: &SummaryLists) -> Vec<String> {
    let mut open: Vec<String> =
        earlier.open.iter().filter(|item| item.starts_with(UNCHECKED)).cloned().collect();
    for message in source.messages() {
        let text = match message {
            ChatMessage::User { text, .. } | ChatMessage::Assistant { text, .. } => text.expose(),
            ChatMessage::ToolResult { .. } => continue,
        };
        for line in text.lines() {
            let line = line.trim_start().trim_start_matches(['-', '*', '+']).trim_start();
            let item = |rest: &str| format!("{UNCHECKED} {}", one_line(rest, LINE_CHARS_MAX));
            if let Some(rest) = line.strip_prefix(UNCHECKED).filter(|rest| !rest.trim().is_empty()) {
                open.push(item(rest));
            } else if let Some(rest) = line.strip_prefix("[x]").or_else(|| line.strip_prefix("[X]")) {
                let done = item(rest);
                open.retain(|other| *other != done);
            }
        }
    }
    open
}

/// The mark of an item of a plan that is not done.
const UNCHECKED: &str = "[ ]";

/// Returns the sentences of the person that have a path or a number, behind the decisions of the earlier summary.
fn decisions(source: &CompactionSource, earlier: &SummaryLists) -> Vec<String> {
    let mut lines = earlier.decisions.clone();
    for message in source.messages() {
        if let ChatMessage::User { text, .. } = message {
            let said = sentences(text.expose());
            lines.extend(said.filter(|sentence| !paths_and_numbers(sentence).is_empty()));
        }
    }
    // Of equal ones the latest counts.
    lines.reverse();
    let mut lines = unique(lines);
    lines.reverse();
    lines
}
