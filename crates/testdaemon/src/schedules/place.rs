//! Places outside of the daemon at which it is killed.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

/// A place outside of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KillPlace {
    /// The model has the request of the run and does not answer.
    ModelAsked,
    /// The webhook has the message and does not answer.
    WebhookTaken,
    /// The program has the message and has not counted it.
    ProgramBegan,
    /// The program has counted the message and does not end.
    ProgramCounted,
}

impl KillPlace {
    /// All of them.
    pub(super) const ALL: [Self; 4] =
        [Self::ModelAsked, Self::WebhookTaken, Self::ProgramBegan, Self::ProgramCounted];

    /// Returns the word with which the program says that it is there.
    pub(super) fn step(self) -> Option<&'static str> {
        match self {
            Self::ModelAsked | Self::WebhookTaken => None,
            Self::ProgramBegan => Some("began"),
            Self::ProgramCounted => Some("counted"),
        }
    }
}

impl fmt::Display for KillPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelAsked => "the model is asked",
            Self::WebhookTaken => "the webhook has the message",
            Self::ProgramBegan => "the program has the message",
            Self::ProgramCounted => "the program has counted",
        })
    }
}

/// The place that is waited for; it is reached once.
#[derive(Debug, Clone)]
pub(super) struct PlaceWatch(Arc<watch::Sender<Option<KillPlace>>>);

impl PlaceWatch {
    /// Waits for none.
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    /// Sets the place that is waited for.
    pub(super) fn set(&self, place: Option<KillPlace>) {
        self.0.send_replace(place);
    }

    /// Says that a place is reached. Returns whether it is the one that is waited for.
    pub(super) fn reach(&self, place: KillPlace) -> bool {
        self.0.send_if_modified(|due| {
            let is_due = *due == Some(place);
            if is_due {
                *due = None;
            }
            is_due
        })
    }

    /// Resolves when the place that is waited for is reached.
    pub(super) async fn reached(&self) {
        // It fails only when the sender is gone, which is this one.
        let _ = self.0.subscribe().wait_for(Option::is_none).await;
    }
}
