//! Lists and tests the models that can be asked, and has them make vectors of texts.

mod candidates;
pub mod embeddings;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use palyra_ports::model_directory::ModelDirectory;
use palyra_ports::{Clock, ModelInfo, ModelProvider, Recorder, Redactor};
use palyra_types::model::{
    ARGUMENTS_BYTES_MAX, ChatMessage, CleanedFailure, ModelFailure, ModelFailureClass, ModelPiece, ModelRef,
    ModelRequest, PROPOSALS_MAX, ProviderName, RawModelAnswer, TokenUsage,
};
use palyra_types::sampling::SamplingOptions;
use palyra_types::tool::ToolCatalog;
use palyra_types::{BootTime, Redacted};
use tokio::sync::watch;

use crate::budgets::AuxiliaryBudgets;
use crate::error::AdminError;
use crate::image_test::ImageSupport;
use embeddings::EmbeddingSlots;

pub use candidates::{ModelChain, ModelChoice, ModelOrder, candidates, chain, chain_of_run};

/// How long a test of a model may take.
const TEST_SPAN_MAX: Duration = Duration::from_secs(60);
/// How much of a test's answer is kept, in bytes.
const TEST_TEXT_BYTES_MAX: usize = 2_048;

/// Lists and tests models, and has them make vectors of texts.
#[derive(Clone)]
pub struct ModelsHandle {
    models: watch::Receiver<Arc<ModelDirectory>>,
    clock: Arc<dyn Clock>,
    redactor: Arc<dyn Redactor>,
    recorder: Recorder,
    budgets: AuxiliaryBudgets,
    embeddings: EmbeddingSlots,
}

/// The models of one provider, or why it did not say.
pub type ProviderModels = (ProviderName, Result<Vec<ModelInfo>, CleanedFailure>);

/// What came of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTest {
    /// What it said, cut to 2 KiB.
    pub text: Redacted<String>,
    /// Time to the first text.
    pub first_text: Duration,
    /// Time in all.
    pub total: Duration,
    /// What it used, if the provider said.
    pub usage: Option<TokenUsage>,
    /// Whether it takes images.
    pub images: ImageSupport,
}

/// Whether a test shows a picture to a model that is not known to take images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryImage {
    /// It does not.
    No,
    /// It does.
    Yes,
}

impl ModelsHandle {
    /// Makes a handle.
    #[must_use]
    pub fn new(
        models: &watch::Receiver<Arc<ModelDirectory>>,
        clock: &Arc<dyn Clock>,
        redactor: &Arc<dyn Redactor>,
        recorder: &Recorder,
        budgets: AuxiliaryBudgets,
    ) -> Self {
        Self {
            models: models.clone(),
            clock: Arc::clone(clock),
            redactor: Arc::clone(redactor),
            recorder: recorder.clone(),
            budgets,
            embeddings: EmbeddingSlots::default(),
        }
    }

    /// Returns the directory in force.
    #[must_use]
    pub fn directory(&self) -> Arc<ModelDirectory> {
        Arc::clone(&self.models.borrow())
    }

    /// Asks every provider which models it has.
    pub async fn ask_all(&self) -> Vec<ProviderModels> {
        let directory = self.directory();
        let asked = directory.providers().map(|provider| {
            let (name, models) = (provider.name(), provider.models());
            async move { (name, models.await.map_err(|failure| cleaned(&*self.redactor, failure))) }
        });
        futures::future::join_all(asked).await
    }

    /// Asks a model for one short answer, without recording anything.
    ///
    /// # Errors
    /// [`AdminError::ModelNotConfigured`]; [`AdminError::Model`] when the provider fails.
    pub async fn test(
        &self,
        model: Option<ModelRef>,
        try_image: TryImage,
    ) -> Result<(ModelRef, ModelTest), AdminError> {
        let directory = self.directory();
        let model = model.unwrap_or_else(|| directory.default_model().clone());
        let provider = directory
            .provider(&model)
            .ok_or_else(|| AdminError::ModelNotConfigured { model: model.to_string() })?;
        provider.end_pause();
        let mut test = self.test_server(provider, &model, TEST_SPAN_MAX).await?;
        if test.images == ImageSupport::Unknown && try_image == TryImage::Yes {
            let deadline = self.clock.boot().after(TEST_SPAN_MAX);
            let shown = crate::image_test::try_image(provider, &model);
            test.images = tokio::select! {
                images = shown => images,
                () = self.clock.sleep_until(deadline) => ImageSupport::NotSeen,
            };
            if test.images == ImageSupport::NotSeen {
                directory.note_blind(&model);
            }
        }
        Ok((model, test))
    }

    /// Asks a model of a server for one short answer within a span, whether the server is in the directory or not.
    ///
    /// # Errors
    /// [`AdminError::Model`] when the provider fails, or does not answer in time.
    pub async fn test_server(
        &self,
        provider: &Arc<dyn ModelProvider>,
        model: &ModelRef,
        span: Duration,
    ) -> Result<ModelTest, AdminError> {
        let deadline = self.clock.boot().after(span);
        let answer = self.ask(Arc::clone(provider), model.clone());
        tokio::select! {
            test = answer => Ok(test.map_err(|failure| cleaned(&*self.redactor, failure))?),
            () = self.clock.sleep_until(deadline) => {
                Err(AdminError::Model(cleaned(&*self.redactor, silence())))
            }
        }
    }

    async fn ask(
        &self,
        provider: Arc<dyn ModelProvider>,
        model: ModelRef,
    ) -> Result<ModelTest, ModelFailure> {
        let request = ModelRequest {
            model,
            system: "Answer with one short sentence.".into(),
            messages: vec![ChatMessage::user("Say hello.".into())],
            tools: Arc::new(ToolCatalog::default()),
            client_tools: None,
            output_tokens_max: Some(64),
            response_format: None,
            sampling: SamplingOptions::default(),
        };
        let clock = &self.clock;
        let started = clock.boot();
        let mut first: Option<BootTime> = None;
        let mut text = String::new();
        let sees = provider.model_info(&request.model.model).capabilities.images;
        let images = if sees { ImageSupport::Known } else { ImageSupport::Unknown };
        let mut stream = provider.stream(Arc::new(request));
        while let Some(piece) = stream.next().await {
            match piece? {
                ModelPiece::Text(piece) => {
                    first.get_or_insert_with(|| clock.boot());
                    if text.len() < TEST_TEXT_BYTES_MAX {
                        text.push_str(piece.expose());
                    }
                }
                ModelPiece::Reasoning(_) => {}
                ModelPiece::Answer(answer) => {
                    let ended = clock.boot();
                    return Ok(ModelTest {
                        text: self.redactor.redact(text.into()).text,
                        first_text: first.unwrap_or(ended).since(started),
                        total: ended.since(started),
                        usage: answer.usage,
                        images,
                    });
                }
            }
        }
        Err(broken_off())
    }
}

/// The failure of a stream that ended without an answer: an invariant of the provider's adapter.
#[must_use]
pub fn broken_off() -> ModelFailure {
    failure(ModelFailureClass::Malformed, "the provider's stream ended without an answer")
}

fn cleaned(redactor: &dyn Redactor, failure: ModelFailure) -> CleanedFailure {
    let ModelFailure { class, detail, retry_after } = failure;
    ModelFailure { class, detail: redactor.redact(detail).text, retry_after }
}

/// Refuses an answer that cannot be recorded whole.
///
/// # Errors
/// A malformed answer.
pub fn check_proposals(answer: &RawModelAnswer) -> Result<(), ModelFailure> {
    let bytes: usize = answer.proposals.iter().map(|call| call.arguments.expose().len()).sum();
    let detail = if answer.proposals.len() > PROPOSALS_MAX {
        format!(
            "the model asked for {} calls at once; at most {PROPOSALS_MAX} are taken",
            answer.proposals.len()
        )
    } else if bytes > ARGUMENTS_BYTES_MAX {
        format!("the model wrote {bytes} bytes of arguments; at most {ARGUMENTS_BYTES_MAX} are taken")
    } else {
        return Ok(());
    };
    Err(failure(ModelFailureClass::Malformed, &detail))
}

/// Makes a failure that this side noticed.
#[must_use]
pub fn failure(class: ModelFailureClass, detail: &str) -> ModelFailure {
    ModelFailure { class, detail: detail.into(), retry_after: None }
}

fn silence() -> ModelFailure {
    failure(ModelFailureClass::Timeout, "no complete answer came in time")
}
