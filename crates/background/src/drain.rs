//! The drain before the end: each run finishes or parks, and nothing new begins.
//!
//! Owns the count of runs that are being worked on. Invariant: a run parks only where its tape says that a model
//! is to be asked and none was asked, so the next start asks; work that was begun reports first.
//! Begin at [`Drain::begin`].

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Shared by everything that works on runs.
#[derive(Debug, Clone)]
pub struct Drain {
    /// Wakes who waits in the order in which they came, which a watch channel does not.
    begun: CancellationToken,
    live: Arc<watch::Sender<usize>>,
}

impl Default for Drain {
    fn default() -> Self {
        Self { begun: CancellationToken::new(), live: Arc::new(watch::Sender::new(0)) }
    }
}

impl Drain {
    /// Lets no model be asked from now on.
    pub fn begin(&self) {
        self.begun.cancel();
    }

    /// Returns whether it has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Returns once it has begun.
    pub async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Counts a run as worked on for as long as the guard lives.
    #[must_use]
    pub fn work(&self) -> Working {
        self.live.send_modify(|live| *live += 1);
        Working { live: Arc::clone(&self.live) }
    }

    /// Returns once no run is being worked on.
    pub async fn at_rest(&self) {
        let _ = self.live.subscribe().wait_for(|live| *live == 0).await;
    }
}

/// A run that is being worked on.
#[derive(Debug)]
pub struct Working {
    live: Arc<watch::Sender<usize>>,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.live.send_modify(|live| *live -= 1);
    }
}
