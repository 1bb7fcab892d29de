//! Many measurements of one thing, and what is told of them.

use std::time::Duration;

use serde::Serialize;

/// Which direction is the good one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BetterDirection {
    /// Times, sizes, counts.
    Lower,
    /// Rates.
    Higher,
}

/// What is told of many measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SampleSummary {
    /// The median.
    pub p50: f64,
    /// What 99 of 100 measurements are at least as good as.
    pub p99: f64,
    /// How many there were.
    pub samples: usize,
}

impl SampleSummary {
    /// Says one measurement.
    #[must_use]
    pub fn single(value: f64) -> Self {
        Self { p50: value, p99: value, samples: 1 }
    }

    /// Returns the same measurements, counted from another zero.
    #[must_use]
    pub fn less(self, zero: f64) -> Self {
        Self { p50: self.p50 - zero, p99: self.p99 - zero, ..self }
    }
}

/// Many measurements of one thing.
#[derive(Debug, Clone)]
pub struct SampleSet {
    values: Vec<f64>,
    better: BetterDirection,
}

impl SampleSet {
    /// Makes an empty collection.
    #[must_use]
    pub fn new(better: BetterDirection) -> Self {
        Self { values: Vec::new(), better }
    }

    /// Makes an empty collection of times in milliseconds.
    #[must_use]
    pub fn times() -> Self {
        Self::new(BetterDirection::Lower)
    }

    /// Adds a measurement.
    pub fn push(&mut self, value: f64) {
        self.values.push(value);
    }

    /// Adds a time, in milliseconds.
    pub fn push_time(&mut self, span: Duration) {
        self.push(milliseconds(span));
    }

    /// Returns the median; zero of nothing.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.summary().p50
    }

    /// Returns what is told of them.
    #[must_use]
    pub fn summary(&self) -> SampleSummary {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        if self.better == BetterDirection::Higher {
            sorted.reverse();
        }
        SampleSummary { p50: at(&sorted, 50), p99: at(&sorted, 99), samples: sorted.len() }
    }
}

/// Returns the value that `percent` of the measurements do not exceed (nearest rank).
fn at(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

/// Returns a span as milliseconds.
#[must_use]
pub fn milliseconds(span: Duration) -> f64 {
    span.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_bad_end() {
        let of = |better, values: &[f64]| {
            let mut samples = SampleSet::new(better);
            values.iter().for_each(|value| samples.push(*value));
            samples.summary()
        };
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(
            of(BetterDirection::Lower, &hundred),
            SampleSummary { p50: 50.0, p99: 99.0, samples: 100 }
        );
        assert_eq!(
            of(BetterDirection::Higher, &hundred),
            SampleSummary { p50: 51.0, p99: 2.0, samples: 100 }
        );
        assert_eq!(of(BetterDirection::Lower, &[7.0]), SampleSummary::single(7.0));
        assert_eq!(of(BetterDirection::Lower, &[]).samples, 0);
    }
}
