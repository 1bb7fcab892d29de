//! A model for vectors that can be foreseen, and that fails and waits when a test says so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use palyra_ports::embed_texts::{
    EmbedError, EmbedTexts, EmbeddingModel, EmbeddingModelName, EmbeddingRequest, TextEmbeddings,
};
use palyra_types::model::{TokenUsage, UsageSource};

use crate::scripted_provider::Gate;

/// Components of a vector, and at most so many where a request asks for another number.
const DIMENSIONS: u32 = 6;
const DIMENSIONS_MAX: u32 = 64;

/// Makes a vector of the letters of a text.
#[derive(Clone)]
pub struct ScriptedEmbeddings {
    name: EmbeddingModelName,
    script: Arc<Mutex<EmbeddingScript>>,
}

#[derive(Default)]
struct EmbeddingScript {
    errors: VecDeque<EmbedError>,
    gate: Option<Gate>,
    requests: Vec<EmbeddingRequest>,
}

impl ScriptedEmbeddings {
    /// Makes a model of this name.
    #[must_use]
    pub fn new(name: EmbeddingModelName) -> Self {
        Self { name, script: Arc::default() }
    }

    /// Fails the next request.
    pub fn fail(&self, error: EmbedError) {
        self.with(|script| script.errors.push_back(error));
    }

    /// Lets the requests from now on wait for a gate.
    pub fn hold(&self, gate: &Gate) {
        self.with(|script| script.gate = Some(gate.clone()));
    }

    /// Returns the texts of all requests so far.
    #[must_use]
    pub fn texts(&self) -> Vec<Vec<String>> {
        let texts =
            |request: &EmbeddingRequest| request.texts().iter().map(|text| text.expose().clone()).collect();
        self.with(|script| script.requests.iter().map(texts).collect())
    }

    fn with<T>(&self, change: impl FnOnce(&mut EmbeddingScript) -> T) -> T {
        change(&mut self.script.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl EmbedTexts for ScriptedEmbeddings {
    fn embedding_model(&self) -> EmbeddingModel {
        EmbeddingModel { name: self.name.clone(), dimensions: Some(DIMENSIONS), note: "for tests".to_owned() }
    }

    fn embed(&self, request: EmbeddingRequest) -> BoxFuture<'static, Result<TextEmbeddings, EmbedError>> {
        let model = self.clone();
        async move {
            let (error, gate) = model.with(|script| {
                script.requests.push(request.clone());
                (script.errors.pop_front(), script.gate.clone())
            });
            if let Some(gate) = gate {
                gate.pass().await;
            }
            if let Some(error) = error {
                return Err(error);
            }
            let dimensions = request.dimensions().unwrap_or(DIMENSIONS);
            if dimensions > DIMENSIONS_MAX {
                return Err(EmbedError::Dimensions { asked: dimensions, offered: DIMENSIONS });
            }
            let vectors =
                request.texts().iter().map(|text| letter_vector(text.expose(), dimensions)).collect();
            let usage = TokenUsage {
                input_tokens: request.bytes().div_ceil(4) as u64,
                source: UsageSource::Estimated,
                ..TokenUsage::default()
            };
            Ok(TextEmbeddings::new(vectors, request.texts().len(), usage).expect("vectors of one size"))
        }
        .boxed()
    }
}

/// Returns a vector of length 1 that depends on the characters of a text and on their places.
#[must_use]
pub fn letter_vector(text: &str, dimensions: u32) -> Vec<f32> {
    let mut numbers = vec![0.5_f32; dimensions as usize];
    for (at, letter) in text.chars().enumerate() {
        let place = (at + letter as usize) % numbers.len();
        #[expect(clippy::cast_precision_loss, reason = "a number below 97")]
        let weight = (letter as u32 % 97) as f32;
        numbers[place] += weight / 31.0;
    }
    let length = numbers.iter().map(|number| number * number).sum::<f32>().sqrt();
    numbers.iter().map(|number| number / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding_suite::{check_embeddings, embedding_request};

    #[tokio::test]
    async fn the_scripted_model_conforms_and_fails_when_it_is_asked_to() {
        let model = ScriptedEmbeddings::new(EmbeddingModelName::Embedded);
        check_embeddings(&model).await;
        model.fail(EmbedError::Busy);
        assert_eq!(model.embed(embedding_request(&["a"], None)).await, Err(EmbedError::Busy));
        assert!(model.embed(embedding_request(&["a"], None)).await.is_ok());
        assert_eq!(model.texts().last(), Some(&vec!["a".to_owned()]));
    }
}
