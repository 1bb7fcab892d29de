//! Hands notifications what they need of the runtime.

use std::sync::Arc;

use palyra_notifier::{NotificationSetup, NotifierParts, SettingsSource};
use palyra_types::PrincipalId;
use tokio::sync::watch;

use crate::config::GatewayRuntimeConfigSnapshot;
use crate::parts::RuntimePorts;

/// Returns notifications before they are at work.
pub(crate) fn notifications(
    ports: &RuntimePorts,
    owner: PrincipalId,
    config: &watch::Receiver<Arc<GatewayRuntimeConfigSnapshot>>,
) -> NotificationSetup<GatewayRuntimeConfigSnapshot> {
    let parts = NotifierParts {
        recorder: ports.recorder.clone(),
        families: Arc::clone(&ports.families),
        redactor: Arc::clone(&ports.redactor),
        clock: Arc::clone(&ports.clock),
        deliver: Arc::clone(&ports.notify),
        owner,
    };
    NotificationSetup::new(parts, SettingsSource::new(config.clone(), |config| config.notify.clone()))
}
