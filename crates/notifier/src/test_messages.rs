//! Messages that a person sends to try the targets.

use futures::future::join_all;
use palyra_notify::{NotifyMessage, test_message_key};
use palyra_ports::{DeliverError, DeliverySettings, Entropy, OutboundMessage};
use palyra_types::Content;
use palyra_types::delivery::{DeliveryKey, DeliveryTargetKind};

use crate::parts::{NotifierParts, console_origin, target_name};

/// What came of a test message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestedTarget {
    /// What sort of target it went to.
    pub kind: DeliveryTargetKind,
    /// The name of the target.
    pub name: String,
    /// The idempotency id of the message.
    pub key: DeliveryKey,
    /// Whether the target took it, or why not.
    pub result: Result<(), DeliverError>,
}

/// Sends a test message to each target, once and at once, and waits for what comes of it. Test messages are not recorded: a
/// person waits for the answer, and nothing is lost when the daemon ends in between.
pub async fn send_test_messages(
    parts: &NotifierParts,
    settings: &DeliverySettings,
    entropy: &dyn Entropy,
) -> Vec<TestedTarget> {
    let body = NotifyMessage::Test { at: parts.clock.wall() }.body(&console_origin(settings));
    let tests = settings.targets.iter().map(|target| {
        let mut random = [0; 16];
        entropy.fill(&mut random);
        let key = test_message_key(&target_name(target), random);
        let body = Content::new(body.clone());
        let sent = parts.deliver.deliver(OutboundMessage { key, target: target.clone(), body });
        let kind = target.kind;
        let name = target.name.clone();
        async move { TestedTarget { kind, name, key, result: sent.await } }
    });
    join_all(tests).await
}
