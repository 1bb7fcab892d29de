//! An answer on its way into a run: what the model says becomes inputs, gathered into few entries.
//!
//! Owns the open request and the words held back. Text never waits for reasoning. Knows no machine.

use palyra_ports::RedactStream;
use palyra_run_core::coalesce::TextCoalescer;
use palyra_run_core::{JudgedCall, RunInput};
use palyra_types::model::{CONTINUATION_BYTES_MAX, ModelAnswer, ToolProposal};
use palyra_types::{Attempt, BootTime, Redacted};

use crate::engine::Engine;
use crate::run::held::{Held, Voice};
use crate::run::perform::call_model::{LiveModelCall, ModelNews};

/// Bytes of reasoning kept of one attempt, at most.
const REASONING_BYTES_MAX: usize = 256 * 1024;

/// Takes the place of reasoning beyond that.
const REASONING_CUT_OFF: &str = "\n(The rest of the reasoning is not kept.)";

/// The model request of a run, and what was heard of its answer. Dropping it aborts the request.
pub(super) struct LiveAnswer {
    call: LiveModelCall,
    text: Spoken,
    reasoning: Spoken,
    reasoning_bytes: usize,
}

/// Words of one voice: cleaned as they come, then gathered.
struct Spoken {
    cleaning: Box<dyn RedactStream>,
    gathered: TextCoalescer,
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    Open,
    Over,
}

impl LiveAnswer {
    pub(super) fn new(call: LiveModelCall, engine: &Engine) -> Self {
        let spoken =
            || Spoken { cleaning: engine.ports.redactor.begin(), gathered: TextCoalescer::default() };
        Self { call, text: spoken(), reasoning: spoken(), reasoning_bytes: 0 }
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
        self.text.gathered.deadline().into_iter().chain(self.reasoning.gathered.deadline()).min()
    }

    /// Holds the words that are due by now for the next step.
    pub(super) fn take_time(&mut self, now: BootTime, held: &mut Held) {
        let due = |spoken: &Spoken| spoken.gathered.deadline().is_some_and(|due| now >= due);
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
        judge: impl FnOnce(Vec<ToolProposal>) -> Vec<JudgedCall>,
        held: &mut Held,
    ) -> Heard {
        let attempt = self.call.attempt;
        match news {
            ModelNews::Text(text) => {
                let clean = self.text.cleaning.push(text.expose());
                self.take_text(&clean, now, held);
                return Heard::Open;
            }
            ModelNews::Reasoning(text) => {
                let clean = self.reasoning.cleaning.push(text.expose());
                self.take_reasoning(&clean, now, held);
                return Heard::Open;
            }
            ModelNews::Answered(answer) => {
                self.end(now, held);
                let answer = unsecret(bounded(answer, attempt), attempt, engine);
                let calls = judge(answer.proposals.clone());
                let model = self.call.request.model.clone();
                held.tell(RunInput::Answered { attempt, answer, model, calls });
            }
            ModelNews::Failed(failure) => {
                self.end(now, held);
                held.tell(RunInput::ModelFailed {
                    attempt,
                    class: failure.class,
                    // Providers quote what they were sent.
                    detail: engine.ports.redactor.redact(failure.detail).text,
                    retry_after: failure.retry_after,
                });
            }
        }
        Heard::Over
    }

    fn take_text(&mut self, clean: &Redacted<String>, now: BootTime, held: &mut Held) {
        if clean.expose().is_empty() {
            return;
        }
        if let Some(due) = self.text.gathered.push(clean.expose(), now) {
            // What was thought first is recorded first.
            self.flush_reasoning(now, held);
            held.push_words(Voice::Text, self.call.attempt, &due);
        }
    }

    fn take_reasoning(&mut self, clean: &Redacted<String>, now: BootTime, held: &mut Held) {
        let kept = self.kept_reasoning(clean.expose());
        if kept.is_empty() {
            return;
        }
        if let Some(due) = self.reasoning.gathered.push(&kept, now) {
            held.push_words(Voice::Reasoning, self.call.attempt, &due);
        }
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

    /// Holds everything that was said, and what the cleaning held back.
    pub(super) fn end(&mut self, now: BootTime, held: &mut Held) {
        let thought = self.reasoning.cleaning.finish();
        self.take_reasoning(&thought, now, held);
        self.flush_reasoning(now, held);
        let said = self.text.cleaning.finish();
        self.take_text(&said, now, held);
        self.flush_text(now, held);
    }

    fn flush_text(&mut self, now: BootTime, held: &mut Held) {
        if let Some(text) = self.text.gathered.flush(now) {
            held.push_words(Voice::Text, self.call.attempt, &text);
        }
    }

    fn flush_reasoning(&mut self, now: BootTime, held: &mut Held) {
        if let Some(text) = self.reasoning.gathered.flush(now) {
            held.push_words(Voice::Reasoning, self.call.attempt, &text);
        }
    }
}

/// Drops what a provider wants back when a secret is in it: it is signed, so nothing of it can be replaced.
fn unsecret(answer: ModelAnswer, attempt: Attempt, engine: &Engine) -> ModelAnswer {
    let kept = answer.continuation.as_ref().map(|kept| kept.body.clone());
    let found = kept.map(|body| engine.ports.redactor.redact(body).findings.changed());
    if found != Some(true) {
        return answer;
    }
    tracing::warn!(%attempt, "data that the provider wants returned contains a secret and is dropped");
    ModelAnswer { continuation: None, ..answer }
}

/// Drops what a provider wants back when it is more than a tape takes; it then answers without it.
fn bounded(answer: ModelAnswer, attempt: Attempt) -> ModelAnswer {
    let bytes = answer.continuation.as_ref().map_or(0, |kept| kept.body.expose().len());
    if bytes <= CONTINUATION_BYTES_MAX {
        return answer;
    }
    tracing::warn!(%attempt, bytes, "data that the provider wants returned is too large and is dropped");
    ModelAnswer { continuation: None, ..answer }
}
