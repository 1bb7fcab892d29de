//! Policies that were tried out: the newest count of each.
//!
//! A count itself is in the entry that the row names, and nowhere else.

use palyra_types::Seq;
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::shadow::ShadowCounts;

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowStore,
    RowsPerKey, ScanOrder, StoreFault, StoredRow, find_row, scan_rows,
};

/// The family.
pub struct ShadowFamily;

/// A candidate and the entry of its newest count.
#[derive(Debug, Clone, Copy)]
pub struct ShadowRow {
    /// The digest of the policy.
    pub candidate: [u8; 32],
    /// The entry of the newest count.
    pub newest: Seq,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ShadowFacts {
    #[prost(bytes = "vec", tag = "1")]
    candidate: Vec<u8>,
    #[prost(uint64, tag = "2")]
    newest: u64,
}

const BY_CANDIDATE: usize = 0;
const BY_COUNT: usize = 1;

fn key(candidate: &[u8; 32]) -> IndexKey {
    IndexKey::new().bytes(candidate)
}

impl Family for ShadowFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "shadow",
        version: 1,
        indexes: &[
            FamilyIndex { name: "by_candidate", rows_per_key: RowsPerKey::One },
            FamilyIndex { name: "by_count", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    type Row = ShadowRow;

    fn facts(row: &ShadowRow) -> Vec<u8> {
        let (candidate, newest) = (row.candidate.to_vec(), row.newest.0);
        prost::Message::encode_to_vec(&ShadowFacts { candidate, newest })
    }

    fn load(stored: &StoredRow) -> Option<ShadowRow> {
        let facts = <ShadowFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(ShadowRow { candidate: facts.candidate.try_into().ok()?, newest: Seq(facts.newest) })
    }

    fn index(row: &ShadowRow, index: usize) -> Option<IndexKey> {
        Some(if index == BY_CANDIDATE { key(&row.candidate) } else { IndexKey::new().number(row.newest.0) })
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Policy(PolicyEvent::ShadowCounted(counts)) = entry.event else { return Ok(()) };
        match rows.find(BY_CANDIDATE, &key(&counts.candidate))? {
            Some((id, _)) => rows.change(id, |row| row.newest = entry.seq),
            None => rows.insert(entry, ShadowRow { candidate: counts.candidate, newest: entry.seq }),
        }
    }
}

/// Returns the newest count of a candidate; of any where none is named.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn newest(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    candidate: Option<[u8; 32]>,
) -> Result<Option<ShadowCounts>, StoreFault> {
    let found = match candidate {
        Some(candidate) => find_row::<ShadowFamily>(rows, BY_CANDIDATE, &key(&candidate))?,
        None => {
            let range = KeyRange::of_prefix(IndexKey::new());
            scan_rows::<ShadowFamily>(rows, BY_COUNT, range, ScanOrder::Descending, 1)?.pop()
        }
    };
    let Some((_, row)) = found else { return Ok(None) };
    match log.entry(row.newest)?.event {
        JournalEvent::Policy(PolicyEvent::ShadowCounted(counts)) => Ok(Some(counts)),
        _ => Err(StoreFault::Contradiction { seq: row.newest }),
    }
}
