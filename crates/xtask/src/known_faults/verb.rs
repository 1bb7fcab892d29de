//! The verb: which rows are tried, and what is printed.
//!
//! Owns the draw and the table. One seed draws the same rows of the same page.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::Args;

use super::checkout::SpareCheckout;
use super::page::{self, FaultRow};
use super::trial;

/// What the verb takes.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many rows are drawn at random.
    #[arg(long, default_value_t = 20)]
    draw: usize,
    /// Draws by this number instead of the time.
    #[arg(long)]
    seed: Option<u64>,
    /// Tries only rows whose line holds this, such as a commit or a word.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Tries the rows and says what each showed; fails when one does not keep its word.
pub(crate) fn verb(options: &Options) -> Result<ExitCode> {
    let mut rows = page::read()?;
    let seed = options.seed.unwrap_or_else(by_time);
    if let Some(only) = &options.only {
        rows.retain(|row| row.commit.starts_with(only.as_str()) || row.fault.contains(only.as_str()));
    }
    let rows = draw(rows, options.draw, seed);
    println!("seed {seed}, {} rows", rows.len());
    let checkout = SpareCheckout::open()?;
    let mut bad = 0;
    for row in &rows {
        let begun = Instant::now();
        let verdict = trial::of(&checkout, row)?;
        bad += usize::from(!verdict.is_good());
        println!("{:.10}  {:>4} s  {}: {}", row.commit, begun.elapsed().as_secs(), verdict.text(), row.fault);
    }
    println!("{} of {} rows keep their word", rows.len() - bad, rows.len());
    Ok(if bad == 0 && !rows.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
