//! Messages of the outbox: one row for each, made by the entry that planned it.
//!
//! Invariant: of one idempotency id there is one row, and its stage is what [`DeliveryStage::after`] makes of its entries.

use palyra_ports::read_records::RECORD_PAGE_ROWS_MAX;
use palyra_types::delivery::{
    DeliveryEvent, DeliveryKey, DeliveryPlanned, DeliveryRecord, DeliveryStage, DeliveryTargetKind,
};
use palyra_types::event::JournalEvent;
use palyra_types::{PrincipalId, Redacted, Seq, Timestamp};

use crate::codec::stored_enums::StoredEnum;
use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId, RowScan,
    RowStore, RowsPerKey, ScanOrder, StoreFault, StoredRow, find_row, scan_wanted,
};

/// The family.
pub struct DeliveryFamily;

/// A message of the outbox, without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Its idempotency id.
    pub key: DeliveryKey,
    /// What sort of thing it is sent to.
    pub target_kind: DeliveryTargetKind,
    /// Where it is.
    pub stage: DeliveryStage,
    /// Attempts that began.
    pub attempts: u32,
    /// When it was planned.
    pub planned: Timestamp,
    /// When it changed last.
    pub changed: Timestamp,
    /// The entry that ended its latest attempt.
    pub ended: Option<Seq>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct DeliveryFacts {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(int32, tag = "2")]
    target_kind: i32,
    #[prost(uint32, tag = "3")]
    stage: u32,
    #[prost(uint32, tag = "4")]
    attempts: u32,
    #[prost(sint64, tag = "5")]
    planned: i64,
    #[prost(sint64, tag = "6")]
    changed: i64,
    #[prost(uint64, optional, tag = "7")]
    ended: Option<u64>,
}

const BY_KEY: usize = 0;
const BY_STAGE: usize = 1;
const BY_TIME: usize = 2;

fn by_key(key: DeliveryKey) -> IndexKey {
    IndexKey::new().bytes(&key.0)
}

fn in_stage(stage: DeliveryStage) -> IndexKey {
    IndexKey::new().byte(stage_number(stage))
}

impl Family for DeliveryFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "delivery",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_key", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "by_stage", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "by_time", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    type Row = DeliveryRow;

    fn facts(row: &DeliveryRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&DeliveryFacts {
            key: row.key.0.to_vec(),
            target_kind: row.target_kind.to_stored(),
            stage: stage_number(row.stage).into(),
            attempts: row.attempts,
            planned: row.planned.0,
            changed: row.changed.0,
            ended: row.ended.map(|seq| seq.0),
        })
    }

    fn load(stored: &StoredRow) -> Option<DeliveryRow> {
        let facts = <DeliveryFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(DeliveryRow {
            key: DeliveryKey(facts.key.try_into().ok()?),
            target_kind: StoredEnum::from_stored(facts.target_kind).ok()?,
            stage: stage_from_number(facts.stage)?,
            attempts: facts.attempts,
            planned: Timestamp(facts.planned),
            changed: Timestamp(facts.changed),
            ended: facts.ended.map(Seq),
        })
    }

    fn index(row: &DeliveryRow, index: usize) -> Option<IndexKey> {
        match index {
            BY_KEY => Some(by_key(row.key)),
            BY_STAGE => Some(in_stage(row.stage).signed(row.planned.0)),
            _ => Some(IndexKey::new().signed(row.planned.0)),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Delivery(event) = entry.event else { return Ok(()) };
        let key = by_key(event.key());
        if let DeliveryEvent::Planned(planned) = event {
            // The first entry with an id counts, so that a repeated one sends nothing again.
            if rows.find(BY_KEY, &key)?.is_some() {
                return Ok(());
            }
            let row = DeliveryRow {
                key: planned.key,
                target_kind: planned.target_kind,
                stage: DeliveryStage::Planned,
                attempts: 0,
                planned: entry.time,
                changed: entry.time,
                ended: None,
            };
            return rows.insert(entry, row);
        }
        rows.change_by(BY_KEY, &key, |row| change(row, entry, event))
    }
}

fn change(row: &mut DeliveryRow, entry: &FoldedEntry<'_>, event: &DeliveryEvent) {
    let Some(stage) = row.stage.after(event) else { return };
    row.stage = stage;
    row.changed = entry.time;
    match event {
        DeliveryEvent::Planned(_) => {}
        DeliveryEvent::AttemptBegun { attempt, .. } => row.attempts = row.attempts.max(*attempt),
        DeliveryEvent::AttemptEnded(_) => row.ended = Some(entry.seq),
    }
}

fn stage_number(stage: DeliveryStage) -> u8 {
    match stage {
        DeliveryStage::Planned => 1,
        DeliveryStage::Sending => 2,
        DeliveryStage::Failed => 3,
        DeliveryStage::Sent => 4,
        DeliveryStage::Unknown => 5,
        DeliveryStage::GivenUp => 6,
    }
}

fn stage_from_number(number: u32) -> Option<DeliveryStage> {
    let mut stages = DeliveryStage::ALL.iter().map(|(stage, _)| *stage);
    stages.find(|stage| u32::from(stage_number(*stage)) == number)
}

/// Which messages to list, the latest planned one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeliveryQuery {
    /// Only those in this stage.
    pub stage: Option<DeliveryStage>,
    /// Only those to this kind of target.
    pub target_kind: Option<DeliveryTargetKind>,
    /// Only those that were planned at this time or later.
    pub since: Option<Timestamp>,
    /// At most so many, capped at [`RECORD_PAGE_ROWS_MAX`].
    pub limit: usize,
}

/// A message as it was planned, with whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedDelivery {
    /// Whose it is.
    pub principal: PrincipalId,
    /// What was planned.
    pub planned: DeliveryPlanned,
}

/// Returns a message with the entry that planned it.
///
/// # Errors
/// [`StoreFault`] when the store fails; so for every query.
pub fn delivery(rows: &mut dyn RowStore, key: DeliveryKey) -> Result<Option<(Seq, DeliveryRow)>, StoreFault> {
    let found = find_row::<DeliveryFamily>(rows, BY_KEY, &by_key(key))?;
    Ok(found.map(|(id, row)| (id.into(), row)))
}

/// Returns a message as lists show it.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn record_of_key(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    key: DeliveryKey,
) -> Result<Option<DeliveryRecord>, StoreFault> {
    let found = find_row::<DeliveryFamily>(rows, BY_KEY, &by_key(key))?;
    found.map(|(id, row)| record(log, id, &row)).transpose()
}

/// Returns what the entry says that planned a message.
///
/// # Errors
/// [`StoreFault`] when the store fails, or the entry planned no message.
pub fn planned(log: &mut dyn LogView, seq: Seq) -> Result<PlannedDelivery, StoreFault> {
    let entry = log.entry(seq)?;
    match entry.event {
        JournalEvent::Delivery(DeliveryEvent::Planned(planned)) => {
            Ok(PlannedDelivery { principal: entry.principal, planned })
        }
        _ => Err(StoreFault::Contradiction { seq }),
    }
}

/// Returns a page of messages, the latest planned one first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn records(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    query: &DeliveryQuery,
) -> Result<Vec<DeliveryRecord>, StoreFault> {
    let (index, prefix) = match query.stage {
        Some(stage) => (BY_STAGE, in_stage(stage)),
        None => (BY_TIME, IndexKey::new()),
    };
    let mut range = KeyRange::of_prefix(prefix.clone());
    if let Some(since) = query.since {
        range.from = prefix.signed(since.0);
    }
    let limit = query.limit.clamp(1, RECORD_PAGE_ROWS_MAX);
    let scan = RowScan { index, range, after: None, order: ScanOrder::Descending, limit };
    let is_wanted = |row: &DeliveryRow| query.target_kind.is_none_or(|kind| kind == row.target_kind);
    let found = scan_wanted::<DeliveryFamily>(rows, scan, is_wanted)?;
    found.into_iter().map(|(id, row)| record(log, id, &row)).collect()
}

fn record(log: &mut dyn LogView, id: RowId, row: &DeliveryRow) -> Result<DeliveryRecord, StoreFault> {
    let seq = Seq::from(id);
    let PlannedDelivery { planned, .. } = planned(log, seq)?;
    Ok(DeliveryRecord {
        key: row.key,
        target_kind: row.target_kind,
        target: planned.target,
        seq,
        planned: row.planned,
        changed: row.changed,
        stage: row.stage,
        attempts: row.attempts,
        explanation: explanation(log, row.ended)?,
    })
}

fn explanation(log: &mut dyn LogView, ended: Option<Seq>) -> Result<Redacted<String>, StoreFault> {
    let Some(seq) = ended else { return Ok(Redacted::default()) };
    match log.entry(seq)?.event {
        JournalEvent::Delivery(DeliveryEvent::AttemptEnded(ended)) => Ok(ended.explanation),
        _ => Err(StoreFault::Contradiction { seq }),
    }
}
