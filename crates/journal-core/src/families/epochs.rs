//! Epochs: which start is the newest. Late writers are refused by it.

use palyra_types::event::{JournalEvent, LogEvent};
use palyra_types::{Epoch, Seq};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, RowStore, RowsPerKey,
    ScanOrder, StoreFault, StoredRow, scan_rows,
};

/// The family.
pub struct EpochFamily;

/// An epoch; the row's id is the entry that began it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochRow {
    /// Its number.
    pub epoch: Epoch,
    /// The key that its heads are signed with.
    pub key: [u8; 32],
}

/// An epoch with the entry that began it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartedEpoch {
    /// The epoch.
    pub epoch: Epoch,
    /// The entry that began it.
    pub seq: Seq,
    /// The key that its heads are signed with.
    pub key: [u8; 32],
}

#[derive(Clone, PartialEq, prost::Message)]
struct EpochFacts {
    #[prost(uint32, tag = "1")]
    epoch: u32,
    #[prost(bytes = "vec", tag = "2")]
    key: Vec<u8>,
}

const BY_NUMBER: usize = 0;

impl Family for EpochFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "epoch",
        version: 1,
        indexes: &[FamilyIndex { name: "by_number", rows_per_key: RowsPerKey::One }],
        content: &[],
    };

    type Row = EpochRow;

    fn facts(row: &EpochRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&EpochFacts { epoch: row.epoch.0, key: row.key.to_vec() })
    }

    fn load(stored: &StoredRow) -> Option<EpochRow> {
        let facts = <EpochFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(EpochRow { epoch: Epoch(facts.epoch), key: facts.key.try_into().ok()? })
    }

    fn index(row: &EpochRow, _index: usize) -> Option<IndexKey> {
        Some(IndexKey::new().number(row.epoch.0.into()))
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Log(LogEvent::EpochStarted { epoch, key, .. }) => {
                rows.insert(entry, EpochRow { epoch: *epoch, key: *key })
            }
            _ => Ok(()),
        }
    }
}

fn newest_first(rows: &mut dyn RowStore, limit: usize) -> Result<Vec<StartedEpoch>, StoreFault> {
    let range = KeyRange::of_prefix(IndexKey::new());
    let found = scan_rows::<EpochFamily>(rows, BY_NUMBER, range, ScanOrder::Descending, limit)?;
    let started = found.into_iter().map(|(id, row)| {
        let (epoch, key) = (row.epoch, row.key);
        StartedEpoch { epoch, seq: id.into(), key }
    });
    Ok(started.collect())
}

/// Returns the newest epoch; zero before the first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn newest(rows: &mut dyn RowStore) -> Result<Epoch, StoreFault> {
    Ok(newest_first(rows, 1)?.pop().map_or(Epoch(0), |started| started.epoch))
}

/// Returns every epoch, newest first.
///
/// # Errors
/// [`StoreFault`] when the store fails.
pub fn descending(rows: &mut dyn RowStore) -> Result<Vec<StartedEpoch>, StoreFault> {
    newest_first(rows, usize::MAX)
}
