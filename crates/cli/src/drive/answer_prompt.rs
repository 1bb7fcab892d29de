//! The prompt of a run that waits for words of a person: its help, and the lines that it takes.

use palyra_wire::v1;

use super::{FollowedRun, InteractionMode, PendingQuestion, RunDriver};
use crate::exit::Exit;
use crate::failure::Failure;
use palyra_run_view::{BUDGET_PROMPT, BudgetAnswer, goes_on_words, how_to_resolve};
use palyra_terminal::NoteKind;

pub(super) const WORDS_PROMPT: &str = "? answer>";
/// Said in a chat of the question of a budget that is left for later.
const BUDGET_LEFT: &str = "left waiting for the budget: /approve asks again here, /cancel ends the run; what you type is kept until then";
/// A line that asks for help.
const HELP: &str = "?";
/// The key that leaves an approval for later.
const LATER: &str = "l";

impl<R: FollowedRun, F: FnMut(&v1::Opened)> RunDriver<'_, R, F> {
    /// Begins to ask for words that let the run go on.
    pub(super) fn ask_for_words(&mut self) -> Result<(), Failure> {
        self.seat.output.note(NoteKind::Doubt, &self.words_help());
        self.asking = PendingQuestion::Words;
        self.begin_prompt(WORDS_PROMPT)
    }

    /// Takes an empty line and one that asks for help; returns `false` for an answer.
    pub(super) fn take_no_words(&mut self, line: &str) -> Result<bool, Failure> {
        match line.trim() {
            "" => {}
            HELP => {
                if let Some(question) = self.view.model_question() {
                    self.seat.output.note(NoteKind::Ask, &format!("the model asks: {question}"));
                }
                self.seat.output.note(NoteKind::Info, &self.words_help());
            }
            // At an approval this key leaves; here a line is sent.
            LATER if line == LATER => {
                let message =
                    format!("\"{LATER}\" was not sent; a space before it sends it. {}", self.words_help());
                self.seat.output.note(NoteKind::Doubt, &message);
            }
            _ => return Ok(false),
        }
        self.begin_prompt(WORDS_PROMPT)?;
        Ok(true)
    }

    /// Begins to ask how the run goes on, which waits for a budget.
    pub(super) fn ask_about_budget(&mut self) -> Result<(), Failure> {
        self.asking = PendingQuestion::Budget;
        self.begin_prompt(BUDGET_PROMPT)
    }

    /// Takes a line that is typed there: no other line than an answer does anything.
    pub(super) async fn answer_budget(&mut self, line: &str) -> Result<Option<Exit>, Failure> {
        let help = match BudgetAnswer::read(line) {
            BudgetAnswer::GoOn => match self.run.go_on_once().await {
                Ok(answer) => {
                    self.close_question()?;
                    self.seat.output.note(NoteKind::Good, &goes_on_words(&answer));
                    return Ok(None);
                }
                Err(error) => {
                    Failure::from(error).show(self.seat.output);
                    return self.ask_about_budget().map(|()| None);
                }
            },
            BudgetAnswer::Cancel => return self.cancel().map(|()| None),
            BudgetAnswer::Leave if matches!(self.seat.person, InteractionMode::WatchedKeyboard { .. }) => {
                self.budget_left = true;
                self.close_question()?;
                self.seat.output.note(NoteKind::Doubt, BUDGET_LEFT);
                return Ok(None);
            }
            BudgetAnswer::Leave => {
                self.close_question()?;
                self.seat.output.note(NoteKind::Doubt, &self.parting_words());
                return Ok(Some(Exit::Withheld));
            }
            BudgetAnswer::Other => BudgetAnswer::help(line),
        };
        self.seat.output.note(NoteKind::Info, &help);
        self.ask_about_budget().map(|()| None)
    }

    fn words_help(&self) -> String {
        let what = match self.view.model_question() {
            Some(_) => "the next line you type is the answer",
            None if !self.view.unresolved().is_empty() => {
                "the run waits: the next line you type goes to the model, and the outcome stays unknown until that command settles it"
            }
            None => "the run waits: the next line you type lets it go on",
        };
        let leaves = match &self.seat.person {
            InteractionMode::WatchedKeyboard { .. } => "Ctrl-D leaves the chat and the question open",
            InteractionMode::LinePrompt(_) | InteractionMode::Unattended => "Ctrl-D leaves it for later",
        };
        format!("{what}; {leaves}, Ctrl-C cancels the run")
    }

    /// Says how a run that waits is answered from elsewhere.
    pub(super) fn say_how_to_answer(&self) {
        if self.view.waits_for_budget() {
            // The note about the budget names the ways on.
            return;
        }
        if let Some(asked) = self.view.pending_approvals().first() {
            return self.say_how_to_approve(&asked.approval_id);
        }
        let run =
            self.run.run().map_or_else(|| "last".to_owned(), |run| self.seat.output.id(&run.to_string()));
        let message = match self.view.unresolved().first() {
            Some(effect) => format!("the run waits; {}", how_to_resolve(&run, *effect)),
            None => format!(
                "the run waits; `palyra runs answer {run} TEXT` lets it go on, `palyra runs cancel {run}` ends it"
            ),
        };
        self.seat.output.note(NoteKind::Doubt, &message);
    }
}
