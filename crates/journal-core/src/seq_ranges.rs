//! Neighbouring entries, gathered.

use palyra_types::Seq;
use palyra_types::proof::SeqRange;

/// Gathers entries into ranges that are ascending and apart, in any order in which they come.
#[derive(Debug, Default)]
pub struct SeqRanges {
    ranges: Vec<SeqRange>,
    entries: u64,
}

impl SeqRanges {
    /// Takes an entry that was not taken before.
    pub fn take(&mut self, seq: Seq) {
        self.entries += 1;
        match self.ranges.last_mut() {
            Some(last) if last.last.next() == seq => last.last = seq,
            _ => self.ranges.push(SeqRange { first: seq, last: seq }),
        }
    }

    /// Returns the ranges in the order in which they came.
    #[must_use]
    pub fn ranges(&self) -> &[SeqRange] {
        &self.ranges
    }

    /// Returns the ranges, and how many entries were taken.
    #[must_use]
    pub fn done(self) -> (Vec<SeqRange>, u64) {
        (joined(self.ranges), self.entries)
    }
}

/// Sorts ranges and joins those that touch or overlap; those that end before they begin are left out.
#[must_use]
pub fn joined(mut ranges: Vec<SeqRange>) -> Vec<SeqRange> {
    ranges.retain(|range| range.first <= range.last);
    ranges.sort_unstable();
    let mut joined: Vec<SeqRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.first.0 <= last.last.0.saturating_add(1) => {
                last.last = last.last.max(range.last);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns whether an entry is in one of the ranges, which are ascending and apart.
#[must_use]
pub fn hold(ranges: &[SeqRange], seq: Seq) -> bool {
    let at = ranges.partition_point(|range| range.last < seq);
    ranges.get(at).is_some_and(|range| range.holds(seq))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(first: u64, last: u64) -> SeqRange {
        SeqRange { first: Seq(first), last: Seq(last) }
    }

    #[test]
    fn ranges_are_joined_whatever_their_order() {
        let mixed = vec![range(9, 12), range(3, 4), range(5, 5), range(20, 19), range(11, 15), range(17, 17)];
        let joined = joined(mixed);
        assert_eq!(joined, [range(3, 5), range(9, 15), range(17, 17)]);
        let held: Vec<u64> = (0..20).filter(|seq| hold(&joined, Seq(*seq))).collect();
        assert_eq!(held, [3, 4, 5, 9, 10, 11, 12, 13, 14, 15, 17]);
        assert!(!hold(&[], Seq(1)));
    }

    #[test]
    fn entries_are_counted_and_gathered() {
        let mut gathered = SeqRanges::default();
        [7, 8, 9, 2, 3, 30].into_iter().for_each(|seq| gathered.take(Seq(seq)));
        assert_eq!(gathered.done(), (vec![range(2, 3), range(7, 9), range(30, 30)], 6));
    }
}
