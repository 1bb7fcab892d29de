//! Questions of a run that a person left for later, and how the person is asked again.
//!
//! Invariant: a line that is typed while no prompt is open decides nothing.

use palyra_wire::v1;

use super::answer_prompt::WORDS_PROMPT;
use super::{FollowedRun, InteractionMode, PendingQuestion, RunDriver};
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{AnswerForm, BUDGET_PROMPT, BudgetAnswer, call_line, is_risky};
use palyra_screen_text::short_id;
use palyra_terminal::NoteKind;

/// The sign of a chat that takes a line.
const IDLE_PROMPT: &str = ">";

impl<R: FollowedRun, F: FnMut(&v1::Opened)> RunDriver<'_, R, F> {
    /// Returns whether the run waits for this person, also where the question was left for later.
    pub(crate) fn waits_for_person(&self) -> bool {
        self.is_asking() || self.is_left()
    }

    /// Returns whether a question was left for later that is still open.
    fn is_left(&self) -> bool {
        self.left_approval().is_some() || (self.budget_left && !self.stopping)
    }

    /// Returns whether lines that are said now wait for a call that a person has to answer.
    pub(crate) fn waits_for_call(&self) -> bool {
        self.waits_for_person() && !self.view.waits_for_budget()
    }

    fn left_approval(&self) -> Option<&v1::ApprovalRequested> {
        let mut asked = self.view.pending_approvals().iter().filter(|_| !self.stopping);
        asked.find(|asked| self.left.contains(&asked.approval_id))
    }

    /// Returns whether a line reads as an answer to a question that was left for later. A line that begins with a blank
    /// does not.
    pub(crate) fn reads_as_left_answer(&self, line: &str) -> bool {
        let answers_budget =
            self.budget_left && !self.stopping && BudgetAnswer::read(line) != BudgetAnswer::Other;
        let answers_call = || self.left_form().is_some_and(|form| form.is_answer(line));
        !line.starts_with(char::is_whitespace) && (answers_budget || answers_call())
    }

    fn left_form(&self) -> Option<AnswerForm> {
        let asked = self.left_approval()?;
        let prompt = asked.prompt.clone().unwrap_or_default();
        Some(AnswerForm::of(&asked.approval_id, &asked.risk_name(), &prompt, &self.view.scope))
    }

    /// Returns how lines answer the approval that is asked about, or was left for later.
    pub(crate) fn open_form(&self) -> Option<AnswerForm> {
        match &self.asking {
            PendingQuestion::Approval { form, .. } => Some((**form).clone()),
            PendingQuestion::Nothing | PendingQuestion::Words | PendingQuestion::Budget => self.left_form(),
        }
    }

    /// Asks again what is open, and what was left for later; returns whether there is any such question.
    pub(crate) async fn ask_again(&mut self) -> Result<bool, Failure> {
        if !self.waits_for_person() {
            return Ok(false);
        }
        self.close_question()?;
        self.left.clear();
        self.budget_left = false;
        self.on_screen = None;
        self.ask().await?;
        Ok(true)
    }

    /// Names in a line what is asked, and draws its prompt again: other text came between the question and its answer.
    pub(crate) fn remind(&mut self) -> Result<(), Failure> {
        let prompt = match &self.asking {
            PendingQuestion::Nothing => return Ok(()),
            PendingQuestion::Words => WORDS_PROMPT.to_owned(),
            PendingQuestion::Budget => BUDGET_PROMPT.to_owned(),
            PendingQuestion::Approval { approval_id, form } => {
                let mut pending = self.view.pending_approvals().iter();
                let asked = pending.find(|asked| asked.approval_id == *approval_id);
                if let Some(prompt) = asked.and_then(|asked| asked.prompt.as_ref()) {
                    self.seat.output.note(NoteKind::Ask, &call_line(prompt));
                }
                form.prompt()
            }
        };
        self.begin_prompt(&prompt)
    }

    /// Leaves an approval to be answered elsewhere. Where lines are typed, the program ends with it.
    pub(super) fn leave_for_later(&mut self, approval_id: &str) -> Result<Option<Exit>, Failure> {
        self.left.insert(approval_id.to_owned());
        self.close_question()?;
        self.say_how_to_approve(approval_id);
        match &self.seat.person {
            // Another call may wait as well.
            InteractionMode::WatchedKeyboard { .. } => self.ask_approval(),
            InteractionMode::LinePrompt(_) | InteractionMode::Unattended => Ok(Some(Exit::Withheld)),
        }
    }

    /// Shows that a chat takes lines while its run waits for what was left for later. The next output erases it.
    pub(super) fn show_idle_prompt(&self) {
        let is_chat = matches!(self.seat.person, InteractionMode::WatchedKeyboard { .. });
        if is_chat && !self.is_asking() && self.is_left() {
            self.seat.output.progress(IDLE_PROMPT);
        }
    }

    /// Says how the approval is answered later: in a chat by its own command.
    pub(super) fn how_to_approve(&self, approval: &str) -> String {
        match &self.seat.person {
            InteractionMode::WatchedKeyboard { .. } => format!(
                "left open: /approve asks it again here; in a shell, `palyra approve show {}` shows it, and `palyra approve yes` or `no` with that id answers it",
                short_id(approval)
            ),
            InteractionMode::LinePrompt(_) | InteractionMode::Unattended => {
                let mut pending = self.view.pending_approvals().iter();
                let asked = pending.find(|asked| asked.approval_id == approval);
                let risk = asked.map(v1::ApprovalRequested::risk_name).unwrap_or_default();
                waits_for(&self.seat.output.id(approval), &risk)
            }
        }
    }

    /// Says what becomes of the run when the person stops watching it.
    pub(crate) fn parting_words(&self) -> String {
        let run = self.run.run().map_or_else(|| "last".to_owned(), |run| short_id(&run.to_string()));
        match &self.asking {
            _ if self.view.waits_for_budget() => {
                format!("the run waits for a budget; `palyra budget go-on {run}` lets it go on once")
            }
            PendingQuestion::Words => {
                format!("the run waits for your answer; `palyra runs answer {run} TEXT` gives it")
            }
            PendingQuestion::Nothing if self.left_approval().is_none() => {
                format!("the run goes on; `palyra runs tail {run}` shows how it ends")
            }
            PendingQuestion::Nothing | PendingQuestion::Budget | PendingQuestion::Approval { .. } => {
                "the run waits for your answer; `palyra approve` asks for it again".to_owned()
            }
        }
    }
}

fn waits_for(approval: &str, risk: &str) -> String {
    let code = if is_risky(risk) { ", which asks for a code at a terminal" } else { "" };
    format!(
        "the run waits; `palyra approve yes {approval}` approves{code}; `palyra approve no {approval}` denies it"
    )
}
