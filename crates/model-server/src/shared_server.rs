//! What all connections of a server share.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use crate::behaviour::Behaviour;
use crate::seen_request::{SeenRequest, ServerCounts};

/// Whether connections are taken: as it should be, and as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListenerState {
    Open,
    IsOpen,
    Shut,
    IsShut,
}

/// What connections behave by and write down.
pub(crate) struct SharedServer {
    pub(crate) behaviour: Mutex<Arc<Behaviour>>,
    pub(crate) requests: Mutex<Vec<SeenRequest>>,
    pub(crate) counts: watch::Sender<ServerCounts>,
}

impl SharedServer {
    pub(crate) fn behaviour(&self) -> Arc<Behaviour> {
        self.behaviour.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut ServerCounts)) {
        self.counts.send_modify(change);
    }

    pub(crate) fn see(&self, request: &SeenRequest) -> usize {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.push(request.clone());
        let number = requests.len();
        drop(requests);
        self.count(|counts| counts.requests += 1);
        number
    }
}
