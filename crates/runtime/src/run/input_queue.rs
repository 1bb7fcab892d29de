//! The inputs that wait for a run's next step.
//!
//! Owns their order and their bounds: a step takes a batch, and a full disk refuses callers. Knows no journal and no machine.

use palyra_ports::AppendError;
use palyra_run_core::text_entries::{TextChannel, output_entries, word_entries};
use palyra_run_core::{AnswerStage, JudgedCall, PreparedEffect, RunInput};
use palyra_types::effect::OutputRest;
use palyra_types::tool::ToolDecision;
use palyra_types::{Attempt, EffectId, Redacted};

use crate::error::RequestError;
use crate::run::mailbox::{RunCommand, answer_caller};

/// Inputs decided in one step, at most; what is left is the next step's.
pub(super) const BATCH_MAX: usize = 64;
/// Bytes that people, models and tools said in the inputs of one step, at most, unless one alone has more: what is
/// recorded of a step has to fit an append beside what the step itself adds.
const BATCH_BYTES_MAX: usize = 20 * 1024 * 1024;
/// Waiting inputs, at most, before the mailbox has to wait.
const HELD_MAX: usize = 256;

/// Inputs in the order in which they came.
#[derive(Default)]
pub(super) struct InputQueue(Vec<RunCommand>);

impl InputQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether there is enough for a step.
    pub(super) fn is_a_batch(&self) -> bool {
        self.0.len() >= BATCH_MAX
    }

    /// Returns whether no more should be taken in.
    pub(super) fn is_full(&self) -> bool {
        self.0.len() >= HELD_MAX
    }

    pub(super) fn push(&mut self, command: RunCommand) {
        self.0.push(command);
    }

    /// Holds an input that nobody waits for.
    pub(super) fn tell(&mut self, input: RunInput) {
        self.0.push(RunCommand::without_reply(input));
    }

    /// Holds words; an entry that already waits is filled first.
    pub(super) fn push_words(&mut self, channel: TextChannel, attempt: Attempt, text: &Redacted<String>) {
        let waiting = self.0.last_mut().map(|last| &mut last.input);
        let further = word_entries(waiting, channel, attempt, text);
        self.0.extend(further.into_iter().map(RunCommand::without_reply));
    }

    /// Holds what a tool printed; an entry that already waits is filled first.
    pub(super) fn push_output(&mut self, effect: EffectId, text: &Redacted<String>) {
        let further = output_entries(self.0.last_mut().map(|last| &mut last.input), effect, text);
        self.0.extend(further.into_iter().map(RunCommand::without_reply));
    }

    /// Returns what the next step decides.
    pub(super) fn batch(&self) -> &[RunCommand] {
        let mut bytes = 0_usize;
        let fits = |command: &&RunCommand| {
            let first = bytes == 0;
            bytes = bytes.saturating_add(bytes_of(command));
            first || bytes <= BATCH_BYTES_MAX
        };
        let fitting = self.0.iter().take(BATCH_MAX).take_while(fits).count();
        &self.0[..fitting]
    }

    /// Judges every answer to an approval; one that is refused goes home.
    pub(super) fn each_answer(
        &mut self,
        mut judge: impl FnMut(AnswerStage) -> Result<AnswerStage, RequestError>,
    ) {
        for RunCommand { input, beside, reply } in std::mem::take(&mut self.0) {
            let judged = if let RunInput::ApprovalAnswered(stage) = input {
                judge(stage).map(RunInput::ApprovalAnswered)
            } else {
                Ok(input)
            };
            match judged {
                Ok(input) => self.push(RunCommand { input, beside, reply }),
                Err(error) => answer_caller(reply, Err(error)),
            }
        }
    }

    /// Shows every call that can be prepared, and takes what policy says to it now.
    pub(super) fn each_prepared(
        &mut self,
        mut judge: impl FnMut(EffectId, &PreparedEffect) -> Option<Box<ToolDecision>>,
    ) {
        for command in &mut self.0 {
            if let RunInput::ToolPrepared { effect, prepared: Ok(prepared), judged, .. } = &mut command.input
            {
                *judged = judge(*effect, prepared);
            }
        }
    }

    /// Shows every judged call of the answers that are held.
    pub(super) fn each_judged(&mut self, mut see: impl FnMut(&mut JudgedCall)) {
        for command in &mut self.0 {
            if let RunInput::Answered { calls, .. } = &mut command.input {
                calls.iter_mut().for_each(&mut see);
            }
        }
    }

    /// Takes out what a step has decided.
    pub(super) fn take(&mut self, decided: usize) -> impl Iterator<Item = RunCommand> {
        self.0.drain(..decided)
    }

    /// Refuses the inputs of people and clients, since there is no room. The first wish to stop stays, because no caller has to
    /// wait for it. What tools printed is left to their outcomes, which say so once there is room.
    pub(super) fn reject_pending(&mut self) {
        let mut stopping = false;
        for RunCommand { mut input, beside, reply } in std::mem::take(&mut self.0) {
            if let RunInput::ToolPrinted { text, rest, .. } = &mut input {
                (*text, *rest) = (Redacted::default(), OutputRest::InOutcome);
            }
            let stays = if matches!(input, RunInput::Cancel { .. }) {
                !std::mem::replace(&mut stopping, true)
            } else {
                !input.is_from_person()
            };
            if let Some(reply) = reply {
                // A caller that left does not want to know.
                let _ = reply.send(Err(AppendError::DiskFull.into()));
            }
            if stays {
                self.push(RunCommand { input, beside, reply: None });
            }
        }
    }

    /// Answers every caller with a failure and drops all inputs.
    pub(super) fn refuse(&mut self, error: &AppendError) {
        self.0.drain(..).for_each(|command| command.answer(Err(error.clone().into())));
    }
}

/// Returns the size of what a command brings to record.
fn bytes_of(command: &RunCommand) -> usize {
    let beside: usize = command.beside.blobs.iter().map(|blob| blob.expose().len()).sum();
    beside.saturating_add(command.input.content_bytes())
}
