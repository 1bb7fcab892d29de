//! Whether a model of this daemon has ever answered.
//!
//! Owns a count of requests under way and two marks, over every provider and every reload. Invariant: the marks are only
//! ever set, and a request whose stream is dropped sets none.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use palyra_ports::{EmbeddingRequest, ModelInfo, ModelProvider, ProviderHealth, TextEmbeddings};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};

/// The marks. Cheap to clone; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelAnswers {
    marks: Arc<AnswerMarks>,
}

#[derive(Debug, Default)]
struct AnswerMarks {
    under_way: AtomicUsize,
    has_failed: AtomicBool,
    has_answered: AtomicBool,
}

impl ModelAnswers {
    /// Returns whether models were asked, and each request failed; one that is under way may still be answered.
    pub(crate) fn have_only_failed(&self) -> bool {
        let marks = &self.marks;
        marks.under_way.load(Ordering::Acquire) == 0
            && marks.has_failed.load(Ordering::Acquire)
            && !marks.has_answered.load(Ordering::Acquire)
    }

    /// Wraps a provider, whose requests are noted from then on.
    pub(crate) fn noted_of(&self, inner: Arc<dyn ModelProvider>) -> Arc<dyn ModelProvider> {
        Arc::new(NotedProvider { inner, answers: self.clone() })
    }

    /// Returns the marks of a daemon whose models were asked and have never answered.
    #[cfg(test)]
    pub(crate) fn of_failures() -> Self {
        let answers = Self::default();
        answers.marks.has_failed.store(true, Ordering::Release);
        answers
    }

    fn begin(&self) -> RequestUnderWay {
        self.marks.under_way.fetch_add(1, Ordering::AcqRel);
        RequestUnderWay { answers: self.clone() }
    }

    fn note(&self, piece: &Result<ModelPiece, ModelFailure>) {
        match piece {
            Ok(_) => self.marks.has_answered.store(true, Ordering::Release),
            Err(_) => self.marks.has_failed.store(true, Ordering::Release),
        }
    }
}

/// A request that is counted until it is dropped.
struct RequestUnderWay {
    answers: ModelAnswers,
}

impl Drop for RequestUnderWay {
    fn drop(&mut self) {
        self.answers.marks.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The decorator.
struct NotedProvider {
    inner: Arc<dyn ModelProvider>,
    answers: ModelAnswers,
}

impl ModelProvider for NotedProvider {
    fn name(&self) -> ProviderName {
        self.inner.name()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        self.inner.model_info(model)
    }

    fn why_unusable(&self) -> Option<String> {
        self.inner.why_unusable()
    }

    fn health(&self) -> ProviderHealth {
        self.inner.health()
    }

    fn first_token(&self, model: &ModelName) -> Option<Duration> {
        self.inner.first_token(model)
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.inner.note_images_seen(model);
    }

    fn end_pause(&self) {
        self.inner.end_pause();
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        self.inner.models()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let answers = self.answers.clone();
        let under_way = answers.begin();
        let pieces = self.inner.stream(request);
        let noted = pieces.inspect(move |piece| {
            // Counted for as long as the stream is there.
            let _ = &under_way;
            answers.note(piece);
        });
        noted.boxed()
    }

    fn embed(
        &self,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        self.inner.embed(model, request)
    }
}

#[cfg(test)]
mod tests {
    use palyra_demo_model::DemoProvider;

    use super::*;

    fn failed() -> Result<ModelPiece, ModelFailure> {
        let class = palyra_types::model::ModelFailureClass::Network;
        Err(ModelFailure { class, detail: "no".to_owned().into(), retry_after: None })
    }

    #[test]
    fn one_answer_counts_more_than_all_failures() {
        let answers = ModelAnswers::default();
        assert!(!answers.have_only_failed(), "it was not asked");
        answers.note(&failed());
        assert!(answers.have_only_failed());
        let under_way = answers.begin();
        assert!(!answers.have_only_failed(), "another request may be answered");
        drop(under_way);
        assert!(answers.clone().have_only_failed());
        answers.note(&Ok(ModelPiece::Text("yes".to_owned().into())));
        answers.note(&failed());
        assert!(!answers.have_only_failed());
    }

    #[test]
    fn a_noted_provider_is_the_same_one() {
        let noted = ModelAnswers::default().noted_of(Arc::new(DemoProvider));
        assert_eq!(noted.name(), DemoProvider.name());
        let model = ModelName::new("demo");
        assert_eq!(noted.model_info(&model), DemoProvider.model_info(&model));
        assert_eq!((noted.health(), noted.why_unusable()), (DemoProvider.health(), None));
    }
}
