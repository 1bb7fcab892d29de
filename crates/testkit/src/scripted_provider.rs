//! A model provider that says what a test wrote down.
//!
//! Owns a queue of [`Script`]s, one per request, and a record of what was asked and what became of it.
//! Pauses go through the clock port; a [`Gate`] holds an answer at a step until the test lets it go on.
//! Invariant: a request is recorded when its stream is first polled. Begin at [`ScriptedProvider::new`].

mod gate;
mod script;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use palyra_ports::{Clock, ModelCapabilities, ModelInfo, ModelProvider, ProviderHealth};
use palyra_types::model::{ModelFailure, ModelName, ModelPiece, ModelRequest, ProviderName};
use tokio::sync::watch;

pub use gate::Gate;
pub use script::Script;

use script::ScriptStep;

/// How large a window a scripted model says it has.
const CONTEXT_TOKENS: u64 = 128_000;

/// What became of the streams so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamCounts {
    /// Streams that were polled at least once.
    pub begun: usize,
    /// Of those, streams that came to their end.
    pub ended: usize,
    /// Of those, streams that were dropped before their end.
    pub dropped: usize,
}

/// The provider; clones share their scripts and records.
#[derive(Clone)]
pub struct ScriptedProvider {
    name: ProviderName,
    context_tokens: u64,
    capabilities: ModelCapabilities,
    shared: Arc<SharedScript>,
}

struct SharedScript {
    clock: Arc<dyn Clock>,
    state: Mutex<ScriptState>,
    counts: watch::Sender<StreamCounts>,
}

struct ScriptState {
    queue: VecDeque<Script>,
    otherwise: Script,
    requests: Vec<Arc<ModelRequest>>,
    health: ProviderHealth,
}

impl ScriptedProvider {
    /// Makes a provider named `scripted` that answers "ok" until it is given scripts.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let state = ScriptState {
            queue: VecDeque::new(),
            otherwise: Script::new().text("ok"),
            requests: Vec::new(),
            health: ProviderHealth::Healthy,
        };
        let counts = watch::Sender::new(StreamCounts::default());
        Self {
            name: ProviderName::new("scripted"),
            context_tokens: CONTEXT_TOKENS,
            capabilities: ModelCapabilities::ALL,
            shared: Arc::new(SharedScript { clock, state: Mutex::new(state), counts }),
        }
    }

    /// Gives it another name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = ProviderName::new(name);
        self
    }

    /// Gives its models another window.
    #[must_use]
    pub fn with_window(mut self, context_tokens: u64) -> Self {
        self.context_tokens = context_tokens;
        self
    }

    /// Gives its models other capabilities; they have all unless told.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: ModelCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Adds a script to the end of the queue.
    pub fn push(&self, script: Script) {
        self.shared.state().queue.push_back(script);
    }

    /// Sets what is played when the queue is empty.
    pub fn otherwise(&self, script: Script) {
        self.shared.state().otherwise = script;
    }

    /// Sets what it says of its health; requests are answered all the same.
    pub fn set_health(&self, health: ProviderHealth) {
        self.shared.state().health = health;
    }

    /// Returns the requests seen so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<Arc<ModelRequest>> {
        self.shared.state().requests.clone()
    }

    /// Returns what became of the streams so far.
    #[must_use]
    pub fn counts(&self) -> StreamCounts {
        *self.shared.counts.borrow()
    }

    /// Waits until the counts are as wanted.
    pub async fn wait_until(&self, wanted: impl FnMut(&StreamCounts) -> bool) {
        let mut counts = self.shared.counts.subscribe();
        let reached = counts.wait_for(wanted).await;
        drop(reached.expect("the provider owns the sender"));
    }
}

impl ModelProvider for ScriptedProvider {
    fn name(&self) -> ProviderName {
        self.name.clone()
    }

    fn model_info(&self, model: &ModelName) -> ModelInfo {
        let (name, note) = (model.clone(), "scripted".to_owned());
        ModelInfo { name, context_tokens: self.context_tokens, note, capabilities: self.capabilities }
    }

    fn health(&self) -> ProviderHealth {
        self.shared.state().health
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<ModelInfo>, ModelFailure>> {
        let info = self.model_info(&ModelName::new("scripted"));
        async move { Ok(vec![info]) }.boxed()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> BoxStream<'static, Result<ModelPiece, ModelFailure>> {
        let shared = self.shared.clone();
        stream::once(async move { ScriptedAnswer::begin(shared, &request) })
            .flat_map(|playing| stream::unfold(playing, ScriptedAnswer::next))
            .boxed()
    }
}

impl SharedScript {
    fn state(&self) -> MutexGuard<'_, ScriptState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One answer on its way; counts itself as dropped unless it came to its end.
struct ScriptedAnswer {
    shared: Arc<SharedScript>,
    steps: VecDeque<ScriptStep>,
    ended: bool,
}

impl ScriptedAnswer {
    fn begin(shared: Arc<SharedScript>, request: &Arc<ModelRequest>) -> Self {
        let script = {
            let mut state = shared.state();
            state.requests.push(request.clone());
            state.queue.pop_front().unwrap_or_else(|| state.otherwise.clone())
        };
        shared.counts.send_modify(|counts| counts.begun += 1);
        let number = shared.counts.borrow().begun;
        let steps = script.into_steps(&request.model, number).into();
        Self { shared, steps, ended: false }
    }

    async fn next(mut self) -> Option<(Result<ModelPiece, ModelFailure>, Self)> {
        loop {
            let Some(step) = self.steps.pop_front() else {
                self.end();
                return None;
            };
            match step {
                ScriptStep::Pause(span) => {
                    let deadline = self.shared.clock.boot().after(span);
                    self.shared.clock.sleep_until(deadline).await;
                }
                ScriptStep::Hold(gate) => gate.pass().await,
                ScriptStep::Hang => futures::future::pending().await,
                ScriptStep::Panic => panic!("a scripted provider panics"),
                ScriptStep::Text(text) => return Some((Ok(ModelPiece::Text(text.into())), self)),
                ScriptStep::Reasoning(text) => return Some((Ok(ModelPiece::Reasoning(text.into())), self)),
                ScriptStep::Answer(answer) => {
                    self.end();
                    return Some((Ok(ModelPiece::Answer(answer)), self));
                }
                ScriptStep::Fail(failure) => {
                    self.end();
                    return Some((Err(failure), self));
                }
            }
        }
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            self.shared.counts.send_modify(|counts| counts.ended += 1);
        }
    }
}

impl Drop for ScriptedAnswer {
    fn drop(&mut self) {
        if !self.ended {
            self.shared.counts.send_modify(|counts| counts.dropped += 1);
        }
    }
}

#[cfg(test)]
mod tests;
