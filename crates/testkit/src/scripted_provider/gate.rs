//! A place where a script waits for the test.

use std::sync::Arc;

use tokio::sync::watch;

/// Holds whoever passes until it is opened; clones are the same gate.
#[derive(Debug, Clone)]
pub struct Gate {
    reached: Arc<watch::Sender<bool>>,
    opened: Arc<watch::Sender<bool>>,
}

impl Gate {
    /// Makes a closed gate.
    #[must_use]
    pub fn closed() -> Self {
        Self { reached: Arc::new(watch::Sender::new(false)), opened: Arc::new(watch::Sender::new(false)) }
    }

    /// Opens it, for good.
    pub fn open(&self) {
        self.opened.send_replace(true);
    }

    /// Waits until somebody stands before it.
    pub async fn reached(&self) {
        wait(&self.reached).await;
    }

    /// Stands before it until it is open.
    pub async fn pass(&self) {
        self.reached.send_replace(true);
        wait(&self.opened).await;
    }
}

async fn wait(flag: &watch::Sender<bool>) {
    let mut flag = flag.subscribe();
    let seen = flag.wait_for(|raised| *raised).await;
    drop(seen.expect("the caller holds the sender"));
}
