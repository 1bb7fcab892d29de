//! Hands notifications what they need of the runtime.

use std::sync::Arc;

use palyra_admin::health::JournalCheck;
use palyra_background::queue::BackgroundQueue;
use palyra_notifier::{NotifierParts, NotifyHandler, NotifyPlanner, SettingsSource, doctor_check};
use palyra_types::PrincipalId;
use tokio::sync::watch;

use crate::config::GatewayRuntimeConfigSnapshot;
use crate::parts::RuntimePorts;

/// Notifications before they are at work.
#[derive(Clone)]
pub(crate) struct NotificationSetup {
    parts: NotifierParts,
    settings: SettingsSource<GatewayRuntimeConfigSnapshot>,
}

impl NotificationSetup {
    pub(crate) fn new(
        ports: &RuntimePorts,
        owner: PrincipalId,
        config: &watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
    ) -> Self {
        let parts = NotifierParts {
            recorder: ports.recorder.clone(),
            families: Arc::clone(&ports.families),
            redactor: Arc::clone(&ports.redactor),
            clock: Arc::clone(&ports.clock),
            deliver: Arc::clone(&ports.notify),
            owner,
        };
        Self { parts, settings: SettingsSource::new(config.clone(), |config| config.notify.clone()) }
    }

    pub(crate) fn handler(&self) -> NotifyHandler {
        NotifyHandler::new(self.parts.clone(), self.settings.reader())
    }

    pub(crate) fn planner(
        &self,
        queue: BackgroundQueue,
        changes: watch::Receiver<u64>,
    ) -> NotifyPlanner<GatewayRuntimeConfigSnapshot> {
        NotifyPlanner::new(self.parts.clone(), queue, self.settings.clone(), changes)
    }

    pub(crate) fn doctor_check(&self) -> JournalCheck {
        doctor_check(self.parts.clone(), self.settings.reader())
    }
}
