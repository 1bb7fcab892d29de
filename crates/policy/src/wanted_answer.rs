//! What a run wants its final answer to look like, held against what the model says.
//!
//! Owns the words of one attempt as long as there is a schema to hold them against. An answer that does not fit is
//! a malformed one; what follows is the failure table's to say.

use palyra_types::model::{FinishReason, ModelFailure, ModelFailureClass, ModelRequest, RawModelAnswer};

use crate::answer::AnswerSchema;

/// Bytes of an answer that is held against a schema, at most.
const STRUCTURED_ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The schema of a run, if it has one, and what was said so far.
pub struct WantedAnswer {
    schema: Option<AnswerSchema>,
    said: String,
    bytes: usize,
}

impl WantedAnswer {
    /// Reads what a request asks for.
    ///
    /// # Errors
    /// A failure of the class `Permanent` for a schema that is none.
    pub fn of(request: &ModelRequest) -> Result<Self, ModelFailure> {
        let schema =
            request.response_format.as_ref().map(|format| AnswerSchema::compile(format.schema.expose()));
        let schema =
            schema.transpose().map_err(|error| failure(ModelFailureClass::Permanent, &error.to_string()))?;
        Ok(Self { schema, said: String::new(), bytes: 0 })
    }

    /// Takes a piece of text.
    pub fn hear(&mut self, text: &str) {
        if self.schema.is_some() {
            self.bytes = self.bytes.saturating_add(text.len());
            if self.bytes <= STRUCTURED_ANSWER_BYTES_MAX {
                self.said.push_str(text);
            }
        }
    }

    /// Checks a final answer; one that wants tools, or that a filter cut off, is not final.
    ///
    /// # Errors
    /// A failure of the class `Malformed` that says what does not fit.
    pub fn check(&self, answer: &RawModelAnswer) -> Result<(), ModelFailure> {
        let Some(schema) = &self.schema else { return Ok(()) };
        if !answer.proposals.is_empty() || answer.finish == FinishReason::ContentFilter {
            return Ok(());
        }
        let complaint = if self.bytes > STRUCTURED_ANSWER_BYTES_MAX {
            Some(format!("the answer: it is longer than {STRUCTURED_ANSWER_BYTES_MAX} bytes"))
        } else {
            schema.complaint(&self.said)
        };
        match complaint {
            None => Ok(()),
            Some(why) => {
                let detail = format!("the answer does not fit the schema: {why}");
                Err(failure(ModelFailureClass::Malformed, &detail))
            }
        }
    }
}

fn failure(class: ModelFailureClass, detail: &str) -> ModelFailure {
    ModelFailure { class, detail: detail.into(), retry_after: None }
}
