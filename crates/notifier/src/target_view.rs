//! A target with what became of its messages.

use palyra_journal_core::families::deliveries::{self, DeliveryQuery};
use palyra_journal_core::family::{LogView, RowStore, StoreFault};
use palyra_ports::DeliveryTarget;
use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::Timestamp;
use palyra_types::delivery::{DeliveryRecord, DeliveryStage};

/// A target that is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetView {
    /// The target.
    pub target: DeliveryTarget,
    /// When it took a message last.
    pub delivered: Option<Timestamp>,
    /// The message that was planned last.
    pub latest: Option<DeliveryRecord>,
    /// Messages that are sent, or are going to be by themselves.
    pub open: usize,
    /// Messages of which it is not known whether they were sent.
    pub unknown: usize,
    /// Messages that were given up.
    pub given_up: usize,
}

/// Reads a target. Of each stage the latest [`RECORD_PAGE_ROWS_MAX`] messages are counted.
pub(crate) fn target_view(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    target: DeliveryTarget,
) -> Result<TargetView, StoreFault> {
    let all = DeliveryQuery { target_kind: Some(target.kind), limit: 1, ..DeliveryQuery::default() };
    let latest = deliveries::records(rows, log, &all)?.pop();
    let sent = DeliveryQuery { stage: Some(DeliveryStage::Sent), ..all };
    let delivered = deliveries::records(rows, log, &sent)?.pop().map(|sent| sent.changed);
    let mut count = |stages: &[DeliveryStage]| -> Result<usize, StoreFault> {
        let mut found = 0;
        for stage in stages {
            let query = DeliveryQuery { stage: Some(*stage), limit: RECORD_PAGE_ROWS_MAX, ..all };
            found += deliveries::records(rows, log, &query)?.len();
        }
        Ok(found)
    };
    Ok(TargetView {
        open: count(&[DeliveryStage::Planned, DeliveryStage::Sending, DeliveryStage::Failed])?,
        unknown: count(&[DeliveryStage::Unknown])?,
        given_up: count(&[DeliveryStage::GivenUp])?,
        target,
        delivered,
        latest,
    })
}
