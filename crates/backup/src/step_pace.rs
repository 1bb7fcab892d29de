//! How many pages the next step of a copy takes, so that one step stays short on a slow disk.

use std::time::Duration;

/// How long a step is to take: well below the 10 ms that a writer may wait.
pub(crate) const STEP_SPAN: Duration = Duration::from_millis(4);

const PAGES_MIN: i32 = 8;
const PAGES_MAX: i32 = 4_096;

/// The size of the next step.
#[derive(Debug)]
pub(crate) struct StepPace {
    pages: i32,
}

impl Default for StepPace {
    fn default() -> Self {
        Self { pages: 64 }
    }
}

impl StepPace {
    /// Returns the pages of the next step.
    pub(crate) fn pages(&self) -> i32 {
        self.pages
    }

    /// Takes note of how long a step took: one that took too long is cut in proportion, a short one is doubled.
    pub(crate) fn measured(&mut self, took: Duration) {
        self.pages = if took > STEP_SPAN {
            let share = STEP_SPAN.as_secs_f64() / took.as_secs_f64();
            // At most `pages`, which fits.
            #[expect(clippy::cast_possible_truncation, reason = "the share is below one")]
            let fitting = (f64::from(self.pages) * share) as i32;
            fitting.max(PAGES_MIN)
        } else if took * 2 < STEP_SPAN {
            (self.pages * 2).min(PAGES_MAX)
        } else {
            self.pages
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies at `page` a page; returns how long the steps took.
    fn steps(page: Duration, count: usize) -> Vec<Duration> {
        let mut pace = StepPace::default();
        let mut step = || {
            let took = page * u32::try_from(pace.pages()).unwrap();
            pace.measured(took);
            took
        };
        (0..count).map(|_| step()).collect()
    }

    #[test]
    fn a_slow_disk_gets_short_steps_after_the_first() {
        for page in [20, 100, 400].map(Duration::from_micros) {
            let late: Vec<_> = steps(page, 20).into_iter().skip(2).collect();
            assert!(late.iter().all(|took| *took <= STEP_SPAN), "{page:?}: {late:?}");
        }
    }

    #[test]
    fn a_fast_disk_gets_large_steps_and_the_size_stays_within_its_bounds() {
        let mut pace = StepPace::default();
        (0..20).for_each(|_| pace.measured(Duration::ZERO));
        assert_eq!(pace.pages(), PAGES_MAX);
        pace.measured(Duration::from_secs(3_600));
        assert_eq!(pace.pages(), PAGES_MIN);
    }
}
