//! The part of docs/evidence.md that `cargo xtask sim --write` writes.
//!
//! Owns what stands between its two marks; leaves everything around them as it is.

use std::fmt::Write;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

const DOCUMENT: &str = "docs/evidence.md";
const BEGIN: &str = "<!-- sim: written by `cargo xtask sim --write` -->";
const END: &str = "<!-- sim: end -->";

/// What the simulator prints with `--json`.
#[derive(Debug, Deserialize)]
struct Found {
    first: u64,
    seeds: u64,
    steps: u64,
    faults: u64,
    lives: u64,
    runs: u64,
    entries: u64,
    seconds: f64,
    digest: String,
    table: String,
    empty: Vec<String>,
    failed: Vec<Failed>,
}

#[derive(Debug, Deserialize)]
struct Failed {
    seed: u64,
    findings: Vec<String>,
}

/// Writes what a campaign found into the document.
pub(super) fn write(json: &str) -> Result<()> {
    let found: Found = serde_json::from_str(json).context("the simulator did not print what it should")?;
    let path = crate::repo::root().join(DOCUMENT);
    let before = std::fs::read_to_string(&path).with_context(|| format!("could not read {DOCUMENT}"))?;
    let after = between_marks(&before, &section(&found)?)
        .with_context(|| format!("{DOCUMENT} has lost the marks `{BEGIN}` and `{END}`"))?;
    std::fs::write(&path, after).with_context(|| format!("could not write {DOCUMENT}"))
}

fn between_marks(document: &str, section: &str) -> Option<String> {
    let (head, rest) = document.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n{section}{END}{tail}"))
}

fn section(found: &Found) -> Result<String> {
    let Found { first, seeds, steps, faults, lives, runs, entries, seconds, digest, table, .. } = found;
    let (date, commit) =
        (said("date", &["-u", "+%Y-%m-%d"])?, said("git", &["describe", "--always", "--dirty"])?);
    let last = first + seeds.saturating_sub(1);
    let mut text = String::new();
    writeln!(text, "\nOn {date}, at `{commit}`, in {seconds:.0} s:\n")?;
    writeln!(text, "| seeds | steps | faults | lives of the daemon | runs | entries | digest |")?;
    writeln!(text, "|---|--:|--:|--:|--:|--:|---|")?;
    writeln!(
        text,
        "| {first} to {last} | {steps} | {faults} | {lives} | {runs} | {entries} | `{digest}` |\n"
    )?;
    text.push_str(table);
    writeln!(text, "\nCells that can be reached and were not: {}.", list(&found.empty))?;
    let failed: Vec<String> = found
        .failed
        .iter()
        .map(|failed| format!("{} ({})", failed.seed, failed.findings.first().map_or("", String::as_str)))
        .collect();
    writeln!(text, "Stories in which something was wrong: {}.", list(&failed))?;
    Ok(text)
}

fn list(of: &[String]) -> String {
    if of.is_empty() { "none".to_owned() } else { of.join(", ") }
}

fn said(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).current_dir(crate::repo::root()).output()?;
    ensure!(output.status.success(), "{program} failed");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let document = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let written = between_marks(&document, "new\n").expect("the marks are there");
        assert_eq!(written, format!("before\n{BEGIN}\nnew\n{END}\nafter\n"));
        assert_eq!(between_marks("no marks", "new"), None);
    }

    #[test]
    fn the_document_has_its_marks() {
        let document = std::fs::read_to_string(crate::repo::root().join(DOCUMENT)).expect("it is there");
        assert!(between_marks(&document, "").is_some());
    }
}
