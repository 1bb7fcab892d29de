//! A server of models whose key is not there: it is listed, and each request to it looks for the key again.
//!
//! A key that one server lacks does not keep the daemon, and with it every other server, from starting; and a vault is
//! unlocked and filled by a daemon that runs. Invariants: without a key nothing is sent; the key is looked for on a thread
//! that may wait for the disk, and by requests only.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use palyra_ports::{EmbeddingRequest, ModelInfo, ModelProvider, TextEmbeddings};
use palyra_types::model::{
    ModelFailure, ModelFailureClass, ModelName, ModelPiece, ModelRequest, ProviderName,
};

/// Makes the server with its key, or says why there is none. May wait for the disk.
pub(crate) type ConnectProvider = dyn Fn() -> Result<Arc<dyn ModelProvider>, String> + Send + Sync;

pub(crate) struct KeylessProvider {
    /// The same server without a key; it is never asked.
    keyless: Arc<dyn ModelProvider>,
    search: Arc<KeySearch>,
}

/// The search for the key.
struct KeySearch {
    connect: Box<ConnectProvider>,
    connected: OnceLock<Arc<dyn ModelProvider>>,
    /// Why there was no key when it was looked for last.
    note: Mutex<String>,
}

impl KeylessProvider {
    /// `note` says why there is no key now.
    pub(crate) fn new(keyless: Arc<dyn ModelProvider>, connect: Box<ConnectProvider>, note: String) -> Self {
        let search = KeySearch { connect, connected: OnceLock::new(), note: Mutex::new(note) };
        Self { keyless, search: Arc::new(search) }
    }

    fn known(&self) -> &Arc<dyn ModelProvider> {
        self.search.connected.get().unwrap_or(&self.keyless)
    }
}

impl KeySearch {
    /// Returns the server with its key; looks for the key where there was none.
    async fn connected(self: Arc<Self>) -> Result<Arc<dyn ModelProvider>, ModelFailure> {
        if let Some(connected) = self.connected.get() {
            return Ok(Arc::clone(connected));
        }
        let looked = tokio::task::spawn_blocking(move || self.look()).await;
        looked.unwrap_or_else(|_| Err("the search for the key was interrupted".to_owned())).map_err(no_key)
    }

    fn look(&self) -> Result<Arc<dyn ModelProvider>, String> {
        match (self.connect)() {
            Ok(made) => Ok(Arc::clone(self.connected.get_or_init(|| made))),
            Err(why) => {
                self.note().clone_from(&why);
                Err(why)
            }
        }
    }

    fn note(&self) -> MutexGuard<'_, String> {
        self.note.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelProvider for KeylessProvider {
    fn name(&self) -> ProviderName {
        self.keyless.name()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        match self.search.connected.get() {
            Some(connected) => connected.model_info(model),
            None => ModelInfo { note: self.search.note().clone(), ..self.keyless.model_info(model) },
        }
    }

    fn why_unusable(&self) -> Option<String> {
        self.search.connected.get().is_none().then(|| self.search.note().clone())
    }

    fn first_token(&self, model: &ModelName) -> Option<Duration> {
        self.known().first_token(model)
    }

    fn note_images_seen(&self, model: &ModelName) {
        self.known().note_images_seen(model);
    }

    fn end_pause(&self) {
        self.known().end_pause();
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let search = Arc::clone(&self.search);
        async move { search.connected().await?.models().await }.boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let search = Arc::clone(&self.search);
        let answer = async move {
            match search.connected().await {
                Ok(connected) => connected.stream(request),
                Err(failure) => futures::stream::iter([Err(failure)]).boxed(),
            }
        };
        answer.flatten_stream().boxed()
    }

    fn embed(
        &self,
        model: &ModelName,
        request: EmbeddingRequest,
    ) -> BoxFuture<'static, Result<TextEmbeddings, ModelFailure>> {
        let search = Arc::clone(&self.search);
        let model = model.clone();
        async move { search.connected().await?.embed(&model, request).await }.boxed()
    }
}

fn no_key(why: String) -> ModelFailure {
    ModelFailure { class: ModelFailureClass::Auth, detail: why.into(), retry_after: None }
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;

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
        let provider =
            KeylessProvider::new(Arc::new(DemoProvider), Box::new(connect), "not looked for".to_owned());
        let note = || provider.model_info(&ModelName::new("demo")).note;
        assert_eq!(note(), "not looked for");
        let failure = provider.models().await.expect_err("no key");
        assert_eq!(failure.class, ModelFailureClass::Auth);
        assert!(failure.detail.expose().contains("locked"), "{failure:?}");
        assert_eq!(note(), "the vault is locked", "the reason of the last request is remembered");
        assert_eq!(provider.why_unusable().as_deref(), Some("the vault is locked"));
        *answer.lock().expect("no panic") = Ok(());
        assert_eq!(note(), "the vault is locked", "a look at the model does not look for the key");
        assert!(provider.models().await.is_ok());
        // A key that was given once is kept until the configuration is read again.
        *answer.lock().expect("no panic") = Err("gone".to_owned());
        assert!(provider.models().await.is_ok() && provider.why_unusable().is_none());
        assert_eq!(note(), DemoProvider.model_info(&ModelName::new("demo")).note);
    }

    #[tokio::test]
    async fn the_key_is_looked_for_by_requests_alone_and_on_a_thread_of_its_own() {
        let searches: Arc<Mutex<Vec<ThreadId>>> = Arc::default();
        let seen = Arc::clone(&searches);
        let connect = move || -> Result<Arc<dyn ModelProvider>, String> {
            seen.lock().expect("no panic").push(std::thread::current().id());
            Err("the file is not there".to_owned())
        };
        let provider = KeylessProvider::new(Arc::new(DemoProvider), Box::new(connect), String::new());
        provider.model_info(&ModelName::new("demo"));
        let request = provider.models();
        assert!(searches.lock().expect("no panic").is_empty(), "no request was made");
        assert!(request.await.is_err());
        assert!(provider.models().await.is_err());
        let threads = searches.lock().expect("no panic").clone();
        assert_eq!(threads.len(), 2, "each request looks for it");
        // The runtime of this test has one thread, which is this one.
        assert!(!threads.contains(&std::thread::current().id()));
    }
}
