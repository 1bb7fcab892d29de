//! Events about messages of the outbox; ids are few, so that attempts meet their ends.

use palyra_journal_core::families::deliveries::{self, DeliveryQuery};
use palyra_journal_core::family::{QueryFamilies, ReadFamilies};
use palyra_types::delivery::{
    DeliveryAttemptEnded, DeliveryEnd, DeliveryEvent, DeliveryKey, DeliveryPlanned, DeliveryTargetKind,
};

use super::{RandomAppends, exposed};

/// Messages that random events name.
const MESSAGES: u64 = 40;

impl RandomAppends {
    pub(super) fn delivery_event(&mut self) -> DeliveryEvent {
        let key = DeliveryKey([u8::try_from(self.below(MESSAGES)).unwrap_or(0); 16]);
        let attempt = 1 + self.number();
        match self.below(8) {
            0..=2 => DeliveryEvent::AttemptBegun { key, attempt },
            3..=5 => DeliveryEvent::AttemptEnded(DeliveryAttemptEnded {
                key,
                attempt,
                end: self.one_of(&DeliveryEnd::ALL).0,
                explanation: self.text(),
            }),
            _ => {
                let body = self.text();
                DeliveryEvent::Planned(DeliveryPlanned {
                    key,
                    target_kind: self.one_of(&DeliveryTargetKind::ALL).0,
                    target: self.text(),
                    body_bytes: u32::try_from(body.expose().len()).unwrap_or(0),
                    body,
                })
            }
        }
    }
}

/// Adds the messages.
pub(super) async fn records(journal: &impl ReadFamilies, all: &mut Vec<String>) {
    let query = DeliveryQuery { limit: 500, ..DeliveryQuery::default() };
    let found = journal.query(move |rows, log| deliveries::records(rows, log, &query)).await.unwrap();
    // Texts of states that were written before there were messages stay the same.
    if !found.is_empty() {
        let contents = |one: &palyra_types::delivery::DeliveryRecord| {
            format!("{} {}", one.target.expose(), one.explanation.expose())
        };
        all.push(exposed(&found, contents));
    }
}
