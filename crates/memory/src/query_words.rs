//! The words of a query, how much each of them counts, and how well an item has them.
//!
//! Owns the weight of words: a word counts if it is rare in the language, and less if many items of the index have it, such as
//! the name of the principal. Knows neither lists nor order.

use std::collections::HashSet;

use crate::embedding_table::{EmbeddingTable, PieceId};
use crate::limits::{QUERY_MEANING_WORDS_MAX, QUERY_WORDS_MAX};
use crate::normalise::words;
use crate::stem::{StemHash, stem};
use crate::stem_counts::StemCounts;
use crate::text_vector::{TextVector, VectorSum};

/// Rarity below which a word says nothing about the topic: articles, pronouns, question words.
const TOPIC_RARITY_MIN: f32 = 0.5;

/// A query as it is compared with items.
#[derive(Debug)]
pub(crate) struct QueryWords {
    topics: Vec<TopicWord>,
    meaning: TextVector,
}

/// A word that says something about the topic.
#[derive(Debug)]
struct TopicWord {
    stem: String,
    hash: StemHash,
    weight: f32,
    meaning: TextVector,
}

impl QueryWords {
    /// Takes the words of `text` in an index that has `counts`.
    pub(crate) fn of(text: &str, table: &EmbeddingTable, counts: &StemCounts) -> Self {
        let mut seen = HashSet::new();
        let mut topics: Vec<TopicWord> = Vec::new();
        let mut sum = VectorSum::default();
        for word in words(text).into_iter().take(QUERY_MEANING_WORDS_MAX) {
            let stem = stem(&word);
            let hash = StemHash::of(&stem);
            let pieces = table.word_pieces(&word);
            let rarity_here = counts.rarity(hash);
            let mut word_sum = VectorSum::default();
            for piece in &pieces {
                sum.add(table, *piece, rarity_here);
                word_sum.add(table, *piece, 1.0);
            }
            let weight = topic_weight(&pieces, table) * rarity_here;
            if weight > 0.0 && seen.insert(hash) {
                topics.push(TopicWord { stem, hash, weight, meaning: word_sum.vector() });
            }
        }
        topics.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        topics.truncate(QUERY_WORDS_MAX);
        Self { topics, meaning: sum.vector() }
    }

    pub(crate) fn meaning(&self) -> &TextVector {
        &self.meaning
    }

    pub(crate) fn stems(&self) -> Vec<String> {
        self.topics.iter().map(|word| word.stem.clone()).collect()
    }

    /// Returns which share of the words, by weight, an item has literally.
    pub(crate) fn share(&self, item_stems: &[StemHash]) -> f32 {
        let found = self.topics.iter().filter(|word| word.is_in(item_stems));
        self.share_of_weight(found.map(|word| word.weight).sum())
    }

    /// Returns which share of the words, by weight, an item has literally or by a word that is near.
    pub(crate) fn coverage(&self, item_stems: &[StemHash], item_pieces: &[TextVector]) -> f32 {
        let covered = self.topics.iter().map(|word| {
            let nearest = item_pieces.iter().map(|piece| piece.similarity(&word.meaning)).fold(0.0, f32::max);
            word.weight * if word.is_in(item_stems) { 1.0 } else { nearest }
        });
        self.share_of_weight(covered.sum())
    }

    fn share_of_weight(&self, weight: f32) -> f32 {
        let all: f32 = self.topics.iter().map(|word| word.weight).sum();
        if all > 0.0 { (weight / all).min(1.0) } else { 0.0 }
    }
}

impl TopicWord {
    fn is_in(&self, item_stems: &[StemHash]) -> bool {
        item_stems.binary_search(&self.hash).is_ok()
    }
}

fn topic_weight(pieces: &[PieceId], table: &EmbeddingTable) -> f32 {
    let rarity = match pieces {
        [piece] => table.rarity(*piece),
        _ => 1.0,
    };
    (rarity - TOPIC_RARITY_MIN).max(0.0)
}
