//! The verb: which rows are tried, and what is printed.
//!
//! Owns the draw and the table. One seed draws the same rows of the same page.

use std::cmp::Reverse;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;

use super::checkout::{self, SpareCheckout};
use super::page::{self, FaultRow};
use super::revert::RevertOutcome;
use super::trial::{self, TrialVerdict};

/// How many rows are drawn for each one that is wanted, at most: some commits cannot be taken back.
const DRAWN_FOR_ONE_MAX: usize = 3;

/// What the verb takes.
#[derive(Debug, Args)]
pub(crate) struct FaultOptions {
    /// How many rows are drawn at random. A row whose commit cannot be taken back is printed and replaced.
    #[arg(long, default_value_t = 20)]
    draw: usize,
    /// Draws by this number instead of the time.
    #[arg(long)]
    seed: Option<u64>,
    /// Tries only rows whose line holds this, such as a commit or a word; can be given again.
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
}

/// Tries the rows and says what each showed; fails when one does not keep its word.
pub(crate) fn verb(options: &FaultOptions) -> Result<ExitCode> {
    let mut rows = page::read()?;
    let seed = options.seed.unwrap_or_else(by_time);
    let is_named = |row: &FaultRow, only: &String| row.commit.starts_with(only) || row.fault.contains(only);
    rows.retain(|row| options.only.is_empty() || options.only.iter().any(|only| is_named(row, only)));
    let of = rows.len();
    let mut drawn = draw(rows, options.draw.saturating_mul(DRAWN_FOR_ONE_MAX), seed).into_iter();
    let checkout = SpareCheckout::open()?;
    let mut table = ResultTable::begin(&format!("seed {seed}, {of} rows, at {:.12}", checkout.head()))?;
    while table.shown < options.draw {
        let batch: Vec<FaultRow> = drawn.by_ref().take(options.draw - table.shown).collect();
        if batch.is_empty() {
            break;
        }
        try_batch(&checkout, batch, &mut table)?;
    }
    table.end()
}

/// Tries rows in an order that builds little: what merges out of the state of now, controls first; then the others at
/// their commits, those whose tests need the whole product last.
fn try_batch(checkout: &SpareCheckout, batch: Vec<FaultRow>, table: &mut ResultTable) -> Result<()> {
    let (mut merging, mut left) = (Vec::new(), Vec::new());
    for row in batch {
        match trial::merged_out(checkout, &row)? {
            RevertOutcome::Clean { .. } => merging.push(row),
            RevertOutcome::NoProduct => table.add(&row, &TrialVerdict::NoProduct)?,
            RevertOutcome::ManySteps { files } => table.add(&row, &trial::of_many_steps(files))?,
            RevertOutcome::Conflict { path } => {
                left.push((row, format!("later commits changed the same lines of {path}")));
            }
        }
    }
    checkout.go_to(checkout.head())?;
    let mut passing = Vec::new();
    for row in merging {
        if trial::control(checkout, &row)? {
            passing.push(row);
        } else {
            table.add(&row, &TrialVerdict::FailsAnyway)?;
        }
    }
    for row in passing {
        match trial::at_head(checkout, &row)? {
            Ok(verdict) => table.add(&row, &verdict)?,
            Err(why) => left.push((row, why)),
        }
    }
    let mut left = left
        .into_iter()
        .map(|(row, why)| Ok((row.needs_the_whole_product(), checkout.age(&row.commit)?, row, why)))
        .collect::<Result<Vec<_>>>()?;
    left.sort_by_key(|(whole, age, ..)| (*whole, Reverse(*age)));
    for (_, _, row, why) in left {
        match trial::at_commit(checkout, &row)? {
            Ok(verdict) => table.add(&row, &verdict)?,
            Err(there) => {
                table.add(&row, &TrialVerdict::NotRevertible(format!("now: {why}; then: {there}")))?;
            }
        }
    }
    Ok(())
}

/// The rows that were tried, as they are printed and written to `target/known-faults/results.md`.
#[derive(Debug)]
struct ResultTable {
    begun: Instant,
    text: String,
    shown: usize,
    good: usize,
}

impl ResultTable {
    fn begin(head: &str) -> Result<Self> {
        println!("{head}");
        let text = format!("{head}\n\n| commit | result | fault |\n|---|---|---|\n");
        let table = Self { begun: Instant::now(), text, shown: 0, good: 0 };
        table.write().map(|()| table)
    }

    fn add(&mut self, row: &FaultRow, verdict: &TrialVerdict) -> Result<()> {
        self.shown += usize::from(verdict.is_shown());
        self.good += usize::from(verdict.is_good());
        let (minutes, result) = (self.begun.elapsed().as_secs() / 60, verdict.text());
        println!("{:.12}  {minutes:>3} min  {result}: {}", row.commit, row.fault);
        self.text += &format!("| `{:.12}` | {result} | {} |\n", row.commit, row.fault);
        self.write()
    }

    fn end(mut self) -> Result<ExitCode> {
        let line = format!("{} of {} rows keep their word", self.good, self.shown);
        println!("{line}");
        self.text += &format!("\n{line}\n");
        self.write()?;
        Ok(if self.good == self.shown && self.shown > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn write(&self) -> Result<()> {
        std::fs::write(checkout::home().join("results.md"), &self.text).context("could not write the results")
    }
}
fn by_time() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |now| now.as_secs())
}

/// Returns `count` rows in the order that the seed gives.
fn draw(mut rows: Vec<FaultRow>, count: usize, seed: u64) -> Vec<FaultRow> {
    let mut state = seed;
    for last in (1..rows.len()).rev() {
        let other = next(&mut state) % (last as u64 + 1);
        rows.swap(last, usize::try_from(other).unwrap_or(last));
    }
    rows.truncate(count);
    rows
}

/// SplitMix64, as published by Steele, Lea and Flood (2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> Vec<FaultRow> {
        let row =
            |number: usize| FaultRow { fault: number.to_string(), commit: String::new(), tests: Vec::new() };
        (0..count).map(row).collect()
    }

    #[test]
    fn a_seed_draws_the_same_rows_and_no_row_twice() {
        let once = draw(rows(50), 20, 7);
        assert_eq!(once, draw(rows(50), 20, 7));
        assert_ne!(once, draw(rows(50), 20, 8));
        let mut faults: Vec<_> = once.iter().map(|row| row.fault.as_str()).collect();
        faults.sort_unstable();
        faults.dedup();
        assert_eq!(faults.len(), 20);
    }
}
