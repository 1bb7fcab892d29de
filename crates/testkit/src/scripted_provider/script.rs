//! What a scripted model does for one request.

use std::time::Duration;

use palyra_types::Content;
use palyra_types::model::{
    FinishReason, ModelAnswer, ModelFailure, ModelFailureClass, ModelName, ModelRef, ProviderContinuation,
    RawModelAnswer, RawToolProposal, TokenUsage, ToolProposal,
};
use palyra_types::tool::ToolName;

use super::gate::Gate;

/// One thing that happens.
#[derive(Debug, Clone)]
pub(super) enum ScriptStep {
    Text(String),
    Reasoning(String),
    Pause(Duration),
    Hold(Gate),
    Hang,
    Panic,
    Answer(RawModelAnswer),
    Fail(ModelFailure),
}

/// How a script ends.
#[derive(Debug, Clone)]
enum ScriptEnding {
    Answer,
    Fail(ModelFailure),
    Hang,
    Silence,
    Panic,
}

/// One answer, written down in order; ends with an answer unless told otherwise.
#[derive(Debug, Clone)]
pub struct Script {
    steps: Vec<ScriptStep>,
    proposals: Vec<RawToolProposal>,
    finish: Option<FinishReason>,
    usage: Option<TokenUsage>,
    continuation: Option<String>,
    response_id: Option<String>,
    answered_by: Option<ModelName>,
    ending: ScriptEnding,
}

impl Default for Script {
    fn default() -> Self {
        Self::new()
    }
}

impl Script {
    /// Makes a script that answers with nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            steps: Vec::new(),
            proposals: Vec::new(),
            finish: None,
            usage: None,
            continuation: None,
            response_id: None,
            answered_by: None,
            ending: ScriptEnding::Answer,
        }
    }

    /// Says a piece of text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.steps.push(ScriptStep::Text(text.to_owned()));
        self
    }

    /// Shows a piece of reasoning.
    #[must_use]
    pub fn reasoning(mut self, text: &str) -> Self {
        self.steps.push(ScriptStep::Reasoning(text.to_owned()));
        self
    }

    /// Wants this back with the answer in later requests; of the form `scripted/1`.
    #[must_use]
    pub fn continuation(mut self, body: &str) -> Self {
        self.continuation = Some(body.to_owned());
        self
    }

    /// Names its answer.
    #[must_use]
    pub fn response_id(mut self, id: &str) -> Self {
        self.response_id = Some(id.to_owned());
        self
    }

    /// Says several pieces of text.
    #[must_use]
    pub fn texts(self, texts: &[&str]) -> Self {
        texts.iter().fold(self, |script, text| script.text(text))
    }

    /// Waits by the clock.
    #[must_use]
    pub fn pause(mut self, span: Duration) -> Self {
        self.steps.push(ScriptStep::Pause(span));
        self
    }

    /// Waits for the test.
    #[must_use]
    pub fn hold(mut self, gate: &Gate) -> Self {
        self.steps.push(ScriptStep::Hold(gate.clone()));
        self
    }

    /// Proposes a call in the answer; `arguments` goes out as written, well-formed or not.
    #[must_use]
    pub fn call(mut self, tool: &str, arguments: &str) -> Self {
        self.proposals.push(ToolProposal {
            model_call_id: Content::new(format!("call-{}", self.proposals.len() + 1)),
            tool: ToolName::new(tool),
            arguments: arguments.into(),
        });
        self
    }

    /// Reports usage.
    #[must_use]
    pub fn usage(mut self, usage: TokenUsage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Ends for another reason than its proposals suggest.
    #[must_use]
    pub fn finish(mut self, finish: FinishReason) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Ends with a failure of a class.
    #[must_use]
    pub fn fail(self, class: ModelFailureClass) -> Self {
        self.fail_with(ModelFailure { class, detail: "scripted".into(), retry_after: None })
    }

    /// Ends with exactly this failure.
    #[must_use]
    pub fn fail_with(mut self, failure: ModelFailure) -> Self {
        self.ending = ScriptEnding::Fail(failure);
        self
    }

    /// Names another model than the one that was asked.
    #[must_use]
    pub fn answered_by(mut self, model: &str) -> Self {
        self.answered_by = Some(ModelName::new(model));
        self
    }

    /// Never ends.
    #[must_use]
    pub fn hang(mut self) -> Self {
        self.ending = ScriptEnding::Hang;
        self
    }

    /// Ends with neither answer nor failure, as no provider should.
    #[must_use]
    pub fn end_silently(mut self) -> Self {
        self.ending = ScriptEnding::Silence;
        self
    }

    /// Ends in a panic, as no provider should.
    #[must_use]
    pub fn panic(mut self) -> Self {
        self.ending = ScriptEnding::Panic;
        self
    }

    pub(super) fn into_steps(self, asked: &ModelRef, number: usize) -> Vec<ScriptStep> {
        let model = &asked.model;
        let mut steps = self.steps;
        let continuation = self.continuation.map(|body| ProviderContinuation {
            model: asked.clone(),
            format: "scripted/1".to_owned(),
            body: Content::new(body),
        });
        let natural = if self.proposals.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        match self.ending {
            ScriptEnding::Answer => steps.push(ScriptStep::Answer(ModelAnswer {
                response_id: Content::new(self.response_id.unwrap_or_else(|| format!("scripted-{number}"))),
                answered_by: self.answered_by.unwrap_or_else(|| model.clone()),
                finish: self.finish.unwrap_or(natural),
                usage: self.usage,
                proposals: self.proposals,
                continuation,
            })),
            ScriptEnding::Fail(failure) => steps.push(ScriptStep::Fail(failure)),
            ScriptEnding::Hang => steps.push(ScriptStep::Hang),
            ScriptEnding::Silence => {}
            ScriptEnding::Panic => steps.push(ScriptStep::Panic),
        }
        steps
    }
}
