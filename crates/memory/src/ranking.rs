//! Which candidates are hits, and in which order.
//!
//! Owns the relevance on an absolute scale and the fusion of three orders: by words, by meaning and by coverage. Pure: no index,
//! no clock. The constants were tuned on one half of the labelled set in `tests/recall`.

use crate::query::HitReason;

/// The smallest relevance for items that are added to a prompt although no one asked for memory.
pub const UNASKED_RELEVANCE_MIN: f32 = 0.51;
/// The smallest relevance for items that a person or a model asked memory for.
pub const ASKED_RELEVANCE_MIN: f32 = 0.38;

/// Share of the meaning in the relevance; the rest is coverage.
const MEANING_SHARE: f32 = 0.8;
/// The share of a query's words below which an item's place by words does not count: its match is by chance.
const WORDS_SHARE_MIN: f32 = 0.5;
/// The constant of reciprocal rank fusion: the larger, the less the first places count.
const FUSION_OFFSET: f32 = 60.0;
/// What a new item gains over an old one.
const RECENCY_GAIN: f32 = 0.05;

/// The places of an item in the orders, from 0.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OrderPlaces {
    /// `None` if the item has no word of the query.
    pub(crate) words: Option<usize>,
    /// `None` if the item is not among the nearest.
    pub(crate) meaning: Option<usize>,
    pub(crate) coverage: usize,
}

/// Returns how well an item answers, from 0 to 1.
pub(crate) fn relevance(reason: &HitReason) -> f32 {
    let relevance = MEANING_SHARE * reason.meaning.max(0.0) + (1.0 - MEANING_SHARE) * reason.coverage;
    relevance.clamp(0.0, 1.0)
}

/// Returns the number by which hits are ordered, the largest first.
pub(crate) fn fused(places: OrderPlaces, reason: &HitReason) -> f32 {
    let words = places.words.filter(|_| reason.words >= WORDS_SHARE_MIN);
    let parts = [words, places.meaning, Some(places.coverage)].into_iter().flatten().map(reciprocal);
    parts.sum::<f32>() * (1.0 + RECENCY_GAIN * reason.recency)
}

fn reciprocal(place: usize) -> f32 {
    let place = u16::try_from(place).unwrap_or(u16::MAX);
    1.0 / (FUSION_OFFSET + 1.0 + f32::from(place))
}
