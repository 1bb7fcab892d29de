//! How much of each item a model is shown.
//!
//! Pure and total. Items are served in the order in which they are written; one that does not fit whole is cut, and left
//! out where too little of it would remain. Begin at [`fit_items`].

use palyra_types::model::BYTES_PER_TOKEN_ESTIMATED;

use super::{CUT_ITEM_TOKENS_MIN, ITEM_TOKENS_MAX, TOTAL_TOKENS_MAX};

/// A model is shown at most one part in this many of its window as references of one input.
const WINDOW_PART: u64 = 4;

/// Estimated tokens of the items of one input, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReferenceLimits {
    /// Of one item.
    pub item_tokens: u64,
    /// Of all.
    pub total_tokens: u64,
}

impl Default for ReferenceLimits {
    fn default() -> Self {
        Self { item_tokens: ITEM_TOKENS_MAX, total_tokens: TOTAL_TOKENS_MAX }
    }
}

impl ReferenceLimits {
    /// Returns the limits for a model with this window.
    #[must_use]
    pub fn for_window(window_tokens: u64) -> Self {
        let total_tokens = TOTAL_TOKENS_MAX.min(window_tokens / WINDOW_PART);
        Self { item_tokens: ITEM_TOKENS_MAX.min(total_tokens), total_tokens }
    }
}

/// How much of an item is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemFit {
    /// All.
    Whole,
    /// Its beginning.
    Cut {
        /// So many bytes, at most.
        bytes: u64,
    },
    /// Nothing: too little room is left.
    LeftOut,
}

/// Returns how much of each item is shown, by their sizes in bytes.
#[must_use]
pub fn fit_items(sizes: &[u64], limits: ReferenceLimits) -> Vec<ItemFit> {
    let bytes_of = |tokens: u64| tokens.saturating_mul(BYTES_PER_TOKEN_ESTIMATED);
    let (item_max, least) = (bytes_of(limits.item_tokens), bytes_of(CUT_ITEM_TOKENS_MIN));
    let mut left = bytes_of(limits.total_tokens);
    let fit = |size: &u64| {
        let room = item_max.min(left);
        if *size <= room {
            left -= size;
            ItemFit::Whole
        } else if room >= least {
            left -= room;
            ItemFit::Cut { bytes: room }
        } else {
            ItemFit::LeftOut
        }
    };
    sizes.iter().map(fit).collect()
}
