//! An answer on its way into a run: what the model says becomes inputs, gathered into few entries.
//!
//! Owns the open request and the words held back. Text never waits for reasoning. Knows no machine.

use palyra_run_core::coalesce::TextCoalescer;
use palyra_run_core::{JudgedCall, RunInput};
use palyra_types::model::{CONTINUATION_BYTES_MAX, ModelAnswer};
use palyra_types::{Attempt, BootTime, Redacted};

use crate::engine::Engine;
use crate::run::held::{Held, Voice};
use crate::run::perform::call_model::{LiveModelCall, ModelNews, judge};

/// Bytes of reasoning kept of one attempt, at most.
const REASONING_BYTES_MAX: usize = 256 * 1024;

/// Takes the place of reasoning beyond that.
const REASONING_CUT_OFF: &str = "\n(The rest of the reasoning is not kept.)";

/// The model request of a run, and what was heard of its answer. Dropping it aborts the request.
pub(super) struct LiveAnswer {
    call: LiveModelCall,
    text: TextCoalescer,
    reasoning: TextCoalescer,
    reasoning_bytes: usize,
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    Open,
    Over,
}

impl LiveAnswer {
    pub(super) fn new(call: LiveModelCall) -> Self {
        Self { call, text: TextCoalescer::default(), reasoning: TextCoalescer::default(), reasoning_bytes: 0 }
    }

    /// Waits for the next piece; `None` when the task behind it ended without a last one.
    pub(super) async fn next(&mut self) -> Option<ModelNews> {
        self.call.pieces.recv().await
    }

    /// Returns the next piece if it is there.
    pub(super) fn next_ready(&mut self) -> Option<ModelNews> {
        self.call.pieces.try_recv().ok()
    }

    /// Returns when held words are due.
    pub(super) fn deadline(&self) -> Option<BootTime> {
        self.text.deadline().into_iter().chain(self.reasoning.deadline()).min()
    }

    /// Holds the words that are due by now for the next step.
    pub(super) fn take_time(&mut self, now: BootTime, held: &mut Held) {
        let due = |coalescer: &TextCoalescer| coalescer.deadline().is_some_and(|due| now >= due);
        if due(&self.reasoning) {
            self.flush_reasoning(now, held);
        }
        if due(&self.text) {
            self.flush_text(now, held);
        }
    }

    /// Turns a piece into inputs of the run.
    pub(super) fn take(
        &mut self,
        news: ModelNews,
        now: BootTime,
        engine: &Engine,
        salt: &Redacted<[u8; 32]>,
        held: &mut Held,
    ) -> Heard {
        let attempt = self.call.attempt;
        match news {
            ModelNews::Text(text) => {
                let text = engine.ports.redactor.redact(text);
                if let Some(due) = self.text.push(text.expose(), now) {
                    // What was thought first is recorded first.
                    self.flush_reasoning(now, held);
                    held.push_words(Voice::Text, attempt, &due);
                }
                return Heard::Open;
            }
            ModelNews::Reasoning(text) => {
                let text = engine.ports.redactor.redact(text);
                let kept = self.kept_reasoning(text.expose());
                if let Some(due) = self.reasoning.push(&kept, now) {
                    held.push_words(Voice::Reasoning, attempt, &due);
                }
                return Heard::Open;
            }
            ModelNews::Answered(answer) => {
                self.flush(now, held);
                let answer = bounded(answer, attempt);
                let proposals = answer.proposals.iter().cloned();
                let calls: Vec<JudgedCall> =
                    proposals.map(|proposal| judge(engine, salt, proposal)).collect();
                let model = self.call.request.model.clone();
                held.tell(RunInput::Answered { attempt, answer, model, calls });
            }
            ModelNews::Failed(failure) => {
                self.flush(now, held);
                held.tell(RunInput::ModelFailed {
                    attempt,
                    class: failure.class,
                    // Providers quote what they were sent.
                    detail: engine.ports.redactor.redact(failure.detail),
                    retry_after: failure.retry_after,
                });
            }
        }
        Heard::Over
    }

    /// Cuts reasoning off where it becomes too much.
    fn kept_reasoning(&mut self, text: &str) -> String {
        let before = self.reasoning_bytes;
        self.reasoning_bytes = before.saturating_add(text.len());
        if self.reasoning_bytes <= REASONING_BYTES_MAX {
            text.to_owned()
        } else if before <= REASONING_BYTES_MAX {
            let room = text.floor_char_boundary(REASONING_BYTES_MAX - before);
            [&text[..room], REASONING_CUT_OFF].concat()
        } else {
            String::new()
        }
    }

    fn flush(&mut self, now: BootTime, held: &mut Held) {
        self.flush_reasoning(now, held);
        self.flush_text(now, held);
    }

    fn flush_text(&mut self, now: BootTime, held: &mut Held) {
        if let Some(text) = self.text.flush(now) {
            held.push_words(Voice::Text, self.call.attempt, &text);
        }
    }

    fn flush_reasoning(&mut self, now: BootTime, held: &mut Held) {
        if let Some(text) = self.reasoning.flush(now) {
            held.push_words(Voice::Reasoning, self.call.attempt, &text);
        }
    }
}

/// Drops what a provider wants back when it is more than a tape takes; it then answers without it.
fn bounded(answer: ModelAnswer, attempt: Attempt) -> ModelAnswer {
    let bytes = answer.continuation.as_ref().map_or(0, |kept| kept.body.expose().len());
    if bytes <= CONTINUATION_BYTES_MAX {
        return answer;
    }
    tracing::warn!(%attempt, bytes, "what the provider wants back is too large, and dropped");
    ModelAnswer { continuation: None, ..answer }
}
