//! What a suite found, for people and for programs.

use serde::Serialize;

/// Failures that are told, at most; a suite stops there.
pub const FAILURES_MAX: usize = 10;

/// What a suite found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SuiteReport {
    /// Which suite.
    pub suite: String,
    /// With which settings.
    pub settings: String,
    /// How long it took, in seconds.
    pub seconds: u64,
    /// Its rows, in order.
    pub rows: Vec<ReportRow>,
    /// What did not hold.
    pub failures: Vec<String>,
}

/// One line of the table.
#[derive(Debug, Clone, Serialize)]
pub struct ReportRow {
    /// What was done.
    pub what: String,
    /// How often.
    pub count: u64,
    /// What was seen.
    pub seen: String,
}

impl SuiteReport {
    /// Begins a report.
    #[must_use]
    pub fn new(suite: &str, settings: String) -> Self {
        Self { suite: suite.to_owned(), settings, ..Self::default() }
    }

    /// Adds a line.
    pub fn row(&mut self, what: impl Into<String>, count: usize, seen: impl Into<String>) {
        self.rows.push(ReportRow { what: what.into(), count: count as u64, seen: seen.into() });
    }

    /// Returns whether everything held.
    #[must_use]
    pub fn good(&self) -> bool {
        self.failures.is_empty()
    }

    /// Returns the table as text.
    #[must_use]
    pub fn table(&self) -> String {
        let width = self.rows.iter().map(|row| row.what.len()).max().unwrap_or(0);
        let line = |row: &ReportRow| format!("{:<width$}  {:>6}  {}\n", row.what, row.count, row.seen);
        let rows: String = self.rows.iter().map(line).collect();
        let failures: String = self.failures.iter().map(|failure| format!("FAILED: {failure}\n")).collect();
        format!("{} ({}), {} s\n{rows}{failures}", self.suite, self.settings, self.seconds)
    }
}
