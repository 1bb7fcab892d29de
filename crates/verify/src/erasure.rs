//! Which entries were erased, and by whom.
//!
//! Owns the ranges that Erased entries name. Knows nothing of payloads.

use crate::facts::ErasedFacts;
use crate::limits::{ERASED_RANGES_MAX, REPORTED_ITEMS_MAX};
use crate::report::ErasedRange;

/// All erased ranges of a log, asked in ascending order.
#[derive(Debug, Default)]
pub(crate) struct ErasedRanges {
    /// Ascending and apart, once sealed.
    merged: Vec<(u64, u64)>,
    at: usize,
    count: u64,
    listed: Vec<ErasedRange>,
}

/// More ranges than a verifier keeps.
#[derive(Debug)]
pub(crate) struct TooManyRanges;

impl ErasedRanges {
    /// Takes in what the entry `seq` erased.
    pub(crate) fn add(&mut self, seq: u64, erased: &ErasedFacts) -> Result<(), TooManyRanges> {
        for &(first, last) in &erased.ranges {
            if self.merged.len() >= ERASED_RANGES_MAX {
                return Err(TooManyRanges);
            }
            self.merged.push((first, last));
            self.count += 1;
            if self.listed.len() < REPORTED_ITEMS_MAX {
                let (authoriser, reason) = (erased.authoriser, erased.reason);
                self.listed.push(ErasedRange { first, last, authoriser, reason, by: seq });
            }
        }
        Ok(())
    }

    /// Readies the ranges for [`covers`](Self::covers).
    pub(crate) fn sort(&mut self) {
        self.merged.sort_unstable();
        let ranges = std::mem::take(&mut self.merged);
        for (first, last) in ranges {
            match self.merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
                Some(_) | None => self.merged.push((first, last)),
            }
        }
    }

    /// Returns whether `seq` was erased; to be asked in ascending order.
    pub(crate) fn covers(&mut self, seq: u64) -> bool {
        while self.merged.get(self.at).is_some_and(|range| range.1 < seq) {
            self.at += 1;
        }
        self.merged.get(self.at).is_some_and(|range| range.0 <= seq)
    }

    /// Returns the first ranges, as they were named, and how many there are.
    pub(crate) fn into_listed(self) -> (Vec<ErasedRange>, u64) {
        (self.listed, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_may_touch_and_overlap() {
        let mut erasures = ErasedRanges::default();
        let erased =
            |ranges: &[(u64, u64)]| ErasedFacts { authoriser: [0; 16], reason: 1, ranges: ranges.to_vec() };
        erasures.add(30, &erased(&[(9, 12), (2, 3)])).expect("few");
        erasures.add(40, &erased(&[(4, 4), (11, 14)])).expect("few");
        erasures.sort();
        let covered: Vec<u64> = (0..20).filter(|seq| erasures.covers(*seq)).collect();
        assert_eq!(covered, [2, 3, 4, 9, 10, 11, 12, 13, 14]);
    }
}
