//! Undos of what runs changed: one row for each entry about one. The paths are in the entry, and nowhere else.

use palyra_types::effect::{UndoRequested, UndoResult, UndoSummary};
use palyra_types::event::{EffectEvent, JournalEvent};
use palyra_types::{RunId, Seq, UndoId};

use crate::family::{
    Family, FamilyCache, FamilyIndex, FamilyTable, FoldedEntry, IndexKey, KeyRange, LogView, RowId, RowStore,
    RowsPerKey, ScanOrder, StoreFault, StoredRow, all_rows, scan_rows,
};

/// The family.
pub struct UndoFamily;

/// What an entry says about an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoStage {
    /// It begins, and no entry says that it ended.
    Open,
    /// It begins, and ended.
    Closed,
    /// It ends.
    Finished,
}

/// An entry about an undo; the row's id is the entry.
#[derive(Debug, Clone, Copy)]
pub struct UndoRow {
    /// The undo.
    pub undo: UndoId,
    /// The run whose changes are undone.
    pub run: RunId,
    /// What the entry says.
    pub stage: UndoStage,
}

#[derive(Clone, PartialEq, prost::Message)]
struct UndoFacts {
    #[prost(bytes = "vec", tag = "1")]
    undo: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    run: Vec<u8>,
    #[prost(uint32, tag = "3")]
    stage: u32,
}

const OPEN: usize = 0;
const FINISHED: usize = 1;
const OF_RUN: usize = 2;
/// Entries about undos of one run that are looked at.
const OF_RUN_MAX: usize = 64;

fn key(undo: UndoId) -> IndexKey {
    IndexKey::new().bytes(&undo.to_bytes())
}

impl Family for UndoFamily {
    const TABLE: &'static FamilyTable = &FamilyTable {
        name: "undo",
        version: 1,
        indexes: &[
            FamilyIndex { name: "open", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "finished", rows_per_key: RowsPerKey::Many },
            FamilyIndex { name: "of_run", rows_per_key: RowsPerKey::Many },
        ],
        content: &[],
    };

    type Row = UndoRow;

    fn facts(row: &UndoRow) -> Vec<u8> {
        let stage = match row.stage {
            UndoStage::Open => 0,
            UndoStage::Closed => 1,
            UndoStage::Finished => 2,
        };
        let (undo, run) = (row.undo.to_bytes().to_vec(), row.run.to_bytes().to_vec());
        prost::Message::encode_to_vec(&UndoFacts { undo, run, stage })
    }

    fn load(stored: &StoredRow) -> Option<UndoRow> {
        let facts = <UndoFacts as prost::Message>::decode(stored.facts.as_slice()).ok()?;
        Some(UndoRow {
            undo: UndoId::from_bytes(facts.undo.try_into().ok()?),
            run: RunId::from_bytes(facts.run.try_into().ok()?),
            stage: match facts.stage {
                0 => UndoStage::Open,
                1 => UndoStage::Closed,
                2 => UndoStage::Finished,
                _ => return None,
            },
        })
    }

    fn index(row: &UndoRow, index: usize) -> Option<IndexKey> {
        match index {
            OPEN => (row.stage == UndoStage::Open).then(|| key(row.undo)),
            FINISHED => (row.stage == UndoStage::Finished).then(|| key(row.undo)),
            _ => Some(IndexKey::new().bytes(&row.run.to_bytes())),
        }
    }

    fn fold(rows: &mut FamilyCache<'_, Self>, entry: &FoldedEntry<'_>) -> Result<(), StoreFault> {
        match entry.event {
            JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => {
                let finished = rows.find_all(FINISHED, key(requested.undo))?;
                let stage = if finished.is_empty() { UndoStage::Open } else { UndoStage::Closed };
                rows.insert(entry, UndoRow { undo: requested.undo, run: requested.run, stage })
            }
            JournalEvent::Effect(EffectEvent::UndoFinished { undo, run, .. }) => {
                for id in rows.find_all(OPEN, key(*undo))? {
                    rows.change(id, |row| row.stage = UndoStage::Closed)?;
                }
                rows.insert(entry, UndoRow { undo: *undo, run: *run, stage: UndoStage::Finished })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the undos that have no end, oldest first.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn open(rows: &mut dyn RowStore, log: &mut dyn LogView) -> Result<Vec<UndoRequested>, StoreFault> {
    let mut seqs: Vec<Seq> =
        all_rows::<UndoFamily>(rows, OPEN)?.into_iter().map(|(id, _)| id.into()).collect();
    seqs.sort_unstable();
    let requested = |seq| match log.entry(seq)?.event {
        JournalEvent::Effect(EffectEvent::UndoRequested(requested)) => Ok(requested),
        _ => Err(StoreFault::Contradiction { seq }),
    };
    seqs.into_iter().map(requested).collect()
}

/// Returns what became of the newest undo of a run's file changes that ended; placing a kept file is none.
///
/// # Errors
/// [`StoreFault`] when the store fails, or a row contradicts its entry.
pub fn newest_of_run(
    rows: &mut dyn RowStore,
    log: &mut dyn LogView,
    run: RunId,
) -> Result<Option<UndoSummary>, StoreFault> {
    let range = KeyRange::of_prefix(IndexKey::new().bytes(&run.to_bytes()));
    let mut of_run = scan_rows::<UndoFamily>(rows, OF_RUN, range, ScanOrder::Descending, OF_RUN_MAX)?;
    of_run.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
    for (end, row) in of_run.iter().filter(|(_, row)| row.stage == UndoStage::Finished) {
        let is_beginning =
            |(_, other): &&(RowId, UndoRow)| other.undo == row.undo && other.stage == UndoStage::Closed;
        let Some((beginning, _)) = of_run.iter().find(is_beginning) else { continue };
        let seq = Seq::from(*beginning);
        let JournalEvent::Effect(EffectEvent::UndoRequested(requested)) = log.entry(seq)?.event else {
            return Err(StoreFault::Contradiction { seq });
        };
        if requested.kept.is_some() {
            continue;
        }
        let seq = Seq::from(*end);
        let entry = log.entry(seq)?;
        let JournalEvent::Effect(EffectEvent::UndoFinished { files, .. }) = entry.event else {
            return Err(StoreFault::Contradiction { seq });
        };
        let restored = files.iter().filter(|file| is_back(&file.result)).count();
        return Ok(Some(UndoSummary {
            ended: entry.time,
            restored: u32::try_from(restored).unwrap_or(u32::MAX),
            skipped: u32::try_from(files.len() - restored).unwrap_or(u32::MAX),
        }));
    }
    Ok(None)
}

fn is_back(result: &UndoResult) -> bool {
    matches!(result, UndoResult::Restored | UndoResult::AlreadyRestored)
}
