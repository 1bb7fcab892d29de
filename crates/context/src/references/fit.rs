//! How much of each item a model is shown.
//!
//! Pure and total. Items are served in the order in which they are written; one that does not fit whole is cut, and left
//! out where too little of it would remain. Begin at [`fit_items`].

use palyra_types::context_reference::ReferenceLimits;
use palyra_types::model::BYTES_PER_TOKEN_ESTIMATED;

use super::CUT_ITEM_TOKENS_MIN;

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
    let item_max = bytes_of(limits.item_tokens);
    let least = bytes_of(CUT_ITEM_TOKENS_MIN);
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

fn bytes_of(tokens: u64) -> u64 {
    tokens.saturating_mul(BYTES_PER_TOKEN_ESTIMATED)
}
