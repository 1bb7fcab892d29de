//! A server of models whose key is not there: it is listed, and each request to it looks for the key again.
//!
//! A key that one server lacks does not keep the daemon, and with it every other server, from starting; and a vault is
//! unlocked and filled by a daemon that runs. Invariant: without a key nothing is sent.

use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use palyra_ports::{ModelInfo, ModelProvider};
use palyra_types::model::{
    ModelFailure, ModelFailureClass, ModelName, ModelPiece, ModelRequest, ProviderName,
};

/// Makes the server with its key, or says why there is none.
pub(crate) type ConnectProvider = dyn Fn() -> Result<Arc<dyn ModelProvider>, String> + Send + Sync;

pub(crate) struct KeylessProvider {
    /// The same server without a key; it is never asked.
    keyless: Arc<dyn ModelProvider>,
    connect: Box<ConnectProvider>,
    connected: OnceLock<Arc<dyn ModelProvider>>,
}

impl KeylessProvider {
    pub(crate) fn new(keyless: Arc<dyn ModelProvider>, connect: Box<ConnectProvider>) -> Self {
        Self { keyless, connect, connected: OnceLock::new() }
    }

    /// Returns the server with its key, or why it has none.
    fn connected(&self) -> Result<&Arc<dyn ModelProvider>, String> {
        if let Some(connected) = self.connected.get() {
            return Ok(connected);
        }
        let made = (self.connect)()?;
        Ok(self.connected.get_or_init(|| made))
    }

    fn known(&self) -> &Arc<dyn ModelProvider> {
        self.connected.get().unwrap_or(&self.keyless)
    }
}

impl ModelProvider for KeylessProvider {
    fn name(&self) -> ProviderName {
        self.keyless.name()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        match self.connected() {
            Ok(connected) => connected.model_info(model),
            Err(note) => ModelInfo { note, ..self.keyless.model_info(model) },
        }
    }

    fn why_unusable(&self) -> Option<String> {
        self.connected().err()
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.known().note_images_seen(model);
    }

    fn end_pause(&self) {
        self.known().end_pause();
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        match self.connected() {
            Ok(connected) => connected.models(),
            Err(why) => futures::future::ready(Err(no_key(why))).boxed(),
        }
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        match self.connected() {
            Ok(connected) => connected.stream(request),
            Err(why) => futures::stream::iter([Err(no_key(why))]).boxed(),
        }
    }
}

fn no_key(why: String) -> ModelFailure {
    ModelFailure { class: ModelFailureClass::Auth, detail: why.into(), retry_after: None }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use palyra_demo_model::DemoProvider;

    use super::*;

    #[tokio::test]
    async fn a_server_is_asked_once_its_key_is_there() {
        let answer: Arc<Mutex<Result<(), String>>> =
            Arc::new(Mutex::new(Err("the vault is locked".to_owned())));
        let asked = Arc::clone(&answer);
        let connect = move || {
            let answer = asked.lock().expect("no panic").clone();
            answer.map(|()| Arc::new(DemoProvider) as Arc<dyn ModelProvider>)
        };
        let provider = KeylessProvider::new(Arc::new(DemoProvider), Box::new(connect));
        let note = || provider.model_info(&ModelName::new("demo")).note;
        let failure = provider.models().await.expect_err("no key");
        assert_eq!(failure.class, ModelFailureClass::Auth);
        assert!(failure.detail.expose().contains("locked"), "{failure:?}");
        assert_eq!(note(), "the vault is locked");
        assert_eq!(provider.why_unusable().as_deref(), Some("the vault is locked"));
        *answer.lock().expect("no panic") = Ok(());
        assert!(provider.models().await.is_ok());
        // A key that was given once is kept until the configuration is read again.
        *answer.lock().expect("no panic") = Err("gone".to_owned());
        assert!(provider.models().await.is_ok() && provider.why_unusable().is_none());
        assert_eq!(note(), DemoProvider.model_info(&ModelName::new("demo")).note);
    }
}
