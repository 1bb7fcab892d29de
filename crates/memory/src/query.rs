//! Questions to an index and their hits.

use palyra_types::{MemoryId, PrincipalId, Timestamp};

use crate::item::MemoryScope;

/// A question to the index.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryQuery {
    /// Who asks; the index must be this principal's.
    pub principal: PrincipalId,
    /// Any text. Operators of FTS5 in it are words like others.
    pub text: String,
    /// Only items of these scopes are found.
    pub scopes: Vec<MemoryScope>,
    /// Expired items are judged, and ages counted, by this time.
    pub now: Timestamp,
    /// Hits at most; also limited by [`HITS_MAX`](crate::limits::HITS_MAX).
    pub limit: usize,
    /// The smallest relevance of a hit: [`UNASKED_RELEVANCE_MIN`](crate::UNASKED_RELEVANCE_MIN) or
    /// [`ASKED_RELEVANCE_MIN`](crate::ASKED_RELEVANCE_MIN).
    pub minimum_relevance: f32,
    /// Tokens that the texts of all hits have together at most. Items that do not fit are left out.
    pub token_budget: usize,
}

/// An item that a query found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryHit {
    /// The item.
    pub id: MemoryId,
    /// How well the item answers, from 0 to 1. The order of hits is not by this alone.
    pub relevance: f32,
    /// The item that replaces this one. Hits with one are after all hits without.
    pub superseded_by: Option<MemoryId>,
    /// An estimate of the tokens of the item's text.
    pub tokens: usize,
    /// Why the item was found.
    pub reason: HitReason,
}

/// The parts that a hit was judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HitReason {
    /// The share of the query's words that the item has literally, rare words counting more, from 0 to 1.
    pub words: f32,
    /// The same share, in which words of near meaning count as much as they are near, from 0 to 1.
    pub coverage: f32,
    /// How near the meanings of the whole texts are, from -1 to 1.
    pub meaning: f32,
    /// One for a new item, half after [`RECENCY_HALF_LIFE`](crate::limits::RECENCY_HALF_LIFE).
    pub recency: f32,
}
