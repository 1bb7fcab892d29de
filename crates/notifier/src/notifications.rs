//! Notifications before they are at work.

use palyra_admin::health::JournalCheck;
use palyra_background::queue::BackgroundQueue;
use tokio::sync::watch;

use crate::delivery_check::doctor_check;
use crate::handle::NotificationsHandle;
use crate::handler::NotifyHandler;
use crate::parts::{DeliveryChanges, NotifierParts, SettingsSource};
use crate::planner::NotifyPlanner;

/// Makes the parts that work: the queue takes the handler, and the others take the queue.
pub struct NotificationSetup<T> {
    parts: NotifierParts,
    settings: SettingsSource<T>,
    changes: DeliveryChanges,
}

impl<T> Clone for NotificationSetup<T> {
    fn clone(&self) -> Self {
        let Self { parts, settings, changes } = self;
        Self { parts: parts.clone(), settings: settings.clone(), changes: changes.clone() }
    }
}

impl<T: Send + Sync + 'static> NotificationSetup<T> {
    /// Takes the adapters, and where the configuration says which targets there are.
    #[must_use]
    pub fn new(parts: NotifierParts, settings: SettingsSource<T>) -> Self {
        Self { parts, settings, changes: DeliveryChanges::default() }
    }

    /// Returns what performs tasks of the kind `notify`.
    #[must_use]
    pub fn handler(&self) -> NotifyHandler {
        NotifyHandler::new(self.parts.clone(), self.settings.reader(), self.changes.clone())
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
        NotificationsHandle {
            parts: self.parts.clone(),
            queue,
            settings: self.settings.reader(),
            changes: self.changes.clone(),
        }
    }

    /// Returns the check of `palyra doctor`.
    #[must_use]
    pub fn doctor_check(&self) -> JournalCheck {
        doctor_check(self.parts.clone(), self.settings.reader())
    }
}
