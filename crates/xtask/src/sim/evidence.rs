//! The part of docs/evidence.md that `cargo xtask sim --write` writes.
//!
//! Owns what stands between its two marks; leaves everything around them as it is.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::evidence_page::{self, PagePart};

const PART: PagePart = PagePart::of("sim");

/// What the simulator prints with `--json`.
#[derive(Debug, Deserialize)]
struct SimReport {
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
    failed: Vec<FailedSeed>,
}

#[derive(Debug, Deserialize)]
struct FailedSeed {
    seed: u64,
    findings: Vec<String>,
}

/// Writes what a campaign found into the document.
pub(super) fn write(json: &str) -> Result<()> {
    let found: SimReport =
        serde_json::from_str(json).context("the simulator did not print what it should")?;
    PART.write(&section(&found)?)
}

fn section(found: &SimReport) -> Result<String> {
    let SimReport { first, seeds, steps, faults, lives, runs, entries, seconds, digest, table, .. } = found;
    let (date, commit) = (evidence_page::day()?, evidence_page::commit()?);
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
