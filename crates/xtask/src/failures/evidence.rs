//! The parts of docs/evidence.md that these suites write with `--write`.
//!
//! Owns what stands between the two marks of each suite; leaves everything around them as it is.

use anyhow::Result;

use super::report::FailuresReport;
use crate::evidence_page::{self, PagePart};

/// Writes what a suite found into its part of the document.
pub(super) fn write(part: PagePart, report: &FailuresReport) -> Result<()> {
    let found = format!("{}, in {} s.\n\n{}", report.settings, report.seconds, report.markdown());
    write_part(part, &format!("{}: {found}", processor()))
}

/// Writes what a verb found into the part of the document that is named after it, behind the day and the commit.
pub(crate) fn write_section(suite: &'static str, found: &str) -> Result<()> {
    write_part(PagePart::of(suite), found)
}

fn write_part(part: PagePart, found: &str) -> Result<()> {
    let (day, commit) = (evidence_page::day()?, evidence_page::commit()?);
    part.write(&format!("\nOn {day}, at `{commit}`, {found}"))
}

fn processor() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = known.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{count} cores of {}", name.map_or("an unnamed processor", |(_, name)| name.trim()))
}
