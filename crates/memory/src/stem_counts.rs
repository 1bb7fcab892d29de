//! How many items of the index have each stem.
//!
//! Owns the rarity of a stem in the index. It begins as if the index had many items without it, so that a small index does not
//! take all its words for common ones.

use std::collections::HashMap;

use crate::stem::StemHash;

/// Items without any known word that every index is assumed to have besides its own.
const ASSUMED_ITEMS: f32 = 1_000.0;

/// Counts of items by stem.
#[derive(Debug, Default)]
pub(crate) struct StemCounts {
    items_count: u32,
    by_stem: HashMap<StemHash, u32>,
}

impl StemCounts {
    /// Counts an item with these different stems.
    pub(crate) fn add(&mut self, stems: &[StemHash]) {
        self.items_count += 1;
        for stem in stems {
            *self.by_stem.entry(*stem).or_default() += 1;
        }
    }

    /// Takes back an item that was counted.
    pub(crate) fn remove(&mut self, stems: &[StemHash]) {
        self.items_count = self.items_count.saturating_sub(1);
        for stem in stems {
            if let Some(count) = self.by_stem.get_mut(stem) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.by_stem.remove(stem);
                }
            }
        }
    }

    /// Returns how rare a stem is among the items, from nearly 0 if all have it to 1 if none has it.
    pub(crate) fn rarity(&self, stem: StemHash) -> f32 {
        let with = self.by_stem.get(&stem).copied().unwrap_or(0);
        let all = ASSUMED_ITEMS + count(self.items_count);
        inverse_frequency(all, count(with)) / inverse_frequency(all, 0.0)
    }
}

fn inverse_frequency(all: f32, with: f32) -> f32 {
    ((all - with + 0.5) / (with + 0.5)).ln_1p()
}

#[expect(clippy::cast_precision_loss, reason = "counts of items are below 2^24")]
fn count(count: u32) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_of_many_items_is_less_rare() {
        let rare = StemHash::of("cello");
        let common = StemHash::of("mira");
        let mut counts = StemCounts::default();
        counts.add(&[rare, common]);
        for _ in 0..50 {
            counts.add(&[common]);
        }
        assert!((counts.rarity(StemHash::of("unknown")) - 1.0).abs() < 1e-6);
        assert!(counts.rarity(common) < counts.rarity(rare));
        assert!(counts.rarity(rare) > 0.8);
        counts.remove(&[rare, common]);
        assert!((counts.rarity(rare) - 1.0).abs() < 1e-6);
    }
}
