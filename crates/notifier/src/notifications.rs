//! Notifications before they are at work.

use palyra_admin::health::JournalCheck;
use palyra_background::queue::BackgroundQueue;
use tokio::sync::watch;

use crate::delivery_check::doctor_check;
use crate::handle::NotificationsHandle;
use crate::handler::NotifyHandler;
use crate::parts::{NotifierParts, SettingsSource};
use crate::planner::NotifyPlanner;

/// Makes the parts that work: the queue takes the handler, and the others take the queue.
pub struct Notifications<T> {
    parts: NotifierParts,
    settings: SettingsSource<T>,
}

impl<T> Clone for Notifications<T> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone(), settings: self.settings.clone() }
    }
}

impl<T: Send + Sync + 'static> Notifications<T> {
    /// Takes the adapters, and where the configuration says which targets there are.
    #[must_use]
    pub fn new(parts: NotifierParts, settings: SettingsSource<T>) -> Self {
        Self { parts, settings }
    }

    /// Returns what performs tasks of the kind `notify`.
    #[must_use]
    pub fn handler(&self) -> NotifyHandler {
        NotifyHandler::new(self.parts.clone(), self.settings.reader())
    }

    /// Returns the task of the driver that plans messages. One of `attention` changes whenever something else may wait for a
    /// person.
    #[must_use]
    pub fn planner(&self, queue: BackgroundQueue, attention: Vec<watch::Receiver<u64>>) -> NotifyPlanner<T> {
        NotifyPlanner::new(self.parts.clone(), queue, self.settings.clone(), attention)
    }

    /// Returns what callers ask.
    #[must_use]
    pub fn handle(&self, queue: BackgroundQueue) -> NotificationsHandle {
        NotificationsHandle::new(self.parts.clone(), queue, self.settings.reader())
    }

    /// Returns the check of `palyra doctor`.
    #[must_use]
    pub fn doctor_check(&self) -> JournalCheck {
        doctor_check(self.parts.clone(), self.settings.reader())
    }
}
