//! The way to the daemon's configuration: asking that it be read again.
//!
//! The daemon answers one request after the other; this transport only carries question and answer.

use tokio::sync::{mpsc, oneshot};

/// Reloads waiting for their turn; further requests wait for a place in the queue.
const REQUESTS_MAX: usize = 4;

/// What came of a reload that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReloadReport {
    /// The digest of the snapshot that governs runs from now on.
    pub digest: [u8; 32],
    /// The keys whose values differ from those before, in order.
    pub changed: Vec<String>,
    /// The keys whose values differ from those the daemon started with and need a restart, in order.
    pub needs_restart: Vec<String>,
}

/// Why the old configuration stays in force.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReloadError {
    /// The new one is not valid.
    #[error("the configuration was not reloaded, the old one stays in force: {}", listed(mistakes))]
    Invalid {
        /// Every mistake, each with its place and mend; never empty.
        mistakes: Vec<String>,
    },
    /// The daemon is about to end.
    #[error("the daemon is shutting down")]
    ShuttingDown,
}

fn listed(mistakes: &[String]) -> String {
    match mistakes {
        [only] => only.clone(),
        all => format!("it has {} mistakes\n  {}", all.len(), all.join("\n  ")),
    }
}

/// What is read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReloadPart {
    /// The configuration with its files, and everything that is made of it.
    Configuration,
    /// The keys that model servers have from the vault, by the configuration in force.
    VaultKeys,
}

/// A reload with a waiting caller.
#[derive(Debug)]
pub struct ReloadRequest {
    /// What is read again.
    pub part: ReloadPart,
    /// Where the answer goes.
    pub reply: oneshot::Sender<Result<ReloadReport, ReloadError>>,
}

/// Asks the daemon to read its configuration again.
#[derive(Debug, Clone)]
pub struct ReloadHandle {
    requests: mpsc::Sender<ReloadRequest>,
}

impl ReloadHandle {
    /// Makes a handle, and the end at which the daemon takes requests.
    #[must_use]
    pub fn channel() -> (Self, mpsc::Receiver<ReloadRequest>) {
        let (requests, taken) = mpsc::channel(REQUESTS_MAX);
        (Self { requests }, taken)
    }

    /// Returns once the new configuration governs what begins from now on.
    ///
    /// # Errors
    /// [`ReloadError`]: nothing changed.
    pub async fn reload(&self) -> Result<ReloadReport, ReloadError> {
        self.ask(ReloadPart::Configuration).await
    }

    /// Returns once model servers have the keys that the vault gives out now: later requests do not use a former one.
    ///
    /// # Errors
    /// [`ReloadError`]: the servers keep the keys that they have.
    pub async fn renew_vault_keys(&self) -> Result<(), ReloadError> {
        self.ask(ReloadPart::VaultKeys).await.map(drop)
    }

    async fn ask(&self, part: ReloadPart) -> Result<ReloadReport, ReloadError> {
        let (reply, answer) = oneshot::channel();
        self.requests.send(ReloadRequest { part, reply }).await.map_err(|_| ReloadError::ShuttingDown)?;
        answer.await.map_err(|_| ReloadError::ShuttingDown)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reload_is_answered_or_the_daemon_is_going() {
        let (handle, mut requests) = ReloadHandle::channel();
        let report =
            ReloadReport { digest: [7; 32], changed: vec!["a.b".to_owned()], needs_restart: Vec::new() };
        let given = report.clone();
        let answering = async {
            let request = requests.recv().await.unwrap();
            request.reply.send(Ok(given)).unwrap();
            drop(requests);
        };
        let (answer, ()) = tokio::join!(handle.reload(), answering);
        assert_eq!(answer, Ok(report));
        assert_eq!(handle.reload().await, Err(ReloadError::ShuttingDown));
    }
}
