//! A run as a person sees it: entries of its tape in, words out.
//!
//! Owns which entries are shown, where and how, and what they mean for the end of the program.
//! Pure: knows no terminal and no daemon. Begin at [`RunView::absorb`].

mod budget_stop;
mod calls;
mod next_steps;

use std::collections::{BTreeMap, BTreeSet};

use palyra_types::ErrorCode;
use palyra_wire::v1;
use palyra_wire::v1::tape_entry::Event;
use prost_types::Timestamp;

use self::budget_stop::top_up_of;
use self::next_steps::next_step;
use super::answer::OfferScope;
use super::approval::granted;
use super::model_advice::for_person;
use super::names::run_state;
use super::printed::PrintedLines;
use super::result_line::result_line;
use super::tape_view;
use super::unread_references::unread_references;
use palyra_screen_text::{StyledLine, clean_line, count, short_id};
use palyra_terminal::NoteKind;

const ARGUMENTS_CHARS_MAX: usize = 160;
const REASON_CHARS_MAX: usize = 240;
/// What a program prints when it writes where it may not (`EROFS`).
const READ_ONLY_ERROR: &str = "Read-only file system";
/// How a decision names a folder that is read-only for a program.
const READ_ONLY_FOR_IT: &str = " is read-only for it by ";
/// Characters of a reason that says what to write, and where: a path is in it.
const MEND_CHARS_MAX: usize = 600;
/// Lines to copy that follow a reason, and the characters of each.
const COPIED_LINES_MAX: usize = 4;
const COPIED_CHARS_MAX: usize = 4096;
const INPUT_CHARS_MAX: usize = 400;
const FILES_SHOWN_MAX: usize = 3;
const FILE_NAME_CHARS_MAX: usize = 60;
const MODEL_CHARS_MAX: usize = 64;
const CAUSE_CHARS_MAX: usize = 64;
/// An answer that is longer is shown before it is complete.
const TEXT_HELD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Something to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShownLine {
    /// The next text is the begin of a message.
    TextBegins,
    /// Text for standard output.
    Text(String),
    /// The end of the line that text left open on standard output.
    LineEnd,
    /// A remark between texts, for the terminal that shows them.
    Remark(String),
    /// A note for standard error.
    Note(NoteKind, String),
    /// A line to type or to copy, for standard error: it is neither cut nor wrapped.
    Copied(String),
    /// What a call changes about which no person was asked, for standard error.
    Change(Vec<StyledLine>),
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
pub enum EchoMode {
    /// The person who typed it sits here.
    No,
    /// The run is watched from elsewhere.
    Inputs,
    /// So is its tape: every step with its number and time.
    Tape,
}

/// When a model's text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFlow {
    /// As it comes; what is superseded later was seen, and is said to be so.
    Live,
    /// Once its message is recorded: nothing is ever shown twice.
    Whole,
}

/// What is known of one run from its entries so far.
#[derive(Debug, Clone)]
pub struct RunView {
    echo: EchoMode,
    flow: TextFlow,
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
    /// Calls of the last answer, by what they are about.
    labels: BTreeMap<u32, String>,
    /// Those of them that were not shown yet, as they are shown: a question says the same better.
    unshown_calls: BTreeMap<u32, String>,
    /// Questions of the model to the person that have no answer, by call.
    questions: BTreeMap<u32, String>,
    /// What they print during the call.
    printed: PrintedLines,
    denied_calls: u32,
    /// Calls that failed; `None` while it is not known that all were seen.
    failed_calls: Option<u32>,
    /// Calls whose denial by a person is shown.
    shown_denials: BTreeSet<u32>,
    /// Approvals that are asked for and not decided.
    asked: Vec<v1::ApprovalRequested>,
    /// Effects whose outcome is unknown and not resolved.
    unresolved: Vec<u32>,
    may_wait: bool,
    /// The last entry says that a budget does not allow the next request.
    waits_for_budget: bool,
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
    /// What policy made read-only for a call, and by which rules, by call.
    read_only: BTreeMap<u32, String>,
    /// Whether this is shown in a chat, which has commands of its own.
    pub in_chat: bool,
    /// Where grants hold that are given at a prompt.
    pub scope: OfferScope,
    /// Names of people who decide, by principal, as far as they are known.
    pub deciders: BTreeMap<String, String>,
}

impl RunView {
    /// A run of which nothing is known yet.
    pub fn new(echo: EchoMode, flow: TextFlow) -> Self {
        Self {
            echo,
            flow,
            held: String::new(),
            broke_off: None,
            falls_back: false,
            thoughts: 0,
            open_calls: BTreeMap::new(),
            labels: BTreeMap::new(),
            unshown_calls: BTreeMap::new(),
            questions: BTreeMap::new(),
            printed: PrintedLines::default(),
            denied_calls: 0,
            failed_calls: None,
            shown_denials: BTreeSet::new(),
            asked: Vec::new(),
            unresolved: Vec::new(),
            may_wait: false,
            waits_for_budget: false,
            line_open: false,
            spoke: false,
            model: String::new(),
            ended: None,
            told_erased: false,
            changing_calls: BTreeSet::new(),
            changed_files: false,
            read_only: BTreeMap::new(),
            in_chat: false,
            scope: OfferScope::default(),
            deciders: BTreeMap::new(),
        }
    }

    /// Returns whether the last entries leave it open if the run waits for a person: then the daemon knows.
    pub fn may_wait(&self) -> bool {
        self.may_wait
    }

    /// Returns the approvals that were asked for and are not decided, oldest first.
    pub fn pending_approvals(&self) -> &[v1::ApprovalRequested] {
        &self.asked
    }

    /// Returns whether the run waits for a budget.
    pub fn waits_for_budget(&self) -> bool {
        self.waits_for_budget
    }

    /// Returns the question that the model asked last and that has no answer.
    pub fn model_question(&self) -> Option<&str> {
        self.questions.values().next_back().map(String::as_str)
    }

    /// Returns the effects whose outcome is unknown and not resolved, oldest first.
    pub fn unresolved(&self) -> &[u32] {
        &self.unresolved
    }

    /// Returns the model that was asked last; empty where none was.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns why the run ended, or nothing where it has not.
    pub fn end_reason(&self) -> &str {
        self.ended.as_ref().map_or("", |(_, reason)| reason.as_str())
    }

    /// Returns how many of its calls were denied.
    pub fn denied_calls(&self) -> u32 {
        self.denied_calls
    }

    /// Takes the next entry and returns what to show of it.
    pub fn absorb(&mut self, entry: &v1::TapeEntry) -> Vec<ShownLine> {
        let mut shown = self.shown_of(entry);
        if entry.erased {
            return self.erased(entry, shown);
        }
        if self.echo == EchoMode::Tape {
            let beside = entry.event.as_ref().and_then(tape_view::beside);
            shown.extend(beside.map(|told| note(NoteKind::Info, told)));
            let place = tape_view::place(entry);
            for shown in &mut shown {
                if let ShownLine::Note(_, text) = shown {
                    *text = format!("{place} {text}");
                }
            }
        }
        shown
    }

    /// Says once that content was erased: what is left of such entries would be lines with holes.
    fn erased(&mut self, entry: &v1::TapeEntry, shown: Vec<ShownLine>) -> Vec<ShownLine> {
        let mut left: Vec<ShownLine> = Vec::new();
        if self.echo != EchoMode::No && !std::mem::replace(&mut self.told_erased, true) {
            let run = self.shown_id(&entry.run_id);
            let told = format!("the content of this run was erased; `palyra runs show {run}` says more");
            left.push(note(NoteKind::Info, told));
        }
        if matches!(entry.event, Some(Event::RunFinished(_))) {
            left.extend(shown);
        }
        left
    }

    fn shown_of(&mut self, entry: &v1::TapeEntry) -> Vec<ShownLine> {
        let mut shown = Vec::new();
        self.before(entry.event.as_ref(), &mut shown);
        match &entry.event {
            Some(Event::ModelText(said)) => self.text(&said.text, &mut shown),
            Some(Event::RunStarted(started)) => self.started(started, &mut shown),
            Some(Event::InputReceived(received)) => {
                // Words end no wait for a decision.
                self.may_wait &= !self.asked.is_empty() || self.waits_for_budget;
                if self.echo != EchoMode::No {
                    let said = with_files(&received.input, &received.attachments);
                    let how =
                        if received.delivery() == v1::InputDelivery::Steer { "steered" } else { "answered" };
                    self.close_line(&mut shown);
                    shown.push(note(NoteKind::Info, format!("{how}: {said}")));
                }
            }
            Some(Event::ModelRequested(requested)) => self.requested(requested, &mut shown),
            Some(Event::ModelSwitched(switched)) => self.switched(switched, &mut shown),
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
                let said = format!("said of the unknown outcome: {}", resolved.resolution_name());
                shown.push(note(NoteKind::Info, said));
            }
            Some(Event::ApprovalRequested(requested)) => self.on_approval_requested(requested, &mut shown),
            Some(Event::ApprovalVoted(voted)) => {
                shown.push(note(NoteKind::Info, format!("{} said yes; more people have to", voted.by)));
            }
            Some(Event::ApprovalResolved(resolved)) => self.resolved(resolved, &mut shown),
            Some(Event::GrantStored(stored)) => {
                let grant = stored.grant.clone().unwrap_or_default();
                shown.push(note(NoteKind::Info, granted(&grant, &self.scope)));
            }
            Some(Event::LoopDetected(looped)) => self.looped(looped, &mut shown),
            Some(Event::RunHeld(_)) => self.on_run_held(&mut shown),
            Some(Event::BudgetReached(reached)) => self.on_budget_reached(&entry.run_id, reached, &mut shown),
            Some(Event::SoftLimitNoted(noted)) => shown.push(soft_limit_note(noted)),
            Some(Event::ClientToolsCalled(called)) => self.client_called(called, &mut shown),
            Some(Event::CancelRequested(cancel)) => self.cancelling(cancel, &mut shown),
            Some(Event::RunFinished(finished)) => {
                self.ended(finished, &mut shown);
                shown.extend(self.way_back(&entry.run_id));
            }
            Some(Event::ClientToolsOffered(_) | Event::ClientToolsAnswered(_)) => self.may_wait = false,
            Some(Event::ReferencesExpanded(expanded)) => self.on_references_expanded(expanded, &mut shown),
            Some(Event::Unknown(_)) | None => self.may_wait = true,
            // A question to the person: nothing else starts with this contract and waits.
            Some(Event::ToolOutput(output)) => self.printed(output, &mut shown),
            Some(Event::ToolStarted(started)) => {
                self.may_wait |= started.contract() == v1::EffectContract::Local;
                if let Some(question) = self.questions.get(&started.effect_id) {
                    shown.push(note(NoteKind::Ask, format!("the model asks: {question}")));
                }
                if !started.paths.is_empty() {
                    self.changing_calls.insert(started.effect_id);
                }
                shown.extend(self.change_of(&entry.run_id, started));
            }
        }
        shown
    }

    fn text(&mut self, text: &str, shown: &mut Vec<ShownLine>) {
        if text.is_empty() {
            return;
        }
        self.spoke = true;
        self.held.push_str(text);
        if self.flow == TextFlow::Live || self.held.len() > TEXT_HELD_BYTES_MAX {
            self.let_go(shown);
        }
    }

    /// Reasoning is not a part of the answer; a watcher sees that something happens.
    fn reasoning(&mut self, text: &str, shown: &mut Vec<ShownLine>) {
        self.thoughts += text.chars().count();
        if !self.line_open {
            shown.push(ShownLine::Progress(format!("thinking, {} characters so far", self.thoughts)));
        }
    }

    /// Shows the text that was buffered.
    fn let_go(&mut self, shown: &mut Vec<ShownLine>) {
        if let Some(last) = self.held.chars().next_back() {
            self.line_open = last != '\n';
            shown.push(ShownLine::Text(std::mem::take(&mut self.held)));
        }
    }

    fn close_line(&mut self, shown: &mut Vec<ShownLine>) {
        if std::mem::take(&mut self.line_open) {
            shown.push(ShownLine::LineEnd);
        }
    }

    fn started(&mut self, started: &v1::RunStarted, shown: &mut Vec<ShownLine>) {
        self.failed_calls = Some(0);
        if self.echo != EchoMode::No {
            let asked = with_files(&started.input, &started.attachments);
            shown.push(note(NoteKind::Info, format!("asked: {asked}")));
        }
    }

    fn requested(&mut self, requested: &v1::ModelRequested, shown: &mut Vec<ShownLine>) {
        self.may_wait = false;
        self.labels.clear();
        self.spoke = false;
        self.thoughts = 0;
        if let Some(told) = self.broke_off.take() {
            self.remark(format!("{told}; it begins again"), shown);
        }
        if requested.messages_dropped > 0 && requested.turn <= 1 {
            let left_out = count(requested.messages_dropped.into(), "older message");
            shown.push(note(NoteKind::Info, format!("{left_out} left out: the model's window is too small")));
        }
        shown.push(ShownLine::TextBegins);
        let model = clean_line(&requested.model, MODEL_CHARS_MAX);
        if std::mem::take(&mut self.falls_back) {
            shown.push(note(NoteKind::Info, format!("asking {model} instead")));
        }
        let by_window = |passed: &v1::PassedOverModel| {
            passed.causes().all(|cause| cause == v1::PassOverCause::ContextTooSmall)
        };
        // A window that is too small is named where the model changes.
        if !requested.passed_over.iter().all(by_window)
            && let Some(why) = tape_view::routing_shown(requested)
        {
            shown.push(note(NoteKind::Info, why));
        }
        shown.push(ShownLine::Progress(format!("asking {model}")));
        self.model = model;
    }

    /// Names the model that is asked from now on; where the tape has no such entry, the request does.
    fn switched(&mut self, switched: &v1::ModelSwitched, shown: &mut Vec<ShownLine>) {
        self.falls_back = false;
        self.close_line(shown);
        shown.push(note(NoteKind::Info, tape_view::switched(switched)));
    }

    fn message(&mut self, message: &v1::ModelMessage, shown: &mut Vec<ShownLine>) {
        self.let_go(shown);
        self.close_line(shown);
        match v1::FinishReason::try_from(message.finish) {
            Ok(v1::FinishReason::Length) => {
                shown.push(note(
                    NoteKind::Doubt,
                    "the answer was cut off: the model reached its cap on output".to_owned(),
                ));
            }
            Ok(v1::FinishReason::ContentFilter) => {
                shown.push(note(
                    NoteKind::Doubt,
                    "the answer was cut off by the provider's content filter".to_owned(),
                ));
            }
            _ if message.text_from == 0 && message.proposals == 0 && !self.spoke => {
                shown.push(note(NoteKind::Doubt, "the model returned an empty answer".to_owned()));
            }
            _ => {}
        }
    }

    fn abandoned(&mut self, abandoned: &v1::ModelAttemptAbandoned, shown: &mut Vec<ShownLine>) {
        self.close_line(shown);
        self.falls_back = abandoned.next() == v1::NextAttempt::NextModel;
        if abandoned.text_from > 0 && abandoned.cause() != v1::AbandonCause::Cancelled {
            let cause = clean_line(&abandoned.cause_name(), CAUSE_CHARS_MAX);
            self.broke_off = Some(match abandoned.cause() {
                v1::AbandonCause::Malformed => format!("the answer cannot be used ({cause})"),
                _ => format!("the answer broke off ({cause})"),
            });
        }
        if !self.held.is_empty() {
            self.held.clear();
            if abandoned.cause() == v1::AbandonCause::Cancelled {
                let told = "the unfinished answer is left out here; --json shows it";
                shown.push(note(NoteKind::Info, told.to_owned()));
            }
        }
    }

    /// Says something about the text above, where it was shown.
    fn remark(&self, told: String, shown: &mut Vec<ShownLine>) {
        shown.push(match self.flow {
            TextFlow::Live => ShownLine::Remark(told),
            TextFlow::Whole => note(NoteKind::Doubt, told),
        });
    }

    /// Shows what a tool prints while it runs, with its name where another runs beside it.
    fn printed(&mut self, output: &v1::ToolOutput, shown: &mut Vec<ShownLine>) {
        let lines = self.printed.take(output);
        self.show_printed(output.effect_id, lines, shown);
    }

    fn show_printed(
        &mut self,
        effect: u32,
        lines: impl IntoIterator<Item = String>,
        shown: &mut Vec<ShownLine>,
    ) {
        let beside = self.open_calls.keys().any(|open| *open != effect);
        let tool = self.open_calls.get(&effect).filter(|_| beside);
        let from = tool.map_or_else(String::new, |tool| format!("{tool}: "));
        let lines: Vec<_> =
            lines.into_iter().map(|line| ShownLine::Printed(format!("{from}{line}"))).collect();
        if !lines.is_empty() {
            self.close_line(shown);
            shown.extend(lines);
        }
    }

    fn finished(&mut self, finished: &v1::ToolFinished, shown: &mut Vec<ShownLine>) {
        let last = self.printed.end(finished.effect_id);
        self.show_printed(finished.effect_id, last, shown);
        let tool = self.open_calls.get(&finished.effect_id).cloned().unwrap_or_default();
        let call = self.close_call(finished.effect_id);
        let is_changing = self.changing_calls.remove(&finished.effect_id);
        self.changed_files |= is_changing && finished.succeeded;
        let is_answered = self.questions.remove(&finished.effect_id).is_some();
        // The answer itself says that it succeeded.
        if is_answered && finished.succeeded && self.echo != EchoMode::Tape {
            return;
        }
        if finished.succeeded {
            let brought = result_line(&tool, &finished.output, finished.output_bytes_total);
            shown.push(note(NoteKind::Good, format!("{call}{brought}")));
        } else {
            self.failed_calls = self.failed_calls.map(|failed| failed.saturating_add(1));
            let said = finished.output.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let said = clean_line(&for_person(said), MEND_CHARS_MAX);
            shown.push(note(NoteKind::Bad, format!("{call}{} {said}", finished.error_code)));
            let part = self.read_only.get(&finished.effect_id);
            let part = part.filter(|_| finished.output.contains(READ_ONLY_ERROR)).cloned();
            let step = part.or_else(|| next_step(&finished.error_code, &finished.output));
            shown.extend(step.map(|step| note(NoteKind::Info, step)));
        }
    }

    /// Closes a call; returns what it is about where the model asked for several, so that one knows which it was.
    fn close_call(&mut self, effect: u32) -> String {
        let tool = self.open_calls.remove(&effect).unwrap_or_default();
        let label = self.labels.get(&effect);
        match label.filter(|_| self.labels.len() > 1 && !tool.is_empty()) {
            Some(label) => format!("{label}: "),
            None => String::new(),
        }
    }

    fn outcome_unknown(&mut self, run: &str, unknown: &v1::ToolOutcomeUnknown, shown: &mut Vec<ShownLine>) {
        self.may_wait = true;
        let last = self.printed.end(unknown.effect_id);
        self.show_printed(unknown.effect_id, last, shown);
        let tool = self.open_calls.remove(&unknown.effect_id).unwrap_or_else(|| "a tool".to_owned());
        let told = format!("{tool}: it is not known whether it took effect ({})", unknown.cause_name());
        shown.push(note(NoteKind::Doubt, told));
        shown.push(note(NoteKind::Info, how_to_resolve(&self.shown_id(run), unknown.effect_id)));
        self.unresolved.push(unknown.effect_id);
    }

    fn looped(&mut self, looped: &v1::LoopDetected, shown: &mut Vec<ShownLine>) {
        self.may_wait = true;
        self.close_line(shown);
        let what = match looped.guard() {
            v1::LoopGuard::SameFailure => "the same failure",
            v1::LoopGuard::Restarts => "the same model request after a restart of the daemon",
            _ => "the same call with the same result",
        };
        let times = count(looped.repeats.into(), "time");
        shown.push(note(NoteKind::Doubt, format!("the run repeats itself: {what}, {times}")));
    }

    fn cancelling(&mut self, cancel: &v1::CancelRequested, shown: &mut Vec<ShownLine>) {
        self.close_line(shown);
        // Whoever asked from here was told already.
        if self.echo != EchoMode::No {
            shown.push(note(NoteKind::Info, format!("cancelling ({})", cancel.reason_name())));
        }
    }

    fn client_called(&mut self, called: &v1::ClientToolsCalled, shown: &mut Vec<ShownLine>) {
        self.may_wait = true;
        self.close_line(shown);
        shown.extend(tape_view::client_calls(called).map(|told| note(NoteKind::Info, told)));
    }

    fn on_references_expanded(&mut self, expanded: &v1::ReferencesExpanded, shown: &mut Vec<ShownLine>) {
        self.may_wait = false;
        self.close_line(shown);
        shown.extend(unread_references(expanded).map(|unread| note(NoteKind::Doubt, unread)));
    }

    fn on_run_held(&mut self, shown: &mut Vec<ShownLine>) {
        self.may_wait = true;
        self.close_line(shown);
        let told = "the journal has lost its end: what this run did then is not known, and it waits for you";
        shown.push(note(NoteKind::Doubt, told.to_owned()));
    }

    fn on_budget_reached(&mut self, run: &str, reached: &v1::BudgetReached, shown: &mut Vec<ShownLine>) {
        self.may_wait = true;
        self.close_line(shown);
        shown.push(note(NoteKind::Doubt, clean_line(&reached.explanation, MEND_CHARS_MAX)));
        let go_on = format!(
            "`palyra budget go-on {}` lets it go on once, `{}` raises a limit",
            self.shown_id(run),
            top_up_of(&reached.explanation)
        );
        shown.push(note(NoteKind::Info, go_on));
    }

    fn ended(&mut self, finished: &v1::RunFinished, shown: &mut Vec<ShownLine>) {
        self.may_wait = false;
        self.close_line(shown);
        if let Some(told) = self.broke_off.take() {
            self.remark(told, shown);
        }
        let state = run_state(finished.state);
        self.ended = Some((state, finished.reason_name().into_owned()));
        let message = clean_line(&finished.message, MEND_CHARS_MAX);
        match state {
            v1::RunState::Failed => {
                let code =
                    ErrorCode::ALL.iter().copied().find(|code| code.to_string() == finished.error_code);
                let message = if message.is_empty() {
                    format!("the run ended: {}", finished.reason_name())
                } else {
                    message
                };
                shown.push(ShownLine::Error(code.unwrap_or(ErrorCode::Internal), message));
            }
            v1::RunState::Cancelled if finished.reason() == v1::RunEndReason::TimeLimit => {
                shown.push(ShownLine::Error(ErrorCode::TimeLimit, message));
            }
            v1::RunState::Cancelled if finished.reason() == v1::RunEndReason::Interrupted => {
                shown.push(note(NoteKind::Info, "interrupted by another input of its session".to_owned()));
            }
            v1::RunState::Cancelled => shown.push(note(NoteKind::Info, "cancelled".to_owned())),
            _ => {}
        }
        // A pipe gets the answer; what it took is for those who watch.
        let is_watched = self.echo == EchoMode::Tape || self.is_own_terminal();
        if is_watched && finished.turns > 0 {
            let used = tape_view::with_model(&tape_view::used(finished, self.failed_calls), &self.model);
            shown.push(note(NoteKind::Info, used));
        }
    }

    /// Returns an id as lines show it: its end where a person watches, the whole of it for programs.
    fn shown_id(&self, id: &str) -> String {
        if self.flow == TextFlow::Live { short_id(id) } else { id.to_owned() }
    }

    /// Returns whether the person who asked watches the answer; what a chat follows is its person's, typed before or elsewhere.
    fn is_own_terminal(&self) -> bool {
        self.flow == TextFlow::Live && (self.echo == EchoMode::No || self.in_chat)
    }

    /// Names the command that takes the changes of this run back, where it made some.
    fn way_back(&self, run: &str) -> Option<ShownLine> {
        let told = || match (self.in_chat, short_id(run)) {
            (true, run) => {
                // Another run may be the last one by the time it is typed.
                format!("/undo {run} takes its changes back; so does `palyra runs undo {run}` in a shell")
            }
            (false, run) => format!("`palyra runs undo {run}` takes its changes back"),
        };
        (self.changed_files && self.is_own_terminal()).then(|| note(NoteKind::Info, told()))
    }
}

/// Names the command that settles an unknown outcome.
pub fn how_to_resolve(run: &str, effect: u32) -> String {
    format!(
        "check whether it did, then settle it: `palyra runs effects resolve {run} {effect} happened|did-not-happen|retry`"
    )
}

/// Says what is done instead, where that is more than beginning the answer again at once.
fn again(abandoned: &v1::ModelAttemptAbandoned, now: Option<Timestamp>) -> Option<ShownLine> {
    let seconds = |time: Option<Timestamp>| time.map_or(0, |time| time.seconds);
    let wait = abandoned.retry_at.map_or(0, |at| at.seconds.saturating_sub(seconds(now)));
    let what = match abandoned.next() {
        v1::NextAttempt::SameModel if wait > 0 => format!("asking again in {wait} s"),
        v1::NextAttempt::SameModel if abandoned.text_from == 0 => "asking again".to_owned(),
        v1::NextAttempt::NextModel => "asking the next model".to_owned(),
        v1::NextAttempt::ShorterContext => "asking again with older messages left out".to_owned(),
        _ => return None,
    };
    let cause = clean_line(&abandoned.cause_name(), CAUSE_CHARS_MAX);
    let detail = clean_line(&abandoned.detail, REASON_CHARS_MAX);
    let why = if detail.is_empty() { cause } else { format!("{cause}: {detail}") };
    let head = if abandoned.text_from > 0 { "no usable answer" } else { "no answer" };
    Some(note(NoteKind::Doubt, format!("{head} ({why}); {what}")))
}

fn note(mark: NoteKind, text: String) -> ShownLine {
    ShownLine::Note(mark, text)
}

/// Returns what an explanation says of folders that are read-only for a program, and by which rules.
fn read_only_part(explanation: &str) -> Option<&str> {
    let said = explanation.find(READ_ONLY_FOR_IT)?;
    let begin = explanation[..said].rfind("; ").map_or(0, |at| at + 2);
    Some(&explanation[begin..])
}

/// Returns an input in one line, with the names of the files that came with it.
fn with_files(input: &str, attachments: &[v1::AttachmentInfo]) -> String {
    let mut line = clean_line(input, INPUT_CHARS_MAX);
    for (place, file) in attachments.iter().take(FILES_SHOWN_MAX).enumerate() {
        let name = clean_line(&file.name, FILE_NAME_CHARS_MAX);
        line.push_str(&if place == 0 { format!(" (with {name}") } else { format!(", {name}") });
    }
    match attachments.len() {
        0 => {}
        count if count > FILES_SHOWN_MAX => {
            line.push_str(&format!(" and {} more)", count - FILES_SHOWN_MAX));
        }
        _ => line.push(')'),
    }
    line
}

fn soft_limit_note(noted: &v1::SoftLimitNoted) -> ShownLine {
    note(NoteKind::Info, clean_line(&noted.explanation, REASON_CHARS_MAX))
}

#[cfg(test)]
mod tests;
