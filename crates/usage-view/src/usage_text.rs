//! Usage as a terminal shows it: the table, and the remarks below it.

use palyra_wire::v1::{self, UsageGrouping};

use crate::usage_notes::usage_notes;
use crate::usage_table::{TableStyle, usage_lines};

/// A table with its remarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageText {
    /// The lines of the table; none where nothing was used.
    pub lines: Vec<String>,
    /// The remarks.
    pub notes: Vec<String>,
}

/// Returns the rows of one grouping as a table. Models without a price are named where the answer has rows by model.
#[must_use]
pub fn usage_text(usage: &v1::GetUsageResponse, by: UsageGrouping, style: TableStyle) -> UsageText {
    if usage.all.unwrap_or_default() == v1::UsageTotals::default() {
        return UsageText { lines: Vec::new(), notes: vec!["no model was asked in these days".to_owned()] };
    }
    UsageText { lines: usage_lines(usage, by, style), notes: usage_notes(usage) }
}
