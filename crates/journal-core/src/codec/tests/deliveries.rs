//! One event of each kind about messages of the outbox.

use palyra_types::delivery::{
    DeliveryAttemptEnded, DeliveryEnd, DeliveryEvent, DeliveryKey, DeliveryPlanned, DeliveryTargetKind,
};
use palyra_types::event::JournalEvent;

pub(super) fn delivery_events() -> Vec<JournalEvent> {
    let key = DeliveryKey([0x5A; 16]);
    let planned = DeliveryPlanned {
        key,
        target_kind: DeliveryTargetKind::Webhook,
        target: "webhook".into(),
        body_bytes: 25,
        body: r#"{"type":"attention.test"}"#.into(),
    };
    let ended = DeliveryAttemptEnded {
        key,
        attempt: 2,
        end: DeliveryEnd::Failed,
        explanation: "the server answered 503".into(),
    };
    let events = [
        DeliveryEvent::Planned(planned),
        DeliveryEvent::AttemptBegun { key, attempt: 2 },
        DeliveryEvent::AttemptEnded(ended),
    ];
    events.map(JournalEvent::from).into()
}
