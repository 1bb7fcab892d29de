//! An answer on its way into a run: what the model says becomes inputs, gathered into few entries.
//!
//! Owns the open request and the words held back. Text never waits for reasoning. Knows no machine.

use palyra_ports::{RedactStream, SecretFound};
use palyra_run_core::coalesce::TextCoalescer;
use palyra_run_core::text_entries::TextChannel;
use palyra_run_core::{JudgedCall, RunInput};
use palyra_types::model::{
    CONTINUATION_BYTES_MAX, ModelAnswer, ProviderContinuation, RawModelAnswer, RawToolProposal, ToolProposal,
};
use palyra_types::{Attempt, BootTime, Content, Redacted};

use crate::run::input_queue::InputQueue;
use crate::run::perform::call_model::{LiveModelCall, ModelStreamEvent};
use crate::run_context::RunContext;

/// Bytes of reasoning kept of one attempt, at most.
const REASONING_BYTES_MAX: usize = 256 * 1024;

/// Takes the place of reasoning beyond that.
const REASONING_CUT_OFF: &str = "\n(The rest of the reasoning is not kept.)";

/// The model request of a run, and what was heard of its answer. Dropping it aborts the request.
pub(super) struct LiveAnswer {
    call: LiveModelCall,
    text: ChannelCleaner,
    reasoning: ChannelCleaner,
    reasoning_bytes: usize,
}

/// Words of one voice: cleaned as they come, then gathered.
struct ChannelCleaner {
    cleaning: Box<dyn RedactStream>,
    gathered: TextCoalescer,
}

/// The calls of an answer, cleaned, with the verdicts on them.
pub(super) struct JudgedProposals {
    proposals: Vec<ToolProposal>,
    /// None for calls of functions that the client performs.
    calls: Vec<JudgedCall>,
}

impl JudgedProposals {
    /// Makes the calls of tools.
    pub(super) fn of_tools(calls: Vec<JudgedCall>) -> Self {
        Self { proposals: calls.iter().map(|call| call.proposal.clone()).collect(), calls }
    }

    /// Makes the calls of functions that the client performs.
    pub(super) fn of_client(proposals: Vec<ToolProposal>) -> Self {
        Self { proposals, calls: Vec::new() }
    }
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamProgress {
    Open,
    Over,
}

impl LiveAnswer {
    pub(super) fn new(call: LiveModelCall, run_context: &RunContext) -> Self {
        let spoken = || ChannelCleaner {
            cleaning: run_context.ports.redactor.begin(),
            gathered: TextCoalescer::default(),
        };
        Self { call, text: spoken(), reasoning: spoken(), reasoning_bytes: 0 }
    }

    /// Waits for the next piece; `None` when the task behind it ended without a last one.
    pub(super) async fn next(&mut self) -> Option<ModelStreamEvent> {
        self.call.pieces.recv().await
    }

    /// Returns the next piece if it is there.
    pub(super) fn next_ready(&mut self) -> Option<ModelStreamEvent> {
        self.call.pieces.try_recv().ok()
    }

    /// Returns when held words are due.
    pub(super) fn deadline(&self) -> Option<BootTime> {
        self.text.gathered.deadline().into_iter().chain(self.reasoning.gathered.deadline()).min()
    }

    /// Holds the words that are due by now for the next step.
    pub(super) fn take_time(&mut self, now: BootTime, inputs: &mut InputQueue) {
        let due = |spoken: &ChannelCleaner| spoken.gathered.deadline().is_some_and(|due| now >= due);
        if due(&self.reasoning) {
            self.flush_reasoning(now, inputs);
        }
        if due(&self.text) {
            self.flush_text(now, inputs);
        }
    }

    /// Turns a piece into inputs of the run.
    pub(super) fn take(
        &mut self,
        news: ModelStreamEvent,
        now: BootTime,
        run_context: &RunContext,
        judge: impl FnOnce(Vec<RawToolProposal>) -> JudgedProposals,
        inputs: &mut InputQueue,
    ) -> StreamProgress {
        let attempt = self.call.attempt;
        match news {
            ModelStreamEvent::Text(text) => {
                let clean = self.text.cleaning.push(Content::new(text.expose()));
                self.take_text(&clean, now, inputs);
                return StreamProgress::Open;
            }
            ModelStreamEvent::Reasoning(text) => {
                let clean = self.reasoning.cleaning.push(Content::new(text.expose()));
                self.take_reasoning(&clean, now, inputs);
                return StreamProgress::Open;
            }
            ModelStreamEvent::Answered(answer) => {
                self.end(now, inputs);
                let mut answer = bounded(answer, attempt);
                let JudgedProposals { proposals, calls } = judge(std::mem::take(&mut answer.proposals));
                let answer = unsecret(answer, proposals, &self.call, run_context);
                let model = self.call.request.model.clone();
                inputs.tell(RunInput::Answered { attempt, answer, model, calls });
            }
            // Taken by the run itself.
            ModelStreamEvent::Compacted(..) => return StreamProgress::Open,
            ModelStreamEvent::Failed(failure) => {
                self.end(now, inputs);
                inputs.tell(RunInput::ModelFailed {
                    attempt,
                    class: failure.class,
                    // Providers quote what they were sent.
                    detail: run_context.ports.redactor.redact(failure.detail).text,
                    retry_after: failure.retry_after,
                });
            }
        }
        StreamProgress::Over
    }

    fn take_text(&mut self, clean: &Redacted<String>, now: BootTime, inputs: &mut InputQueue) {
        if clean.expose().is_empty() {
            return;
        }
        if let Some(due) = self.text.gathered.push(clean, now) {
            // What was thought first is recorded first.
            self.flush_reasoning(now, inputs);
            inputs.push_words(TextChannel::Text, self.call.attempt, &due);
        }
    }

    fn take_reasoning(&mut self, clean: &Redacted<String>, now: BootTime, inputs: &mut InputQueue) {
        let kept = self.kept_reasoning(clean);
        if kept.expose().is_empty() {
            return;
        }
        if let Some(due) = self.reasoning.gathered.push(&kept, now) {
            inputs.push_words(TextChannel::Reasoning, self.call.attempt, &due);
        }
    }

    /// Cuts reasoning off where it becomes too much.
    fn kept_reasoning(&mut self, text: &Redacted<String>) -> Redacted<String> {
        let before = self.reasoning_bytes;
        self.reasoning_bytes = before.saturating_add(text.expose().len());
        if self.reasoning_bytes <= REASONING_BYTES_MAX {
            text.clone()
        } else if before <= REASONING_BYTES_MAX {
            let (kept, _) = text.split_at(REASONING_BYTES_MAX - before);
            [kept, REASONING_CUT_OFF.into()].into_iter().collect()
        } else {
            Redacted::default()
        }
    }

    /// Holds everything that was said, and what the cleaning held back.
    pub(super) fn end(&mut self, now: BootTime, inputs: &mut InputQueue) {
        let thought = self.reasoning.cleaning.finish();
        self.take_reasoning(&thought, now, inputs);
        self.flush_reasoning(now, inputs);
        let said = self.text.cleaning.finish();
        self.take_text(&said, now, inputs);
        self.flush_text(now, inputs);
    }

    fn flush_text(&mut self, now: BootTime, inputs: &mut InputQueue) {
        if let Some(text) = self.text.gathered.flush(now) {
            inputs.push_words(TextChannel::Text, self.call.attempt, &text);
        }
    }

    fn flush_reasoning(&mut self, now: BootTime, inputs: &mut InputQueue) {
        if let Some(text) = self.reasoning.gathered.flush(now) {
            inputs.push_words(TextChannel::Reasoning, self.call.attempt, &text);
        }
    }
}

/// Drops what a provider wants back when a secret is in it: it is signed, so nothing of it can be replaced.
fn unsecret(
    answer: RawModelAnswer,
    proposals: Vec<ToolProposal>,
    request: &LiveModelCall,
    run_context: &RunContext,
) -> ModelAnswer {
    let attempt = request.attempt;
    let asked = request.request.model.model.clone();
    let redactor = &run_context.ports.redactor;
    // The provider's own id, which nothing is found by.
    let response_id = redactor.check(answer.response_id).unwrap_or_default();
    let continuation = answer.continuation.and_then(|kept| match redactor.check(kept.body) {
        Ok(body) => Some(ProviderContinuation { model: kept.model, format: kept.format, body }),
        Err(SecretFound { .. }) => {
            tracing::warn!(%attempt, "data that the provider wants returned contains a secret and is dropped");
            None
        }
    });
    let RawModelAnswer { answered_by, finish, usage, .. } = answer;
    // A provider may name any model; the one that was asked is recorded instead of a secret.
    let answered_by = redactor.check(Content::new(answered_by)).map_or(asked, Redacted::into_exposed);
    ModelAnswer { response_id, answered_by, finish, usage, proposals, continuation }
}

/// Drops what a provider wants back when it is more than a tape takes; it then answers without it.
fn bounded(answer: RawModelAnswer, attempt: Attempt) -> RawModelAnswer {
    let bytes = answer.continuation.as_ref().map_or(0, |kept| kept.body.expose().len());
    if bytes <= CONTINUATION_BYTES_MAX {
        return answer;
    }
    tracing::warn!(%attempt, bytes, "data that the provider wants returned is too large and is dropped");
    RawModelAnswer { continuation: None, ..answer }
}
