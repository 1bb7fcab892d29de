//! Turning texts into vectors that say how alike the texts are.
//!
//! Owns the limits of one request and what an answer has to be: one vector for each text, in order, all with the same number
//! of finite components. Knows no wire format. Begin at [`EmbedTexts`].

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use palyra_types::model::{ModelFailure, ModelRef, TokenUsage};
use palyra_types::{Content, ErrorCode, Redacted};

/// Texts of one request, at most.
pub const EMBEDDING_TEXTS_MAX: usize = 2_048;
/// Bytes of one text, at most.
pub const EMBEDDING_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Bytes of all texts of one request, at most.
pub const EMBEDDING_REQUEST_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Components of one vector, at most.
pub const EMBEDDING_DIMENSIONS_MAX: u32 = 16_384;
/// The name of the model that is part of the program.
pub const EMBEDDED_MODEL_NAME: &str = "palyra-embedded";

/// Makes vectors of texts.
pub trait EmbedTexts: Send + Sync {
    /// Returns what is known of the model, without a request.
    fn embedding_model(&self) -> EmbeddingModel;

    /// Returns one vector for each text, in order.
    ///
    /// Nothing is sent before the first poll. The texts are not recorded, and a request is not repeated: a caller that asks
    /// again decides so by itself. A request with a number of dimensions gets vectors with that many, or an error.
    fn embed(&self, request: EmbeddingRequest) -> BoxFuture<'static, Result<TextEmbeddings, EmbedError>>;
}

/// What is known of a model that makes vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// Its name.
    pub name: EmbeddingModelName,
    /// Components of its vectors, where that is known without a request.
    pub dimensions: Option<u32>,
    /// What to say of it to a person.
    pub note: String,
}

/// Names a model that makes vectors.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EmbeddingModelName {
    /// The model that is part of the program.
    Embedded,
    /// A model of a configured provider.
    OfProvider(ModelRef),
}

impl EmbeddingModelName {
    /// Reads a name, [`EMBEDDED_MODEL_NAME`] or `provider/model`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == EMBEDDED_MODEL_NAME {
            return Some(Self::Embedded);
        }
        ModelRef::parse(text).map(Self::OfProvider)
    }
}

impl fmt::Display for EmbeddingModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str(EMBEDDED_MODEL_NAME),
            Self::OfProvider(model) => model.fmt(f),
        }
    }
}

/// Texts to make vectors of, within the limits.
#[derive(Debug, Clone)]
pub struct EmbeddingRequest {
    texts: Arc<[Redacted<String>]>,
    dimensions: Option<u32>,
}

impl EmbeddingRequest {
    /// Makes a request; `dimensions` is how many components each vector has to have, `None` for what is usual for the model.
    ///
    /// # Errors
    /// [`EmbeddingRequestError`] that names the limit and, where it is one text, which.
    pub fn new(texts: Vec<Redacted<String>>, dimensions: Option<u32>) -> Result<Self, EmbeddingRequestError> {
        check_sizes(texts.iter().map(Redacted::expose), dimensions)?;
        Ok(Self { texts: texts.into(), dimensions })
    }

    /// Checks texts as they came in, before they are cleaned.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn check(texts: &[Content<String>], dimensions: Option<u32>) -> Result<(), EmbeddingRequestError> {
        check_sizes(texts.iter().map(Content::expose), dimensions)
    }

    /// Returns the texts in order; there is at least one.
    #[must_use]
    pub fn texts(&self) -> &[Redacted<String>] {
        &self.texts
    }

    /// Returns how many components each vector has to have.
    #[must_use]
    pub fn dimensions(&self) -> Option<u32> {
        self.dimensions
    }

    /// Returns the bytes of all texts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(|text| text.expose().len()).sum()
    }
}

fn check_sizes<'a>(
    texts: impl ExactSizeIterator<Item = &'a String>,
    dimensions: Option<u32>,
) -> Result<(), EmbeddingRequestError> {
    let count = texts.len();
    if count == 0 {
        return Err(EmbeddingRequestError::NoTexts);
    }
    if count > EMBEDDING_TEXTS_MAX {
        return Err(EmbeddingRequestError::TooManyTexts { count });
    }
    let mut total: usize = 0;
    for (index, text) in texts.enumerate() {
        let bytes = text.len();
        if bytes == 0 {
            return Err(EmbeddingRequestError::EmptyText { index });
        }
        if bytes > EMBEDDING_TEXT_BYTES_MAX {
            return Err(EmbeddingRequestError::TextTooLong { index, bytes });
        }
        total = total.saturating_add(bytes);
    }
    if total > EMBEDDING_REQUEST_BYTES_MAX {
        return Err(EmbeddingRequestError::TooManyBytes { bytes: total });
    }
    match dimensions {
        Some(asked) if !(1..=EMBEDDING_DIMENSIONS_MAX).contains(&asked) => {
            Err(EmbeddingRequestError::DimensionsOutOfRange { asked })
        }
        Some(_) | None => Ok(()),
    }
}

/// Why a request is not within the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingRequestError {
    /// There is no text.
    #[error("there is no text; at least one is needed")]
    NoTexts,
    /// There are too many texts.
    #[error(
        "there are {count} texts, at most {EMBEDDING_TEXTS_MAX} are possible; send them in several requests"
    )]
    TooManyTexts {
        /// How many there are.
        count: usize,
    },
    /// A text is empty.
    #[error("text {index}, counted from 0, is empty; leave it out")]
    EmptyText {
        /// Which.
        index: usize,
    },
    /// A text is too long.
    #[error(
        "text {index}, counted from 0, has {bytes} bytes, at most {EMBEDDING_TEXT_BYTES_MAX} are possible; divide it"
    )]
    TextTooLong {
        /// Which.
        index: usize,
        /// How long it is.
        bytes: usize,
    },
    /// All texts together are too long.
    #[error(
        "the texts have {bytes} bytes together, at most {EMBEDDING_REQUEST_BYTES_MAX} are possible; send them in several \
         requests"
    )]
    TooManyBytes {
        /// How long they are.
        bytes: usize,
    },
    /// No vector has so many components.
    #[error("vectors cannot have {asked} dimensions; 1 to {EMBEDDING_DIMENSIONS_MAX} are possible")]
    DimensionsOutOfRange {
        /// How many were asked for.
        asked: u32,
    },
}

/// Vectors of the texts of a request, in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct TextEmbeddings {
    vectors: Vec<Vec<f32>>,
    dimensions: u32,
    /// Tokens read.
    usage: TokenUsage,
}

impl TextEmbeddings {
    /// Checks the vectors of so many texts.
    ///
    /// # Errors
    /// [`InvalidEmbeddings`], for each way in which they are not an answer.
    pub fn new(
        vectors: Vec<Vec<f32>>,
        texts_count: usize,
        usage: TokenUsage,
    ) -> Result<Self, InvalidEmbeddings> {
        if vectors.len() != texts_count {
            return Err(InvalidEmbeddings::OtherCount { vectors: vectors.len(), texts: texts_count });
        }
        let first = vectors.first().map_or(0, Vec::len);
        let dimensions =
            u32::try_from(first).ok().filter(|count| (1..=EMBEDDING_DIMENSIONS_MAX).contains(count));
        let dimensions = dimensions.ok_or(InvalidEmbeddings::Dimensions { found: first })?;
        for (index, vector) in vectors.iter().enumerate() {
            if vector.len() != first {
                return Err(InvalidEmbeddings::UnequalDimensions { index, found: vector.len(), first });
            }
            if !vector.iter().all(|number| number.is_finite()) {
                return Err(InvalidEmbeddings::NotFinite { index });
            }
        }
        Ok(Self { vectors, dimensions, usage })
    }

    /// Returns the vectors, one for each text.
    #[must_use]
    pub fn vectors(&self) -> &[Vec<f32>] {
        &self.vectors
    }

    /// Returns the vectors, one for each text.
    #[must_use]
    pub fn into_vectors(self) -> Vec<Vec<f32>> {
        self.vectors
    }

    /// Returns how many components each vector has.
    #[must_use]
    pub fn dimensions(&self) -> u32 {
        self.dimensions
    }

    /// Returns how many tokens were read.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        self.usage
    }
}

/// Why vectors are not an answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEmbeddings {
    /// There is not one vector for each text.
    #[error("there are {vectors} vectors for {texts} texts")]
    OtherCount {
        /// How many vectors there are.
        vectors: usize,
        /// How many texts there are.
        texts: usize,
    },
    /// A vector has no component, or too many.
    #[error("a vector has {found} components; 1 to {EMBEDDING_DIMENSIONS_MAX} are possible")]
    Dimensions {
        /// How many it has.
        found: usize,
    },
    /// Vectors have different numbers of components.
    #[error("vector {index} has {found} components, and the first one has {first}")]
    UnequalDimensions {
        /// Which.
        index: usize,
        /// How many it has.
        found: usize,
        /// How many the first one has.
        first: usize,
    },
    /// A component is not a finite number.
    #[error("vector {index} has a component that is not a finite number")]
    NotFinite {
        /// Which.
        index: usize,
    },
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The vectors of the model have another number of components.
    #[error("vectors of this model have {offered} dimensions, not {asked}")]
    Dimensions {
        /// How many were asked for.
        asked: u32,
        /// How many there are.
        offered: u32,
    },
    /// Too many requests wait for the model.
    #[error("too many requests wait for this model; repeat the request later")]
    Busy,
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelFailure),
}

impl EmbedError {
    /// Returns the stable code shown to clients.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Dimensions { .. } => ErrorCode::InvalidArgument,
            Self::Busy => ErrorCode::QueueFull,
            Self::Model(failure) => failure.class.code(),
        }
    }
}

#[cfg(test)]
mod tests;
