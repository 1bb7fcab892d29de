//! What a suite says that it found.

use std::fmt::Write;

use serde::Deserialize;

/// The report of a suite, as `palyra-failures --json` prints it.
#[derive(Debug, Deserialize)]
pub(super) struct FailuresReport {
    suite: String,
    pub(super) settings: String,
    pub(super) seconds: u64,
    rows: Vec<ReportRow>,
    failures: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ReportRow {
    what: String,
    count: u64,
    seen: String,
}

impl FailuresReport {
    pub(super) fn good(&self) -> bool {
        self.failures.is_empty()
    }

    /// Returns the table for a terminal.
    pub(super) fn table(&self) -> String {
        let width = self.rows.iter().map(|row| row.what.len()).max().unwrap_or(0);
        let line = |row: &ReportRow| format!("{:<width$}  {:>6}  {}\n", row.what, row.count, row.seen);
        let rows: String = self.rows.iter().map(line).collect();
        let failures: String = self.failures.iter().map(|failure| format!("FAILED: {failure}\n")).collect();
        format!("{} ({}), {} s\n{rows}{failures}", self.suite, self.settings, self.seconds)
    }

    /// Returns the table for a document.
    pub(super) fn markdown(&self) -> String {
        let mut text = "| what | times | seen |\n|---|--:|---|\n".to_owned();
        for row in &self.rows {
            let _ = writeln!(text, "| {} | {} | {} |", row.what, row.count, row.seen);
        }
        for failure in &self.failures {
            let _ = writeln!(text, "\n**Failed:** {failure}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_told_in_both_ways() {
        let json = r#"{"suite": "crash", "settings": "every 1", "seconds": 3, "failures": ["it broke"],
            "rows": [{"what": "a kill", "count": 2, "seen": ""}]}"#;
        let report: FailuresReport = serde_json::from_str(json).expect("it is one");
        assert!(!report.good());
        assert_eq!(report.table(), "crash (every 1), 3 s\na kill       2  \nFAILED: it broke\n");
        assert!(report.markdown().contains("| a kill | 2 |  |\n\n**Failed:** it broke\n"));
    }
}
