//! A model server for tests: real HTTP on 127.0.0.1, the OpenAI wire format, and every fault on demand.
//!
//! Owns the socket and a record of what was asked and which connections were given up by the client.
//! What is answered is a [`Reply`], chosen by a [`Behaviour`]. Checks requests as strictly as OpenAI
//! does. Begin at [`ModelServer::start`].

mod behaviour;
mod connection;
mod http;
mod reply;
mod validate;
mod wire;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use behaviour::Behaviour;
pub use reply::{Reply, Tear};

/// What a server has seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerCounts {
    /// Connections taken.
    pub connections: usize,
    /// Requests read, of any kind.
    pub requests: usize,
    /// Replies that were sent to their end, faults included.
    pub completed: usize,
    /// Replies during which the client went away.
    pub aborted: usize,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenRequest {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// The body; null when there is none or it is not JSON.
    pub body: Value,
}

/// A running server; dropping it closes everything.
pub struct ModelServer {
    address: SocketAddr,
    records: Arc<Records>,
    task: JoinHandle<()>,
}

/// What connections write down.
struct Records {
    requests: Mutex<Vec<SeenRequest>>,
    counts: watch::Sender<ServerCounts>,
}

impl Records {
    fn count(&self, change: impl FnOnce(&mut ServerCounts)) {
        self.counts.send_modify(change);
    }

    fn see(&self, request: &SeenRequest) -> usize {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request.clone());
        drop(requests);
        self.count(|counts| counts.requests += 1);
        self.counts.borrow().requests
    }
}

impl ModelServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When no port can be had.
    pub async fn start(behaviour: Behaviour) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let records = Arc::new(Records { requests: Mutex::default(), counts: watch::Sender::default() });
        let task = tokio::spawn(connection::accept(listener, Arc::new(behaviour), records.clone()));
        Ok(Self { address, records, task })
    }

    /// Returns the base URL for clients, which ends in `/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requests seen so far, oldest first.
    #[must_use]
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.records.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what the server has seen so far.
    #[must_use]
    pub fn counts(&self) -> ServerCounts {
        *self.records.counts.borrow()
    }

    /// Waits until the counts are as wanted.
    pub async fn wait_until(&self, wanted: impl FnMut(&ServerCounts) -> bool) {
        let mut counts = self.records.counts.subscribe();
        let reached = counts.wait_for(wanted).await;
        drop(reached.expect("the server owns the sender"));
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}
