//! Vectors of texts for callers, by the models of the directory in force.
//!
//! Owns that secrets are taken out of the texts first, as of every text that goes to a model, and how many requests there are
//! at once. A request makes no run and leaves no entry but those of the budgets that it draws on. Begin at [`ModelsHandle::embed`].

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use palyra_governance::{AnswerProgress, ModelCandidate, ModelHealth, RequestOutcome};
use palyra_ports::embed_texts::{
    EmbedError, EmbeddingModelName, EmbeddingRequest, EmbeddingRequestError, TextEmbeddings,
};
use palyra_ports::{RedactionFindings, SecretFound};
use palyra_types::budget::{AuxiliaryPurpose, RequestSize};
use palyra_types::model::{BYTES_PER_TOKEN_ESTIMATED, CleanedFailure, ModelRef};
use palyra_types::{Content, ErrorCode, PrincipalId, Redacted};

use super::{ModelsHandle, cleaned, silence};
use crate::budgets::{AuxiliaryCall, AuxiliaryPayer, AuxiliaryRefusal};

/// Requests at once of all principals, those that wait for a model included.
pub const EMBEDDING_REQUESTS_MAX: usize = 64;
/// Requests at once of one principal.
pub const EMBEDDING_REQUESTS_OF_ONE_MAX: usize = 16;
/// How long a request may take, the wait for its turn included.
const EMBEDDING_SPAN_MAX: Duration = Duration::from_secs(300);

/// Texts that a caller wants vectors of.
#[derive(Debug, Clone)]
pub struct EmbeddingQuery {
    /// The model.
    pub model: EmbeddingModelName,
    /// The texts as they came in.
    pub texts: Vec<Content<String>>,
    /// Components of each vector; `None` for what is usual for the model.
    pub dimensions: Option<u32>,
}

/// Why a caller gets no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingRefusal {
    /// The model makes no vectors here.
    #[error(
        "model `{name}` makes no embeddings here; `embeddings.model` of the configuration names the model that does"
    )]
    UnknownModel {
        /// The model of the request.
        name: EmbeddingModelName,
    },
    /// The texts are beyond a limit.
    #[error(transparent)]
    Request(#[from] EmbeddingRequestError),
    /// The vectors of the model have another number of components.
    #[error("vectors of this model have {offered} dimensions, not {asked}")]
    Dimensions {
        /// How many were asked for.
        asked: u32,
        /// How many there are.
        offered: u32,
    },
    /// There are too many requests at once.
    #[error("too many requests for embeddings at once; repeat the request later")]
    Busy,
    /// A budget does not allow the request.
    #[error(transparent)]
    Budget(#[from] AuxiliaryRefusal),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] CleanedFailure),
}

impl EmbeddingRefusal {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownModel { .. } => ErrorCode::ModelNotConfigured,
            Self::Request(_) | Self::Dimensions { .. } => ErrorCode::InvalidArgument,
            Self::Busy => ErrorCode::QueueFull,
            Self::Budget(refusal) => refusal.code(),
            Self::Model(failure) => failure.class.code(),
        }
    }
}

/// Requests under way, by principal.
#[derive(Debug, Clone, Default)]
pub(super) struct EmbeddingSlots(Arc<Mutex<BTreeMap<PrincipalId, usize>>>);

/// The place of one request, until it is dropped.
struct EmbeddingSlot {
    slots: EmbeddingSlots,
    principal: PrincipalId,
}

impl EmbeddingSlots {
    fn take(&self, principal: PrincipalId) -> Option<EmbeddingSlot> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = counts.get(&principal).copied().unwrap_or(0);
        if own >= EMBEDDING_REQUESTS_OF_ONE_MAX || counts.values().sum::<usize>() >= EMBEDDING_REQUESTS_MAX {
            return None;
        }
        counts.insert(principal, own + 1);
        Some(EmbeddingSlot { slots: self.clone(), principal })
    }
}

impl Drop for EmbeddingSlot {
    fn drop(&mut self) {
        let mut counts = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(&self.principal) {
            Some(own) if *own > 1 => *own -= 1,
            Some(_) | None => drop(counts.remove(&self.principal)),
        }
    }
}

impl ModelsHandle {
    /// Returns the models that make vectors of texts, the configured one first.
    #[must_use]
    pub fn embedding_models(&self) -> Vec<EmbeddingModelName> {
        let directory = self.directory();
        directory.embedders().iter().map(|embedder| embedder.embedding_model().name).collect()
    }

    /// Makes a vector of each text of a principal, after its secrets were replaced. Dropping the future ends the request.
    ///
    /// # Errors
    /// [`EmbeddingRefusal`], for each way in which there are no vectors.
    pub async fn embed(
        &self,
        principal: PrincipalId,
        query: EmbeddingQuery,
    ) -> Result<TextEmbeddings, EmbeddingRefusal> {
        let EmbeddingQuery { model, texts, dimensions } = query;
        let directory = self.directory();
        let embedder = directory.embedder(&model);
        let embedder = embedder.ok_or_else(|| EmbeddingRefusal::UnknownModel { name: model.clone() })?;
        EmbeddingRequest::check(&texts, dimensions)?;
        let _slot = self.embeddings.take(principal).ok_or(EmbeddingRefusal::Busy)?;
        let request = EmbeddingRequest::new(self.without_secrets(principal, texts), dimensions)?;
        let deadline = self.clock.boot().after(EMBEDDING_SPAN_MAX);
        let mut call = match &model {
            EmbeddingModelName::Embedded => None,
            EmbeddingModelName::OfProvider(asked) => Some(self.reserve(principal, asked, &request).await?),
        };
        call.iter_mut().for_each(AuxiliaryCall::sent);
        let embedded = tokio::select! {
            embedded = embedder.embed(request) => embedded,
            () = self.clock.sleep_until(deadline) => Err(EmbedError::Model(silence())),
        };
        if let Some(call) = call {
            call.end(outcome(&embedded)).await;
        }
        embedded.map_err(|error| self.refusal(&model, error))
    }

    /// Reserves a request under the budgets of the principal.
    async fn reserve(
        &self,
        principal: PrincipalId,
        model: &ModelRef,
        request: &EmbeddingRequest,
    ) -> Result<AuxiliaryCall, AuxiliaryRefusal> {
        let payer = AuxiliaryPayer {
            principal,
            agent: None,
            session: None,
            run: None,
            purpose: AuxiliaryPurpose::Embeddings,
        };
        let input_tokens = (request.bytes() as u64).div_ceil(BYTES_PER_TOKEN_ESTIMATED);
        let size = RequestSize { input_tokens, output_tokens_max: 0 };
        // Whether the provider answers is found out by the request itself, which no other model can serve.
        let only = ModelCandidate {
            model: model.clone(),
            capabilities: [].into(),
            context_tokens_max: None,
            health: ModelHealth::Healthy,
            first_token: None,
            price: None,
        };
        self.budgets.reserve(payer, vec![only], size).await
    }

    fn without_secrets(&self, principal: PrincipalId, texts: Vec<Content<String>>) -> Vec<Redacted<String>> {
        let mut found = RedactionFindings::default();
        let cleaned = texts.into_iter().map(|text| {
            let cleaned = self.redactor.redact(text);
            found = found.plus(cleaned.findings);
            cleaned.text
        });
        let cleaned = cleaned.collect();
        // The vector of a text would tell whether a registered value was in it.
        self.recorder.note_refused(principal, SecretFound { found });
        cleaned
    }

    fn refusal(&self, model: &EmbeddingModelName, error: EmbedError) -> EmbeddingRefusal {
        match error {
            EmbedError::Dimensions { asked, offered } => EmbeddingRefusal::Dimensions { asked, offered },
            EmbedError::Busy => EmbeddingRefusal::Busy,
            EmbedError::Model(failure) => {
                let failure = cleaned(&*self.redactor, failure);
                tracing::warn!(%model, class = ?failure.class, "a request for embeddings failed");
                EmbeddingRefusal::Model(failure)
            }
        }
    }
}

/// Returns how a request ended.
fn outcome(embedded: &Result<TextEmbeddings, EmbedError>) -> RequestOutcome {
    match embedded {
        Ok(embedded) => RequestOutcome::Answered { usage: Some(embedded.usage()) },
        Err(EmbedError::Dimensions { .. }) => RequestOutcome::Answered { usage: None },
        Err(EmbedError::Busy) => RequestOutcome::NotSent,
        Err(EmbedError::Model(failure)) => RequestOutcome::of_failure(failure.class, AnswerProgress::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_places_and_one_principal_cannot_have_all() {
        let slots = EmbeddingSlots::default();
        let principal = |number: usize| PrincipalId::from_parts(1, number as u128);
        let mut taken: Vec<_> =
            (0..EMBEDDING_REQUESTS_OF_ONE_MAX).map(|_| slots.take(principal(0))).collect();
        assert!(taken.iter().all(Option::is_some));
        assert!(slots.take(principal(0)).is_none());
        for number in EMBEDDING_REQUESTS_OF_ONE_MAX..EMBEDDING_REQUESTS_MAX {
            taken.push(slots.take(principal(1 + number / EMBEDDING_REQUESTS_OF_ONE_MAX)));
        }
        assert!(taken.iter().all(Option::is_some));
        assert!(slots.take(principal(99)).is_none(), "there are as many as there may be");
        drop(taken.pop());
        assert!(slots.take(principal(99)).is_some());
        taken.clear();
        assert!(slots.0.lock().expect("no panic").is_empty(), "principals without requests are forgotten");
    }
}
