//! What came while a question was open, to be shown after it.
//!
//! Knows no terminal. Invariant: bounded; what does not fit is counted.

use crate::run_view::ShownLine;

/// More than that of one question is left out.
const ITEMS_MAX: usize = 1_000;

/// Items in the order they came.
#[derive(Debug, Default)]
pub struct DeferredOutput {
    items: Vec<ShownLine>,
    left_out: u64,
}

impl DeferredOutput {
    /// Keeps an item.
    pub fn push(&mut self, shown: ShownLine) {
        if self.items.len() < ITEMS_MAX {
            self.items.push(shown);
        } else {
            self.left_out += 1;
        }
    }

    /// Returns what was kept, and how much was left out.
    pub fn take(&mut self) -> (Vec<ShownLine>, u64) {
        (std::mem::take(&mut self.items), std::mem::take(&mut self.left_out))
    }
}
