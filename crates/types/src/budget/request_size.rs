//! The size of a model request before it is sent.
//!
//! Owns that a request has an end: without a cap on its output it cannot be reserved.

/// The counted input of a request, and the cap on output that is sent with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RequestSize {
    /// Tokens of the input, as counted or estimated before the dispatch.
    pub input_tokens: u64,
    /// The `max_output_tokens` of the request.
    pub output_tokens_max: u64,
}

impl RequestSize {
    /// Returns all tokens that the request may use, saturating.
    #[must_use]
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens_max)
    }
}
