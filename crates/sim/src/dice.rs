//! All chance of a story, out of one seed.
//!
//! Owns nothing but the generator; clones throw the same dice. Invariant: no other source of chance exists in
//! this crate, so the same seed tells the same story.

use std::sync::Arc;
use std::time::Duration;

use palyra_testkit::FixedEntropy;

/// The dice of one story.
#[derive(Debug, Clone)]
pub(crate) struct ScenarioRandom(Arc<FixedEntropy>);

impl ScenarioRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Arc::new(FixedEntropy::new(seed)))
    }

    /// Makes dice of their own for somebody, so that one more throw here changes nothing there.
    pub(crate) fn apart(&self) -> Self {
        Self::new(self.0.next_u64())
    }

    /// Returns a number below `sides`, which is not zero.
    pub(crate) fn below(&self, sides: u64) -> u64 {
        self.0.next_u64() % sides
    }

    /// Returns an index below `length`, which is not zero.
    pub(crate) fn index(&self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// Returns whether something happens that happens so often in a thousand.
    pub(crate) fn in_thousand(&self, times: u32) -> bool {
        self.below(1_000) < u64::from(times)
    }

    /// Returns one of the choices; there is at least one.
    pub(crate) fn pick<T: Copy>(&self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }

    /// Returns less microseconds than there are in `below`.
    pub(crate) fn micros(&self, below: Duration) -> i64 {
        i64::try_from(self.span(below).as_micros()).unwrap_or(0)
    }

    /// Returns a span of less than `below`.
    pub(crate) fn span(&self, below: Duration) -> Duration {
        Duration::from_micros(self.below(u64::try_from(below.as_micros()).unwrap_or(u64::MAX).max(1)))
    }
}
