//! The index over one principal's memory items.
//!
//! Owns that words, vectors and items say the same, and the road of a query: two lists of candidates, one judgement, one order.
//! Everything is in memory and can be built again from the journal. Begin at [`MemoryIndex::search`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use palyra_types::{MemoryId, PrincipalId, Timestamp};

use crate::embedding_table::{EmbeddingTable, PieceId};
use crate::error::MemoryIndexError;
use crate::item::MemoryItem;
use crate::limits::{
    CANDIDATES_MAX, HITS_MAX, ITEM_PIECES_MAX, ITEM_TEXT_BYTES_MAX, ITEMS_MAX, QUERY_SCOPES_MAX,
    QUERY_TEXT_BYTES_MAX, RECENCY_HALF_LIFE,
};
use crate::normalise::words;
use crate::query::{HitReason, MemoryHit, MemoryQuery};
use crate::query_words::QueryWords;
use crate::ranking::{OrderPlaces, fused, relevance};
use crate::scope_numbers::ScopeNumbers;
use crate::slot_table::{SlotRow, SlotTable};
use crate::stem::{StemHash, stem};
use crate::text_vector::TextVector;
use crate::word_index::{ItemFilter, WordIndex, WordRow};

/// Characters of a token, where pieces of words say less.
const TOKEN_CHARS: usize = 4;

/// An index over the memory items of one principal.
#[derive(Debug)]
pub struct MemoryIndex {
    principal: PrincipalId,
    table: Arc<EmbeddingTable>,
    words: WordIndex,
    slots: SlotTable,
    scopes: ScopeNumbers,
}

struct PreparedQuery<'a> {
    words: QueryWords,
    filter: ItemFilter<'a>,
}

/// An item that one of the lists proposed.
struct CandidateItem<'a> {
    row: &'a SlotRow,
    places: OrderPlaces,
    reason: HitReason,
}

struct RankedHit {
    hit: MemoryHit,
    order: f32,
    created: Timestamp,
}

impl MemoryIndex {
    /// Makes an empty index for the items of `principal`.
    ///
    /// # Errors
    /// [`MemoryIndexError::WordIndex`] if the database in memory cannot be opened.
    pub fn new(principal: PrincipalId, table: Arc<EmbeddingTable>) -> Result<Self, MemoryIndexError> {
        let words = WordIndex::open()?;
        Ok(Self { principal, table, words, slots: SlotTable::default(), scopes: ScopeNumbers::default() })
    }

    /// Returns how many items the index has, expired ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether the index has no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an item, or replaces the one with the same id.
    ///
    /// # Errors
    /// [`MemoryIndexError`]: the item is another principal's, too long, or one too many.
    pub fn upsert(&mut self, item: MemoryItem) -> Result<(), MemoryIndexError> {
        self.upsert_all([item])
    }

    /// Adds or replaces items in one transaction. Of items with the same id the last one counts.
    ///
    /// # Errors
    /// As [`upsert`](Self::upsert); then no item was added.
    pub fn upsert_all(
        &mut self,
        items: impl IntoIterator<Item = MemoryItem>,
    ) -> Result<(), MemoryIndexError> {
        let items: BTreeMap<MemoryId, MemoryItem> = items.into_iter().map(|item| (item.id, item)).collect();
        let mut new_count = 0;
        for item in items.values() {
            self.check(item)?;
            new_count += usize::from(self.slots.slot_of(item.id).is_none());
        }
        if self.slots.len() + new_count > ITEMS_MAX {
            return Err(MemoryIndexError::TooManyItems);
        }
        for id in items.keys() {
            self.remove(*id)?;
        }
        self.insert(&items)
    }

    /// Removes an item; one that is not there is removed already.
    ///
    /// # Errors
    /// [`MemoryIndexError::WordIndex`] if the database in memory fails.
    pub fn remove(&mut self, id: MemoryId) -> Result<(), MemoryIndexError> {
        if let Some(slot) = self.slots.slot_of(id) {
            self.words.remove(row_id(slot))?;
            if let Some(row) = self.slots.remove(id) {
                self.scopes.remove(row.scope);
            }
        }
        Ok(())
    }

    /// Returns the items that answer a query, the best first; none if no item is relevant enough.
    ///
    /// # Errors
    /// [`MemoryIndexError`]: the query is another principal's or names too many scopes. No text is an error.
    pub fn search(&self, query: &MemoryQuery) -> Result<Vec<MemoryHit>, MemoryIndexError> {
        if query.principal != self.principal {
            return Err(MemoryIndexError::OtherPrincipal);
        }
        if query.scopes.len() > QUERY_SCOPES_MAX {
            return Err(MemoryIndexError::TooManyScopes { count: query.scopes.len() });
        }
        let scopes: Vec<u32> = query.scopes.iter().filter_map(|scope| self.scopes.get(scope)).collect();
        let filter = ItemFilter { principal: self.principal, scopes: &scopes, now: query.now };
        let text = &query.text[..query.text.floor_char_boundary(QUERY_TEXT_BYTES_MAX)];
        let words = QueryWords::of(text, &self.table, self.slots.counts());
        let prepared = PreparedQuery { words, filter };
        let mut ranked: Vec<RankedHit> = self
            .candidates(&prepared)?
            .iter()
            .map(CandidateItem::ranked)
            .filter(|ranked| ranked.hit.relevance >= query.minimum_relevance)
            .collect();
        ranked.sort_by(by_order);
        Ok(within_budget(ranked, query))
    }

    fn check(&self, item: &MemoryItem) -> Result<(), MemoryIndexError> {
        if item.principal != self.principal {
            return Err(MemoryIndexError::OtherPrincipal);
        }
        if item.text.len() > ITEM_TEXT_BYTES_MAX {
            return Err(MemoryIndexError::TextTooLong { id: item.id, bytes: item.text.len() });
        }
        Ok(())
    }

    fn insert(&mut self, items: &BTreeMap<MemoryId, MemoryItem>) -> Result<(), MemoryIndexError> {
        let stems: Vec<Vec<String>> = items.values().map(|item| stems(&item.text)).collect();
        let scopes: Vec<u32> = items.values().map(|item| self.scopes.add(&item.scope)).collect();
        let slots = self.slots.next_slots(items.len());
        let mut rows = Vec::with_capacity(items.len());
        for (index, item) in items.values().enumerate() {
            let slot = row_id(slots[index]);
            let scope = scopes[index];
            let stems = &stems[index];
            rows.push(WordRow { slot, principal: item.principal, scope, expires: item.expires, stems });
        }
        self.words.insert(&rows)?;
        for (index, item) in items.values().enumerate() {
            self.slots.insert(SlotRow {
                id: item.id,
                scope: scopes[index],
                created: item.created,
                expires: item.expires,
                superseded_by: item.superseded_by,
                tokens: self.tokens(&item.text),
                stems: StemHash::of_all(&stems[index]),
                pieces: self.different_pieces(&item.text),
                vector: self.table.embed(&item.text),
            });
        }
        Ok(())
    }

    fn tokens(&self, text: &str) -> usize {
        self.table.pieces(text).len().max(text.chars().count().div_ceil(TOKEN_CHARS))
    }

    fn different_pieces(&self, text: &str) -> Box<[PieceId]> {
        let mut pieces = self.table.pieces(text);
        pieces.sort_unstable();
        pieces.dedup();
        pieces.truncate(ITEM_PIECES_MAX);
        pieces.into_boxed_slice()
    }

    /// Returns the proposals of both lists with their places in all orders.
    fn candidates(&self, query: &PreparedQuery<'_>) -> Result<Vec<CandidateItem<'_>>, MemoryIndexError> {
        let mut places: BTreeMap<usize, OrderPlaces> = BTreeMap::new();
        let by_words = self.words.search(&query.words.stems(), &query.filter, CANDIDATES_MAX)?;
        for (place, row_id) in by_words.into_iter().enumerate() {
            if let Ok(slot) = usize::try_from(row_id) {
                places.entry(slot).or_default().words = Some(place);
            }
        }
        let by_meaning = self.slots.nearest(query.words.meaning(), &query.filter, CANDIDATES_MAX);
        for (place, slot) in by_meaning.into_iter().enumerate() {
            places.entry(slot).or_default().meaning = Some(place);
        }
        let mut candidates: Vec<CandidateItem<'_>> = places
            .into_iter()
            .filter_map(|(slot, places)| {
                let row = self.slots.row(slot)?;
                Some(CandidateItem { row, places, reason: self.reason(row, query) })
            })
            .collect();
        candidates.sort_by(|a, b| b.reason.coverage.total_cmp(&a.reason.coverage));
        for (place, candidate) in candidates.iter_mut().enumerate() {
            candidate.places.coverage = place;
        }
        Ok(candidates)
    }

    fn reason(&self, row: &SlotRow, query: &PreparedQuery<'_>) -> HitReason {
        let pieces: Vec<TextVector> =
            row.pieces.iter().map(|piece| self.table.piece_vector(*piece)).collect();
        HitReason {
            words: query.words.share(&row.stems),
            coverage: query.words.coverage(&row.stems, &pieces),
            meaning: row.vector.similarity(query.words.meaning()),
            recency: recency(query.filter.now.since(row.created)),
        }
    }
}

impl CandidateItem<'_> {
    fn ranked(&self) -> RankedHit {
        let hit = MemoryHit {
            id: self.row.id,
            relevance: relevance(&self.reason),
            superseded_by: self.row.superseded_by,
            tokens: self.row.tokens,
            reason: self.reason,
        };
        RankedHit { hit, order: fused(self.places, &self.reason), created: self.row.created }
    }
}

fn stems(text: &str) -> Vec<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

fn row_id(slot: usize) -> i64 {
    i64::try_from(slot).unwrap_or(i64::MAX)
}

fn recency(age: Duration) -> f32 {
    let half_lives = age.as_secs_f32() / RECENCY_HALF_LIFE.as_secs_f32();
    (-half_lives).exp2()
}

fn by_order(a: &RankedHit, b: &RankedHit) -> std::cmp::Ordering {
    let superseded = a.hit.superseded_by.is_some().cmp(&b.hit.superseded_by.is_some());
    let order = b.order.total_cmp(&a.order);
    superseded.then(order).then(b.created.cmp(&a.created)).then(a.hit.id.cmp(&b.hit.id))
}

fn within_budget(ranked: Vec<RankedHit>, query: &MemoryQuery) -> Vec<MemoryHit> {
    let mut remaining = query.token_budget;
    let mut hits = Vec::new();
    for RankedHit { hit, .. } in ranked {
        if hits.len() == query.limit.min(HITS_MAX) {
            break;
        }
        if let Some(rest) = remaining.checked_sub(hit.tokens) {
            remaining = rest;
            hits.push(hit);
        }
    }
    hits
}
