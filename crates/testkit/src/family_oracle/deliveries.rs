//! Messages of the outbox by a naive fold: a list of records, each changed by what its entries say.

use palyra_types::Redacted;
use palyra_types::delivery::{DeliveryEnd, DeliveryEvent, DeliveryRecord, DeliveryStage};
use palyra_types::event::JournalEvent;
use palyra_types::tape::JournalEventRecord;

/// Messages in the order in which they were planned.
#[derive(Debug, Default)]
pub struct DeliveryOracle {
    records: Vec<DeliveryRecord>,
}

impl DeliveryOracle {
    pub(super) fn fold(&mut self, entry: &JournalEventRecord) {
        let JournalEvent::Delivery(event) = &entry.event else { return };
        let known = self.records.iter_mut().find(|known| known.key == event.key());
        match (known, event) {
            (Some(known), event) => fold(known, entry, event),
            (None, DeliveryEvent::Planned(planned)) => self.records.push(DeliveryRecord {
                key: planned.key,
                target_kind: planned.target_kind,
                target: planned.target.clone(),
                seq: entry.seq,
                planned: entry.time,
                changed: entry.time,
                stage: DeliveryStage::Planned,
                attempts: 0,
                explanation: Redacted::default(),
            }),
            (None, _) => {}
        }
    }

    /// Returns the messages, the latest planned one first.
    #[must_use]
    pub fn records(&self) -> Vec<DeliveryRecord> {
        let mut records = self.records.clone();
        records.sort_by_key(|record| std::cmp::Reverse((record.planned, record.seq)));
        records
    }
}

fn fold(record: &mut DeliveryRecord, entry: &JournalEventRecord, event: &DeliveryEvent) {
    if record.stage == DeliveryStage::Sent {
        return;
    }
    match event {
        DeliveryEvent::Planned(_) => return,
        DeliveryEvent::AttemptBegun { attempt, .. } => {
            record.stage = DeliveryStage::Sending;
            record.attempts = record.attempts.max(*attempt);
        }
        DeliveryEvent::AttemptEnded(_)
            if matches!(record.stage, DeliveryStage::Unknown | DeliveryStage::GivenUp) =>
        {
            return;
        }
        DeliveryEvent::AttemptEnded(ended) => {
            record.stage = match ended.end {
                DeliveryEnd::Sent => DeliveryStage::Sent,
                DeliveryEnd::Failed => DeliveryStage::Failed,
                DeliveryEnd::Unknown => DeliveryStage::Unknown,
                DeliveryEnd::GivenUp => DeliveryStage::GivenUp,
            };
            record.explanation = ended.explanation.clone();
        }
    }
    record.changed = entry.time;
}
