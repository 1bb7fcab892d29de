//! What a model request beside a run used.
//!
//! Owns the fact. Requests of runs are counted by their tapes. Begin at [`AuxiliaryUse`].

use crate::content_walk::ContentClass::Identity;
use crate::content_walk::content_rows;
use crate::model::{ModelRef, TokenUsage};
use crate::{AgentId, Redacted, SessionId};

/// For what a request beside a run was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AuxiliaryPurpose {
    /// A summary of older runs.
    Summary,
    /// Vectors of texts.
    Embeddings,
    /// A look at a finished run for what is worth remembering.
    Reflection,
}

impl AuxiliaryPurpose {
    /// Every purpose with its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Summary, "summary"), (Self::Embeddings, "embeddings"), (Self::Reflection, "reflection")];
}

crate::words::words_of_table!(AuxiliaryPurpose);

/// A model request beside a run ended; on whose behalf it was made is in the envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuxiliaryUse {
    /// For what.
    pub purpose: AuxiliaryPurpose,
    /// The session it was made for.
    pub session: Option<SessionId>,
    /// The agent of the session.
    pub agent: Option<AgentId>,
    /// Its tokens; estimated where the provider did not count them.
    pub usage: TokenUsage,
    /// The model that was asked; `None` once erased.
    pub model: Redacted<Option<ModelRef>>,
}

content_rows! {
    fn auxiliary_use(walk, used: AuxiliaryUse) {
        let AuxiliaryUse { purpose: _, session: _, agent: _, usage: _, model } = used;
        walk.within(model, |walk, model| {
            walk.maybe(model, |walk, model| walk.model(Identity, "model", model));
        });
    }
}
