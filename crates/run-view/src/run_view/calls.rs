//! Calls and the questions about them: proposed, decided, asked and answered.

use palyra_screen_text::{clean_line, short_id};
use palyra_terminal::NoteKind;
use palyra_types::ErrorCode;
use palyra_wire::v1;
use palyra_wire::v1::DecisionReason;
use palyra_wire::v1::tape_entry::Event;

use super::{
    ARGUMENTS_CHARS_MAX, COPIED_CHARS_MAX, COPIED_LINES_MAX, EchoMode, MEND_CHARS_MAX, REASON_CHARS_MAX,
    RunView, ShownLine, note, read_only_part,
};
use crate::approval::{approval_state_name, change_lines};
use crate::model_advice::for_person;
use crate::model_question::model_question;
use crate::result_line::call_label;

impl RunView {
    pub(super) fn proposed(&mut self, proposed: &v1::ToolProposed, shown: &mut Vec<ShownLine>) {
        self.close_line(shown);
        let tool = clean_line(&proposed.tool, 64);
        let arguments = clean_line(&proposed.arguments, ARGUMENTS_CHARS_MAX);
        self.labels.insert(proposed.effect_id, call_label(&tool, &proposed.arguments));
        let question = model_question(&proposed.tool, &proposed.arguments);
        // A question is shown once it waits for an answer; a tape has every step.
        if question.is_none() || self.echo == EchoMode::Tape {
            self.unshown_calls.insert(proposed.effect_id, format!("{tool} {arguments}"));
        }
        self.questions.extend(question.map(|question| (proposed.effect_id, question)));
        self.open_calls.insert(proposed.effect_id, tool);
        if self.echo == EchoMode::Tape {
            self.show_calls(shown);
        }
    }

    /// Shows the calls that were proposed, unless what comes next may be the question about one.
    pub(super) fn before(&mut self, event: Option<&Event>, shown: &mut Vec<ShownLine>) {
        self.waits_for_budget = matches!(event, Some(Event::BudgetReached(_)));
        match event {
            Some(Event::ToolProposed(_)) => {}
            Some(Event::ToolDecided(decided)) if decided.verdict() == v1::ToolVerdict::Ask => {}
            Some(Event::ApprovalRequested(requested)) => {
                self.unshown_calls.remove(&requested.effect_id);
            }
            _ => self.show_calls(shown),
        }
    }

    pub(super) fn show_calls(&mut self, shown: &mut Vec<ShownLine>) {
        let calls = std::mem::take(&mut self.unshown_calls);
        shown.extend(calls.into_values().map(|call| note(NoteKind::Info, call)));
    }

    /// Returns what a call changes about which no person was asked: in part where the run is watched, whole in its tape.
    pub(super) fn change_of(&self, run: &str, started: &v1::ToolStarted) -> Option<ShownLine> {
        let is_tape = self.echo == EchoMode::Tape;
        if started.preview.is_empty() || !(is_tape || self.is_own_terminal()) {
            return None;
        }
        // The call before it names its file, unless several were proposed.
        let named = match started.paths.as_slice() {
            [only] if self.labels.len() <= 1 => format!("`{only}`"),
            _ => String::new(),
        };
        let more = (!is_tape).then(|| format!("`palyra runs tail {}`", self.shown_id(run)));
        Some(ShownLine::Change(change_lines(&started.preview, &named, more.as_deref())))
    }

    pub(super) fn decided(&mut self, run: &str, decided: &v1::ToolDecided, shown: &mut Vec<ShownLine>) {
        if decided.verdict() != v1::ToolVerdict::Deny {
            if let Some(part) = read_only_part(&decided.explanation) {
                self.read_only.insert(decided.effect_id, clean_line(part, REASON_CHARS_MAX));
            }
            return;
        }
        let tool = self.close_call(decided.effect_id);
        self.questions.remove(&decided.effect_id);
        if decided.reason() == DecisionReason::NotPossible {
            // Nobody withheld it: it failed before it began, and no answer would let it run.
            let (why, lines) = decided.explanation.split_once("\n\n").unwrap_or((&decided.explanation, ""));
            if self.shown_denials.remove(&decided.effect_id) && lines.is_empty() {
                return;
            }
            let why = clean_line(&for_person(why), MEND_CHARS_MAX);
            shown.push(note(NoteKind::Bad, format!("{tool}not done: {why}")));
            let copied = lines.lines().take(COPIED_LINES_MAX);
            shown.extend(copied.map(|line| ShownLine::Copied(clean_line(line, COPIED_CHARS_MAX))));
            return;
        }
        let why = clean_line(&for_person(&decided.explanation), MEND_CHARS_MAX);
        // A tool that does not exist, a call written wrongly, or one too many: no person and no rule withheld these.
        if !matches!(
            decided.reason(),
            DecisionReason::UnknownTool | DecisionReason::InvalidArguments | DecisionReason::BudgetExhausted
        ) {
            self.denied_calls += 1;
        }
        if decided.reason() == DecisionReason::ApprovalDenied && self.shown_denials.remove(&decided.effect_id)
        {
            return;
        }
        let code = match decided.reason() {
            DecisionReason::UnknownTool => ErrorCode::ToolUnknown,
            DecisionReason::InvalidArguments => ErrorCode::ToolArgumentsInvalid,
            DecisionReason::BudgetExhausted => ErrorCode::ToolLimit,
            DecisionReason::NoApprovalChannel => ErrorCode::NoApprovalChannel,
            DecisionReason::ApprovalDenied => ErrorCode::ApprovalDenied,
            DecisionReason::ApprovalExpired => ErrorCode::ApprovalExpired,
            DecisionReason::Drifted => ErrorCode::ApprovalDrifted,
            DecisionReason::SecretInArguments => ErrorCode::SecretInArguments,
            DecisionReason::PlaceholderInArguments => ErrorCode::PlaceholderInArguments,
            _ => ErrorCode::ToolDenied,
        };
        let more = match code {
            // Without policies there are no rules to show; the reason names the command that helps.
            ErrorCode::ToolDenied if !run.is_empty() && !why.contains("no policies are in force") => {
                format!("; `palyra policy explain {} {}` shows the rules", short_id(run), decided.effect_id)
            }
            // Too many open questions have the same code.
            ErrorCode::NoApprovalChannel if why.contains("no person can answer") => {
                "; a run without `--approve never` asks you".to_owned()
            }
            _ => String::new(),
        };
        shown.push(note(
            NoteKind::Bad,
            format!("{tool}denied ({code} {}): {why}{more}", decided.reason_name()),
        ));
    }

    pub(super) fn on_approval_requested(
        &mut self,
        requested: &v1::ApprovalRequested,
        shown: &mut Vec<ShownLine>,
    ) {
        self.may_wait = true;
        self.close_line(shown);
        if self.echo == EchoMode::Tape {
            // A question has no place for the number of its entry.
            let approval = self.shown_id(&requested.approval_id);
            let place = format!("the question about call {}, approval {approval}", requested.effect_id);
            shown.push(note(NoteKind::Info, place));
        }
        shown.push(ShownLine::Question {
            approval_id: requested.approval_id.clone(),
            prompt: Box::new(requested.prompt.clone().unwrap_or_default()),
            risk: requested.risk_name().into_owned(),
        });
        self.asked.push(requested.clone());
    }

    pub(super) fn resolved(&mut self, resolved: &v1::ApprovalResolved, shown: &mut Vec<ShownLine>) {
        self.may_wait = false;
        self.asked.retain(|asked| asked.approval_id != resolved.approval_id);
        // The rules denied it, and the decision that follows says so with their names.
        if resolved.state() == v1::ApprovalState::Denied && resolved.by.is_empty() {
            return;
        }
        let by = self.deciders.get(&resolved.by).map_or_else(String::new, |name| format!(" by {name}"));
        let state = format!("{}{by}", approval_state_name(resolved.state()));
        let is_withdrawn = resolved.state() == v1::ApprovalState::Withdrawn;
        let said = if is_withdrawn { for_person(&resolved.note) } else { resolved.note.clone() };
        let said = clean_line(&said, REASON_CHARS_MAX);
        let edited = if resolved.edited_arguments.is_empty() { "" } else { ", with other arguments" };
        let told =
            if said.is_empty() { format!("{state}{edited}") } else { format!("{state}{edited}: {said}") };
        // The decision that follows would say the same again.
        if resolved.state() == v1::ApprovalState::Denied || (is_withdrawn && !said.is_empty()) {
            self.shown_denials.insert(resolved.effect_id);
        }
        let mark =
            if resolved.state() == v1::ApprovalState::Approved { NoteKind::Good } else { NoteKind::Bad };
        shown.push(note(mark, told));
    }
}
