//! The parts of docs/evidence.md that these suites write with `--write`.
//!
//! Owns what stands between the two marks of each suite; leaves everything around them as it is.

use std::process::Command;

use anyhow::{Context, Result};

use super::report::Report;
use crate::repo;

const DOCUMENT: &str = "docs/evidence.md";

/// Writes what a suite found into its part of the document.
pub(super) fn write(suite: &str, report: &Report) -> Result<()> {
    let found = format!("{}, in {} s.\n\n{}", report.settings, report.seconds, report.markdown());
    write_section(suite, &format!("{}: {found}", processor()))
}

/// Writes what a verb found into the part of the document that is named after it, behind the day and the commit.
pub(crate) fn write_section(suite: &str, found: &str) -> Result<()> {
    let path = repo::root().join(DOCUMENT);
    let before = std::fs::read_to_string(&path).with_context(|| format!("could not read {DOCUMENT}"))?;
    let (day, commit) = (say("date", &["-u", "+%F"])?, say("git", &["describe", "--always", "--dirty"])?);
    let section = format!("\nOn {day}, at `{commit}`, {found}");
    let after = between_marks(&before, suite, &section)
        .with_context(|| format!("{DOCUMENT} has lost the marks of `{suite}`"))?;
    std::fs::write(&path, after).with_context(|| format!("could not write {DOCUMENT}"))
}

fn between_marks(document: &str, suite: &str, section: &str) -> Option<String> {
    let begin = format!("<!-- {suite}: written by `cargo xtask {suite} --write` -->");
    let end = format!("<!-- {suite}: end -->");
    let (head, rest) = document.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}\n{section}{end}{tail}"))
}

fn processor() -> String {
    let known = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = known.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{count} cores of {}", name.map_or("an unnamed processor", |(_, name)| name.trim()))
}

fn say(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(repo::root()).output();
    let output = output.with_context(|| format!("could not start {program}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_the_marks_of_every_suite() {
        let document = std::fs::read_to_string(repo::root().join(DOCUMENT)).expect("it is there");
        for suite in ["crash", "failing-sync", "full-disk", "powercut", "soak"] {
            let written = between_marks(&document, suite, "new\n").expect("its marks are there");
            assert!(written.contains(&format!("--write` -->\nnew\n<!-- {suite}: end -->")), "{suite}");
        }
    }
}
