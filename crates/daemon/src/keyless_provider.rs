//! A server of models whose key is not there: it is listed, and each request to it fails with the reason.
//!
//! A key that one server lacks does not keep the daemon, and with it every other server, from starting.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use palyra_ports::{ModelCapabilities, ModelInfo, ModelProvider};
use palyra_types::Content;
use palyra_types::model::{
    ModelFailure, ModelFailureClass, ModelName, ModelPiece, ModelRequest, ProviderName,
};

/// Of a model of which nothing is known.
const CONTEXT_TOKENS: u64 = 8_192;

pub(crate) struct KeylessProvider {
    name: ProviderName,
    /// Why it has no key.
    reason: String,
}

impl KeylessProvider {
    pub(crate) fn new(name: ProviderName, reason: String) -> Self {
        Self { name, reason }
    }

    fn failure(&self) -> ModelFailure {
        let detail = Content::new(self.reason.clone());
        ModelFailure { class: ModelFailureClass::Auth, detail, retry_after: None }
    }
}

impl ModelProvider for KeylessProvider {
    fn name(&self) -> ProviderName {
        self.name.clone()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        ModelInfo {
            name: model.clone(),
            context_tokens: CONTEXT_TOKENS,
            note: self.reason.clone(),
            capabilities: ModelCapabilities::TEXT,
        }
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let failure = self.failure();
        async move { Err(failure) }.boxed()
    }

    fn stream(&self, _request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let failure = self.failure();
        futures::stream::once(async move { Err(failure) }).boxed()
    }
}
