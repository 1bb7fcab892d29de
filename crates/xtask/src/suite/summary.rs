//! The last line of a test run.
//!
//! Owns reading the test runner's summary and saying it again alone on a line, where machines look for it.

/// How many tests passed, failed and were left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
}

impl TestCounts {
    /// Finds the summary in what nextest wrote: `Summary [ 1.2s] 9 tests run: 7 passed, 1 failed, 1 timed out`.
    pub(super) fn parse(said: &str) -> Option<Self> {
        let line = said.lines().rev().find(|line| line.trim_start().starts_with("Summary ["))?;
        let (_, list) = line.split_once("run: ")?;
        let mut counts = Self::default();
        let plain: String = list.split('(').map(|part| part.split(')').next_back().unwrap_or(part)).collect();
        for part in plain.split(',') {
            let (number, what) = part.trim().split_once(' ')?;
            let number: usize = number.parse().ok()?;
            match what.trim() {
                "passed" => counts.passed += number,
                "skipped" => counts.skipped += number,
                _ => counts.failed += number,
            }
        }
        Some(counts)
    }

    /// Returns the closing line.
    pub(super) fn line(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_summary_is_read() {
        let said = "   Starting\n     Summary [   2.1s] 12 tests run: 12 passed, 3 skipped\n";
        assert_eq!(TestCounts::parse(said), Some(TestCounts { passed: 12, failed: 0, skipped: 3 }));
    }

    #[test]
    fn slow_tests_count_as_passed_and_timeouts_as_failed() {
        let said = "     Summary [ 9s] 12/14 tests run: 9 passed (2 slow), 1 failed, 1 timed out, 1 skipped\n   FAIL x\n";
        let counts = TestCounts::parse(said).expect("there is one");
        assert_eq!(counts, TestCounts { passed: 9, failed: 2, skipped: 1 });
        assert_eq!(counts.line(), "9 passed, 2 failed");
    }

    #[test]
    fn no_summary_is_nothing() {
        assert_eq!(TestCounts::parse("error: could not compile\n"), None);
    }
}
