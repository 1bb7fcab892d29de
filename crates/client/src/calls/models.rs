//! Models: listing and testing.

use palyra_wire::v1;

use crate::client::Client;
use crate::error::ClientError;

/// Whether a list of models is asked of the providers, which takes seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskProviders {
    /// Ask them.
    Yes,
    /// Only name what is configured.
    No,
}

impl Client {
    /// Returns the models the daemon can ask, and what else it found.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`].
    pub async fn list_models(&self, ask: AskProviders) -> Result<v1::ListModelsResponse, ClientError> {
        let request = v1::ListModelsRequest { ask_providers: ask == AskProviders::Yes };
        self.call_slowly(request).await
    }

    /// Tests a model with a real completion; `None` tests the default.
    ///
    /// # Errors
    /// The daemon's refusal, or [`ClientError::Lost`]. A provider's failure is an answer, not an error.
    pub async fn test_model(&self, model: Option<&str>) -> Result<v1::TestModelResponse, ClientError> {
        let request = v1::TestModelRequest { model: model.unwrap_or_default().to_owned(), try_image: true };
        self.call_slowly(request).await
    }
}
