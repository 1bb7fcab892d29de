//! What the index keeps of each item beside its words: the vector, the scope, times, stems and pieces.
//!
//! Owns the numbers of slots, which the word index uses as row ids, and the scan over all vectors. Invariant: `by_id`,
//! `slots` and `counts` are of the same items.

use std::collections::HashMap;

use palyra_types::{MemoryId, Timestamp};

use crate::embedding_table::PieceId;
use crate::stem::StemHash;
use crate::stem_counts::StemCounts;
use crate::text_vector::TextVector;
use crate::word_index::ItemFilter;

/// One item.
#[derive(Debug)]
pub(crate) struct SlotRow {
    pub(crate) id: MemoryId,
    pub(crate) scope: u32,
    pub(crate) created: Timestamp,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) superseded_by: Option<MemoryId>,
    pub(crate) tokens: usize,
    /// The item's different stems, ascending.
    pub(crate) stems: Box<[StemHash]>,
    /// Different pieces of the item's words.
    pub(crate) pieces: Box<[PieceId]>,
    pub(crate) vector: TextVector,
}

impl SlotRow {
    fn passes(&self, filter: &ItemFilter<'_>) -> bool {
        filter.scopes.contains(&self.scope) && self.expires.is_none_or(|expires| expires > filter.now)
    }
}

/// All items of an index.
#[derive(Debug, Default)]
pub(crate) struct SlotTable {
    slots: Vec<Option<SlotRow>>,
    free: Vec<usize>,
    by_id: HashMap<MemoryId, usize>,
    counts: StemCounts,
}

impl SlotTable {
    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn counts(&self) -> &StemCounts {
        &self.counts
    }

    pub(crate) fn slot_of(&self, id: MemoryId) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    pub(crate) fn row(&self, slot: usize) -> Option<&SlotRow> {
        self.slots.get(slot)?.as_ref()
    }

    /// Returns the slots that the next `count` insertions take.
    pub(crate) fn next_slots(&self, count: usize) -> Vec<usize> {
        self.free.iter().rev().copied().chain(self.slots.len()..).take(count).collect()
    }

    /// Puts an item into the next slot.
    pub(crate) fn insert(&mut self, row: SlotRow) {
        let slot = self.free.pop().unwrap_or(self.slots.len());
        self.by_id.insert(row.id, slot);
        self.counts.add(&row.stems);
        match self.slots.get_mut(slot) {
            Some(place) => *place = Some(row),
            None => self.slots.push(Some(row)),
        }
    }

    /// Takes an item out.
    pub(crate) fn remove(&mut self, id: MemoryId) -> Option<SlotRow> {
        let slot = self.by_id.remove(&id)?;
        let row = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        self.counts.remove(&row.stems);
        Some(row)
    }

    /// Returns the items nearest to `vector`, the nearest first.
    pub(crate) fn nearest(&self, vector: &TextVector, filter: &ItemFilter<'_>, limit: usize) -> Vec<usize> {
        let rows = self.slots.iter().enumerate().filter_map(|(slot, row)| Some((slot, row.as_ref()?)));
        let mut found: Vec<NearItem> = rows
            .filter(|(_, row)| row.passes(filter))
            .map(|(slot, row)| NearItem { similarity: row.vector.similarity(vector), slot })
            .filter(|near| near.similarity > 0.0)
            .collect();
        if found.len() > limit {
            found.select_nth_unstable_by(limit, NearItem::order);
            found.truncate(limit);
        }
        found.sort_unstable_by(NearItem::order);
        found.into_iter().map(|near| near.slot).collect()
    }
}

struct NearItem {
    similarity: f32,
    slot: usize,
}

impl NearItem {
    fn order(&self, other: &Self) -> std::cmp::Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.slot.cmp(&other.slot))
    }
}
