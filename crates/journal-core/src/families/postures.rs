//! Standing settings of tools: which still hold. One row for each that was made; an ended one stays ended.
//!
//! A setting itself is in the entry that made the row, and nowhere else.

use palyra_types::Seq;
use palyra_types::event::{JournalEvent, PolicyEvent};
use palyra_types::posture::PostureRecord;

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, LogView, RowStore, RowsPerKey,
    StoreFault, StoredRow, logged_records,
};

/// The family.
pub struct PostureFamily;

/// A setting; the row's id is the entry that made it.
#[derive(Debug, Clone, Copy)]
pub struct PostureRow {
    /// The entry that replaced it, or took it back.
    pub ended: Option<Seq>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PostureFacts {
    #[prost(uint64, optional, tag = "1")]
    ended: Option<u64>,
}

const IN_FORCE: usize = 0;

impl Family for PostureFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "posture",
        version: 1,
        indexes: &[FamilyIndex { name: "in_force", rows_per_key: RowsPerKey::Many }],
        content: &[],
    };

    type Row = PostureRow;

    fn facts(row: &PostureRow) -> Vec<u8> {
        prost::Message::encode_to_vec(&PostureFacts { ended: row.ended.map(|seq| seq.0) })
    }

    fn load(stored: &StoredRow) -> Option<PostureRow> {
        let facts = <PostureFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(PostureRow { ended: facts.ended.map(Seq) })
    }

    fn index(row: &PostureRow, _index: usize) -> Option<IndexKey> {
        row.ended.is_none().then(IndexKey::new)
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        let JournalEvent::Policy(PolicyEvent::PostureChanged(changed)) = entry.event else {
            return Ok(());
        };
        if let Some(replaced) = changed.replaces {
            rows.change(replaced.into(), |row| row.ended = row.ended.or(Some(entry.seq)))?;
        }
        if changed.posture.is_some() {
            rows.insert(entry, PostureRow { ended: None })?;
        }
        Ok(())
    }
}

/// Returns the settings that hold, oldest first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn records(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<PostureRecord>, StoreFault> {
    logged_records::<PostureFamily, _>(rows, log, IN_FORCE, IndexKey::new(), |seq, entry| match entry.event {
        JournalEvent::Policy(PolicyEvent::PostureChanged(change)) if change.posture.is_some() => {
            Some(PostureRecord { seq, set: entry.time, change })
        }
        _ => None,
    })
}
