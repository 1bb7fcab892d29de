//! A run as a person sees it: entries of its tape in, words out.
//!
//! Owns which entries are shown, where and how, and what they mean for the end of the program.
//! Pure: knows no terminal and no daemon. Begin at [`RunView::absorb`].

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::ErrorCode;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;
use prost_types::Timestamp;

use super::amounts::{bytes, count};
use super::approval::{approval_state_name, granted};
use super::names::{run_state, short_id};
use super::printed::PrintedLines;
use super::tape_view;
use crate::answer::GrantSpan;
use crate::exit::Exit;
use palyra_screen_text::clean_line;
use palyra_terminal::Mark;

const ARGUMENTS_CHARS_MAX: usize = 160;
const REASON_CHARS_MAX: usize = 240;
/// Characters of a reason that says what to write, and where: a path is in it.
const MEND_CHARS_MAX: usize = 600;
/// Lines to copy that follow a reason, and the characters of each.
const COPIED_LINES_MAX: usize = 4;
const COPIED_CHARS_MAX: usize = 4096;
const INPUT_CHARS_MAX: usize = 400;
const MODEL_CHARS_MAX: usize = 64;
const CAUSE_CHARS_MAX: usize = 64;
/// An answer that is longer is shown before it is complete.
const TEXT_HELD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Something to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The next text is the begin of a message.
    TextBegins,
    /// Text for standard output.
    Text(String),
    /// The end of the line that text left open on standard output.
    LineEnd,
    /// A remark between texts, for the terminal that shows them.
    Remark(String),
    /// A note for standard error.
    Note(Mark, String),
    /// A line to type or to copy, for standard error: it is neither cut nor wrapped.
    Copied(String),
    /// What an approval asks.
    Question {
        /// Which.
        approval_id: String,
        /// What a person decides by.
        prompt: Box<v1::ApprovalPrompt>,
        /// How much can go wrong.
        risk: String,
    },
    /// A line that a tool printed while it ran, for a terminal.
    Printed(String),
    /// How far it is, for a terminal, until something else is shown.
    Progress(String),
    /// Why the run failed, for standard error.
    Error(ErrorCode, String),
}

/// Whether what was typed is shown again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    /// The person who typed it sits here.
    No,
    /// The run is watched from elsewhere.
    Inputs,
    /// So is its tape: every step with its number and time.
    Tape,
}

/// When a model's text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// As it comes; what is superseded later was seen, and is said to be so.
    Live,
    /// Once its message is recorded: nothing is ever shown twice.
    Whole,
}

/// What is known of one run from its entries so far.
#[derive(Debug, Clone)]
pub(crate) struct RunView {
    echo: Echo,
    flow: Flow,
    /// Text of an answer that is not complete, while that is not shown.
    held: String,
    /// That the last answer does not count though some of its text came, and why.
    broke_off: Option<String>,
    /// The next request goes to another model of the run's chain.
    falls_back: bool,
    /// Characters of reasoning in this attempt.
    thoughts: usize,
    /// Calls proposed and not finished, with their tools.
    open_calls: BTreeMap<u32, String>,
    /// Those of them that were not shown yet, as they are shown: a question says the same better.
    unshown_calls: BTreeMap<u32, String>,
    /// What they print meanwhile.
    printed: PrintedLines,
    denied_calls: u32,
    /// Calls whose denial by a person is shown.
    shown_denials: BTreeSet<u32>,
    /// Approvals that are asked for and not decided.
    asked: Vec<v1::ApprovalRequested>,
    /// Effects whose outcome is unknown and not resolved.
    unresolved: Vec<u32>,
    may_wait: bool,
    line_open: bool,
    /// The model has said something since it was asked.
    spoke: bool,
    /// The model that was asked last.
    model: String,
    ended: Option<(v1::RunState, String)>,
    /// It was said that what follows has lost its content.
    told_erased: bool,
    /// Calls at work that change files.
    changing_calls: BTreeSet<u32>,
    /// Whether a call that changes files succeeded.
    changed_files: bool,
    /// For how long answers are remembered.
    pub(crate) grant_span: GrantSpan,
}

impl RunView {
    /// A run of which nothing is known yet.
    pub(crate) fn new(echo: Echo, flow: Flow) -> Self {
        Self {
            echo,
            flow,
            held: String::new(),
            broke_off: None,
            falls_back: false,
            thoughts: 0,
            open_calls: BTreeMap::new(),
            unshown_calls: BTreeMap::new(),
            printed: PrintedLines::default(),
            denied_calls: 0,
            shown_denials: BTreeSet::new(),
            asked: Vec::new(),
            unresolved: Vec::new(),
            may_wait: false,
            line_open: false,
            spoke: false,
            model: String::new(),
            ended: None,
            told_erased: false,
            changing_calls: BTreeSet::new(),
            changed_files: false,
            grant_span: GrantSpan::default(),
        }
    }

    /// Returns whether the last entries leave it open if the run waits for a person: then the daemon knows.
    pub(crate) fn may_wait(&self) -> bool {
        self.may_wait
    }

    /// Returns the approvals that were asked for and are not decided, oldest first.
    pub(crate) fn asked(&self) -> &[v1::ApprovalRequested] {
        &self.asked
    }

    /// Returns the effects whose outcome is unknown and not resolved, oldest first.
    pub(crate) fn unresolved(&self) -> &[u32] {
        &self.unresolved
    }

    /// Returns how a run that ended in `state` ends the program.
    pub(crate) fn exit(&self, state: v1::RunState) -> Exit {
        let reason = self.ended.as_ref().map_or("", |(_, reason)| reason.as_str());
        Exit::of_run(state, reason, self.denied_calls)
    }

    /// Takes the next entry and returns what to show of it.
    pub(crate) fn absorb(&mut self, entry: &v1::TapeEntry) -> Vec<Shown> {
        let mut shown = self.shown_of(entry);
        if entry.erased {
            return self.erased(entry, shown);
        }
        if self.echo == Echo::Tape {
            let beside = entry.event.as_ref().and_then(tape_view::beside);
            shown.extend(beside.map(|told| note(Mark::Info, told)));
            let place = tape_view::place(entry);
            for shown in &mut shown {
                if let Shown::Note(_, text) = shown {
                    *text = format!("{place} {text}");
                }
            }
        }
        shown
    }

    /// Says once that content was erased: what is left of such entries would be lines with holes.
    fn erased(&mut self, entry: &v1::TapeEntry, shown: Vec<Shown>) -> Vec<Shown> {
        let mut left: Vec<Shown> = Vec::new();
        if self.echo != Echo::No && !std::mem::replace(&mut self.told_erased, true) {
            let run = short_id(&entry.run_id);
            let told = format!("the content of this run was erased; `palyra runs show {run}` says more");
            left.push(note(Mark::Info, told));
        }
        if matches!(entry.event, Some(Event::RunFinished(_))) {
            left.extend(shown);
        }
        left
    }

    fn shown_of(&mut self, entry: &v1::TapeEntry) -> Vec<Shown> {
        let mut shown = Vec::new();
        self.before(entry.event.as_ref(), &mut shown);
        match &entry.event {
            Some(Event::ModelText(said)) => self.text(&said.text, &mut shown),
            Some(Event::RunStarted(started)) => self.started(started, &mut shown),
            Some(Event::InputReceived(received)) => {
                self.may_wait = false;
                if self.echo != Echo::No {
                    let said = clean_line(&received.input, INPUT_CHARS_MAX);
                    let how = if received.delivery == "steer" { "told" } else { "answered" };
                    self.close_line(&mut shown);
                    shown.push(note(Mark::Info, format!("{how}: {said}")));
                }
            }
            Some(Event::ModelRequested(requested)) => self.requested(requested, &mut shown),
            Some(Event::ModelReasoning(reasoning)) => self.reasoning(&reasoning.text, &mut shown),
            Some(Event::ModelMessage(message)) => self.message(message, &mut shown),
            Some(Event::ModelAttemptAbandoned(abandoned)) => {
                self.abandoned(abandoned, &mut shown);
                shown.extend(again(abandoned, entry.time));
            }
            Some(Event::ToolProposed(proposed)) => self.proposed(proposed, &mut shown),
            Some(Event::ToolDecided(decided)) => self.decided(&entry.run_id, decided, &mut shown),
            Some(Event::ToolFinished(finished)) => self.finished(finished, &mut shown),
            Some(Event::ToolOutcomeUnknown(unknown)) => {
                self.outcome_unknown(&entry.run_id, unknown, &mut shown);
            }
            Some(Event::EffectResolved(resolved)) => {
                self.may_wait = false;
                self.unresolved.retain(|effect| *effect != resolved.effect_id);
                shown.push(note(Mark::Info, format!("said of the unknown outcome: {}", resolved.resolution)));
            }
            Some(Event::ApprovalRequested(requested)) => self.asked_for(requested, &mut shown),
            Some(Event::ApprovalVoted(voted)) => {
                shown.push(note(Mark::Info, format!("{} said yes; more people have to", voted.by)));
            }
            Some(Event::ApprovalResolved(resolved)) => self.resolved(resolved, &mut shown),
            Some(Event::GrantStored(stored)) => {
                let grant = stored.grant.clone().unwrap_or_default();
                shown.push(note(Mark::Info, granted(&grant, self.grant_span)));
            }
            Some(Event::LoopDetected(looped)) => self.looped(looped, &mut shown),
            Some(Event::RunHeld(_)) => self.held(&mut shown),
            Some(Event::CancelRequested(cancel)) => {
                self.close_line(&mut shown);
                // Whoever asked from here was told already.
                if self.echo != Echo::No {
                    shown.push(note(Mark::Info, format!("cancelling ({})", cancel.reason)));
                }
            }
            Some(Event::RunFinished(finished)) => {
                self.ended(finished, &mut shown);
                shown.extend(self.way_back(&entry.run_id));
            }
            Some(Event::Unknown(_)) | None => self.may_wait = true,
            // A question to the person: nothing else starts with this contract and waits.
            Some(Event::ToolOutput(output)) => self.printed(output, &mut shown),
            Some(Event::ToolStarted(started)) => {
                self.may_wait |= started.contract == "local";
                if !started.paths.is_empty() {
                    self.changing_calls.insert(started.effect_id);
                }
            }
        }
        shown
    }

    fn text(&mut self, text: &str, shown: &mut Vec<Shown>) {
        if text.is_empty() {
            return;
        }
        self.spoke = true;
        self.held.push_str(text);
        if self.flow == Flow::Live || self.held.len() > TEXT_HELD_BYTES_MAX {
            self.let_go(shown);
        }
    }

    /// Reasoning is no part of the answer; a watcher sees that something happens.
    fn reasoning(&mut self, text: &str, shown: &mut Vec<Shown>) {
        self.thoughts += text.chars().count();
        if !self.line_open {
            shown.push(Shown::Progress(format!("thinking, {} characters so far", self.thoughts)));
        }
    }

    /// Shows the text that was held back.
    fn let_go(&mut self, shown: &mut Vec<Shown>) {
        if let Some(last) = self.held.chars().next_back() {
            self.line_open = last != '\n';
            shown.push(Shown::Text(std::mem::take(&mut self.held)));
        }
    }

    fn close_line(&mut self, shown: &mut Vec<Shown>) {
        if std::mem::take(&mut self.line_open) {
            shown.push(Shown::LineEnd);
        }
    }

    fn started(&mut self, started: &v1::RunStarted, shown: &mut Vec<Shown>) {
        if self.echo != Echo::No {
            shown.push(note(Mark::Info, format!("asked: {}", clean_line(&started.input, INPUT_CHARS_MAX))));
        }
    }

    fn requested(&mut self, requested: &v1::ModelRequested, shown: &mut Vec<Shown>) {
        self.may_wait = false;
        self.spoke = false;
        self.thoughts = 0;
        if let Some(told) = self.broke_off.take() {
            self.remark(format!("{told}; it begins again"), shown);
        }
        if requested.messages_dropped > 0 && requested.turn <= 1 {
            let left_out = count(requested.messages_dropped.into(), "older message");
            shown.push(note(Mark::Info, format!("{left_out} left out: the model's window is too small")));
        }
        shown.push(Shown::TextBegins);
        let model = clean_line(&requested.model, MODEL_CHARS_MAX);
        if std::mem::take(&mut self.falls_back) {
            shown.push(note(Mark::Info, format!("asking {model} instead")));
        }
        shown.push(Shown::Progress(format!("asking {model}")));
        self.model = model;
    }

    fn message(&mut self, message: &v1::ModelMessage, shown: &mut Vec<Shown>) {
        self.let_go(shown);
        self.close_line(shown);
        match v1::FinishReason::try_from(message.finish) {
            Ok(v1::FinishReason::Length) => {
                shown.push(note(
                    Mark::Doubt,
                    "the answer was cut off: the model reached its cap on output".to_owned(),
                ));
            }
            Ok(v1::FinishReason::ContentFilter) => {
                shown.push(note(
                    Mark::Doubt,
                    "the answer was cut off by the provider's content filter".to_owned(),
                ));
            }
            _ if message.text_from == 0 && message.proposals == 0 && !self.spoke => {
                shown.push(note(Mark::Doubt, "the model returned an empty answer".to_owned()));
            }
            _ => {}
        }
    }

    fn abandoned(&mut self, abandoned: &v1::ModelAttemptAbandoned, shown: &mut Vec<Shown>) {
        self.close_line(shown);
        self.falls_back = abandoned.next == "next_model";
        if abandoned.text_from > 0 && abandoned.cause != "cancelled" {
            let cause = clean_line(&abandoned.cause, CAUSE_CHARS_MAX);
            self.broke_off = Some(match abandoned.cause.as_str() {
                "malformed" => format!("the answer cannot be used ({cause})"),
                _ => format!("the answer broke off ({cause})"),
            });
        }
        if !self.held.is_empty() {
            self.held.clear();
            if abandoned.cause == "cancelled" {
                let told = "the unfinished answer is left out here; --json shows it";
                shown.push(note(Mark::Info, told.to_owned()));
            }
        }
    }

    /// Says something about the text above, to whoever has seen it.
    fn remark(&self, told: String, shown: &mut Vec<Shown>) {
        shown.push(match self.flow {
            Flow::Live => Shown::Remark(told),
            Flow::Whole => note(Mark::Doubt, told),
        });
    }

    fn proposed(&mut self, proposed: &v1::ToolProposed, shown: &mut Vec<Shown>) {
        self.close_line(shown);
        let tool = clean_line(&proposed.tool, 64);
        let arguments = clean_line(&proposed.arguments, ARGUMENTS_CHARS_MAX);
        self.unshown_calls.insert(proposed.effect_id, format!("{tool} {arguments}"));
        self.open_calls.insert(proposed.effect_id, tool);
        if self.echo == Echo::Tape {
            self.show_calls(shown);
        }
    }

    /// Shows the calls that were proposed, unless what comes next may be the question about one.
    fn before(&mut self, event: Option<&Event>, shown: &mut Vec<Shown>) {
        match event {
            Some(Event::ToolProposed(_)) => {}
            Some(Event::ToolDecided(decided)) if decided.verdict() == v1::ToolVerdict::Ask => {}
            Some(Event::ApprovalRequested(requested)) => {
                self.unshown_calls.remove(&requested.effect_id);
            }
            _ => self.show_calls(shown),
        }
    }

    fn show_calls(&mut self, shown: &mut Vec<Shown>) {
        let calls = std::mem::take(&mut self.unshown_calls);
        shown.extend(calls.into_values().map(|call| note(Mark::Info, call)));
    }

    fn decided(&mut self, run: &str, decided: &v1::ToolDecided, shown: &mut Vec<Shown>) {
        if decided.verdict() != v1::ToolVerdict::Deny {
            return;
        }
        let tool = self.close_call(decided.effect_id);
        if decided.reason == "not_possible" {
            // Nobody withheld it: it failed before it began, and no answer would let it run.
            let (why, lines) = decided.explanation.split_once("\n\n").unwrap_or((&decided.explanation, ""));
            let why = clean_line(why, MEND_CHARS_MAX);
            shown.push(note(Mark::Bad, format!("{tool}not done: {why}")));
            let copied = lines.lines().take(COPIED_LINES_MAX);
            shown.extend(copied.map(|line| Shown::Copied(clean_line(line, COPIED_CHARS_MAX))));
            return;
        }
        let why = clean_line(&decided.explanation, REASON_CHARS_MAX);
        // A tool that does not exist, a call written wrongly, or one too many: no person and no rule withheld these.
        if !matches!(decided.reason.as_str(), "unknown_tool" | "invalid_arguments" | "budget_exhausted") {
            self.denied_calls += 1;
        }
        if decided.reason == "approval_denied" && self.shown_denials.remove(&decided.effect_id) {
            return;
        }
        let code = match decided.reason.as_str() {
            "unknown_tool" => ErrorCode::ToolUnknown,
            "invalid_arguments" => ErrorCode::ToolArgumentsInvalid,
            "budget_exhausted" => ErrorCode::ToolLimit,
            "no_approval_channel" => ErrorCode::NoApprovalChannel,
            "approval_denied" => ErrorCode::ApprovalDenied,
            "approval_expired" => ErrorCode::ApprovalExpired,
            "drifted" => ErrorCode::ApprovalDrifted,
            "secret_in_arguments" => ErrorCode::SecretInArguments,
            "placeholder_in_arguments" => ErrorCode::PlaceholderInArguments,
            _ => ErrorCode::ToolDenied,
        };
        let more = if code == ErrorCode::ToolDenied && !run.is_empty() {
            format!("; `palyra policy explain {} {}` shows the rules", short_id(run), decided.effect_id)
        } else {
            String::new()
        };
        shown.push(note(Mark::Bad, format!("{tool}denied ({code} {}): {why}{more}", decided.reason)));
    }

    fn asked_for(&mut self, requested: &v1::ApprovalRequested, shown: &mut Vec<Shown>) {
        self.may_wait = true;
        self.close_line(shown);
        shown.push(Shown::Question {
            approval_id: requested.approval_id.clone(),
            prompt: Box::new(requested.prompt.clone().unwrap_or_default()),
            risk: requested.risk.clone(),
        });
        self.asked.push(requested.clone());
    }

    fn resolved(&mut self, resolved: &v1::ApprovalResolved, shown: &mut Vec<Shown>) {
        self.may_wait = false;
        self.asked.retain(|asked| asked.approval_id != resolved.approval_id);
        let state = approval_state_name(resolved.state());
        let said = clean_line(&resolved.note, REASON_CHARS_MAX);
        let edited = if resolved.edited_arguments.is_empty() { "" } else { ", with other arguments" };
        let told =
            if said.is_empty() { format!("{state}{edited}") } else { format!("{state}{edited}: {said}") };
        if resolved.state() == v1::ApprovalState::Denied {
            self.shown_denials.insert(resolved.effect_id);
        }
        let mark = if resolved.state() == v1::ApprovalState::Approved { Mark::Good } else { Mark::Bad };
        shown.push(note(mark, told));
    }

    /// Shows what a tool prints while it runs, with its name where another runs beside it.
    fn printed(&mut self, output: &v1::ToolOutput, shown: &mut Vec<Shown>) {
        let lines = self.printed.take(output);
        self.show_printed(output.effect_id, lines, shown);
    }

    fn show_printed(&mut self, effect: u32, lines: impl IntoIterator<Item = String>, shown: &mut Vec<Shown>) {
        let beside = self.open_calls.keys().any(|open| *open != effect);
        let tool = self.open_calls.get(&effect).filter(|_| beside);
        let from = tool.map_or_else(String::new, |tool| format!("{tool}: "));
        let lines: Vec<_> = lines.into_iter().map(|line| Shown::Printed(format!("{from}{line}"))).collect();
        if !lines.is_empty() {
            self.close_line(shown);
            shown.extend(lines);
        }
    }

    fn finished(&mut self, finished: &v1::ToolFinished, shown: &mut Vec<Shown>) {
        let last = self.printed.end(finished.effect_id);
        self.show_printed(finished.effect_id, last, shown);
        let tool = self.close_call(finished.effect_id);
        let is_changing = self.changing_calls.remove(&finished.effect_id);
        self.changed_files |= is_changing && finished.succeeded;
        if finished.succeeded {
            shown.push(note(Mark::Good, format!("{tool}{}", bytes(finished.output_bytes_total))));
        } else {
            let said = finished.output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let said = clean_line(said, REASON_CHARS_MAX);
            shown.push(note(Mark::Bad, format!("{tool}{} {said}", finished.error_code)));
        }
    }

    /// Forgets a call; returns its tool's name where another is open, so that one knows which it was.
    fn close_call(&mut self, effect: u32) -> String {
        let tool = self.open_calls.remove(&effect).unwrap_or_default();
        if self.open_calls.is_empty() || tool.is_empty() { String::new() } else { format!("{tool}: ") }
    }

    fn outcome_unknown(&mut self, run: &str, unknown: &v1::ToolOutcomeUnknown, shown: &mut Vec<Shown>) {
        self.may_wait = true;
        let last = self.printed.end(unknown.effect_id);
        self.show_printed(unknown.effect_id, last, shown);
        let tool = self.open_calls.remove(&unknown.effect_id).unwrap_or_else(|| "a tool".to_owned());
        let told = format!("{tool}: it is not known whether it took effect ({})", unknown.cause);
        shown.push(note(Mark::Doubt, told));
        shown.push(note(Mark::Info, how_to_resolve(run, unknown.effect_id)));
        self.unresolved.push(unknown.effect_id);
    }

    fn looped(&mut self, looped: &v1::LoopDetected, shown: &mut Vec<Shown>) {
        self.may_wait = true;
        self.close_line(shown);
        let what = match looped.guard.as_str() {
            "same_failure" => "the same failure",
            "restarts" => "the same model request after a restart of the daemon",
            _ => "the same call with the same result",
        };
        let times = count(looped.repeats.into(), "time");
        shown.push(note(Mark::Doubt, format!("the run repeats itself: {what}, {times}")));
    }

    fn held(&mut self, shown: &mut Vec<Shown>) {
        self.may_wait = true;
        self.close_line(shown);
        let told = "the journal has lost its end: what this run did then is not known, and it waits for you";
        shown.push(note(Mark::Doubt, told.to_owned()));
    }

    fn ended(&mut self, finished: &v1::RunFinished, shown: &mut Vec<Shown>) {
        self.may_wait = false;
        self.close_line(shown);
        if let Some(told) = self.broke_off.take() {
            self.remark(told, shown);
        }
        let state = run_state(finished.state);
        self.ended = Some((state, finished.reason.clone()));
        let message = clean_line(&finished.message, REASON_CHARS_MAX);
        match state {
            v1::RunState::Failed => {
                let code =
                    ErrorCode::ALL.iter().copied().find(|code| code.to_string() == finished.error_code);
                let message =
                    if message.is_empty() { format!("the run ended: {}", finished.reason) } else { message };
                shown.push(Shown::Error(code.unwrap_or(ErrorCode::Internal), message));
            }
            v1::RunState::Cancelled if finished.reason == "time_limit" => {
                shown.push(Shown::Error(ErrorCode::TimeLimit, message));
            }
            v1::RunState::Cancelled if finished.reason == "interrupted" => {
                shown.push(note(Mark::Info, "interrupted by another input of its session".to_owned()));
            }
            v1::RunState::Cancelled => shown.push(note(Mark::Info, "cancelled".to_owned())),
            _ => {}
        }
        // A pipe gets the answer; what it took is for those who watch.
        let is_watched = self.echo == Echo::Tape || self.is_own_terminal();
        if is_watched && finished.turns > 0 {
            let used = tape_view::with_model(&tape_view::used(finished), &self.model);
            shown.push(note(Mark::Info, used));
        }
    }

    /// Returns whether the person who asked watches the answer.
    fn is_own_terminal(&self) -> bool {
        self.flow == Flow::Live && self.echo == Echo::No
    }

    /// Names the command that takes the changes of this run back, where it made some.
    fn way_back(&self, run: &str) -> Option<Shown> {
        let told = || format!("`palyra runs undo {}` takes its changes back", short_id(run));
        (self.changed_files && self.is_own_terminal()).then(|| note(Mark::Info, told()))
    }
}

/// Names the command that settles an unknown outcome.
pub(crate) fn how_to_resolve(run: &str, effect: u32) -> String {
    format!(
        "check whether it did, then settle it: `palyra runs effects resolve {run} {effect} happened|did-not-happen|retry`"
    )
}

/// Says what is done instead, where that is more than beginning the answer again at once.
fn again(abandoned: &v1::ModelAttemptAbandoned, now: Option<Timestamp>) -> Option<Shown> {
    let seconds = |time: Option<Timestamp>| time.map_or(0, |time| time.seconds);
    let wait = abandoned.retry_at.map_or(0, |at| at.seconds.saturating_sub(seconds(now)));
    let what = match abandoned.next.as_str() {
        "same_model" if wait > 0 => format!("asking again in {wait} s"),
        "same_model" if abandoned.text_from == 0 => "asking again".to_owned(),
        "next_model" => "asking the next model".to_owned(),
        "shorter_context" => "asking again with older messages left out".to_owned(),
        _ => return None,
    };
    let cause = clean_line(&abandoned.cause, CAUSE_CHARS_MAX);
    let detail = clean_line(&abandoned.detail, REASON_CHARS_MAX);
    let why = if detail.is_empty() { cause } else { format!("{cause}: {detail}") };
    let head = if abandoned.text_from > 0 { "no usable answer" } else { "no answer" };
    Some(note(Mark::Doubt, format!("{head} ({why}); {what}")))
}

fn note(mark: Mark, text: String) -> Shown {
    Shown::Note(mark, text)
}

#[cfg(test)]
mod tests;
