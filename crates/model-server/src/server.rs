//! The server: its socket, what it has seen, and how it behaves.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::behaviour::Behaviour;
use crate::connection;
use crate::seen_request::{SeenRequest, ServerCounts};
use crate::shared_server::{ListenerState, SharedServer};

/// A running server; dropping it closes everything.
pub struct ModelServer {
    address: SocketAddr,
    stage: Arc<SharedServer>,
    door: watch::Sender<ListenerState>,
    task: JoinHandle<()>,
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(behaviour: Behaviour) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let stage = Arc::new(SharedServer {
            behaviour: Mutex::new(Arc::new(behaviour)),
            requests: Mutex::default(),
            counts: watch::Sender::default(),
        });
        let door = watch::Sender::new(ListenerState::IsOpen);
        let task = tokio::spawn(connection::accept(listener, stage.clone(), door.clone()));
        Ok(Self { address, stage, door, task })
    }

    /// Returns the base URL for clients, which ends in `/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    /// Returns the URL without a path, which Anthropic's clients take as their base.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Behaves otherwise from the next request on.
    pub fn behave(&self, behaviour: Behaviour) {
        *self.stage.behaviour.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(behaviour);
    }

    /// Closes every connection and refuses new ones, until [`open`](Self::open); the port stays ours.
    pub async fn shut(&self) {
        self.turn(ListenerState::Shut, ListenerState::IsShut).await;
    }

    /// Takes connections again.
    pub async fn open(&self) {
        self.turn(ListenerState::Open, ListenerState::IsOpen).await;
    }

    async fn turn(&self, wish: ListenerState, done: ListenerState) {
        if *self.door.borrow() == done {
            return;
        }
        let mut state = self.door.subscribe();
        self.door.send_replace(wish);
        let reached = state.wait_for(|state| *state == done).await;
        drop(reached.expect("the server owns the sender"));
    }

    /// Returns the requests seen so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.stage.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the requests to a model seen so far, oldest first; the question for models is none.
    #[must_use]
    pub fn asked(&self) -> Vec<SeenRequest> {
        self.requests().into_iter().filter(SeenRequest::asks_a_model).collect()
    }

    /// Waits for so many requests to a model and returns them all, oldest first.
    pub async fn wait_asked(&self, count: usize) -> Vec<SeenRequest> {
        self.wait_until(|_| self.asked().len() >= count).await;
        self.asked()
    }

    /// Returns what the server has seen so far.
    #[must_use]
    pub fn counts(&self) -> ServerCounts {
        *self.stage.counts.borrow()
    }

    /// Waits until the counts are as wanted.
    pub async fn wait_until(&self, wanted: impl FnMut(&ServerCounts) -> bool) {
        let mut counts = self.stage.counts.subscribe();
        let reached = counts.wait_for(wanted).await;
        drop(reached.expect("the server owns the sender"));
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests;
