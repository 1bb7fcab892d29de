//! The OpenAI Responses wire format, as OpenAI and servers compatible with it speak it.
//!
//! Owns rendering a conversation as items, assembling an answer from items, and keeping encrypted reasoning so that it can be
//! handed back byte for byte. Nothing is stored at the server, and no request refers to an earlier one. Retries nothing,
//! follows no redirect.
//! Follows <https://platform.openai.com/docs/api-reference/responses>. Begin at [`provider`].

use crate::wire_format::continuation::ContinuationForm;

pub mod provider;

mod render;
pub(crate) mod assembly;

/// The form in which reasoning is kept.
const CONTINUATION: ContinuationForm = ContinuationForm { name: "openai_responses/1", kept: &["reasoning"] };

pub use provider::OpenAiResponsesProvider;
