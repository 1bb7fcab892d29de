//! The form in which a verb prints its report.

/// What is printed, for a person or for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportForm {
    /// Lines for a person.
    Text,
    /// Lines of JSON for a program.
    Json,
}

impl From<bool> for ReportForm {
    /// Reads the flag `--json`.
    fn from(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}
