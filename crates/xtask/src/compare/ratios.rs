//! Paired ratios of figures: of each pair the figure of now divided by that of before, then their median.
//!
//! Owns what may rise and by how much. Knows no process: it reads the bench program's reports as JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

#[cfg(test)]
mod tests;

/// By how much a time may be longer, or a rate lower.
const TIME_RATIO_MAX: f64 = 1.05;
/// Counts may not rise; this much is rounding, and commits that two runs happened to share.
const COUNT_RATIO_MAX: f64 = 1.005;
/// Counts that depend on when threads are woken: no rise beyond their own scatter.
const SCHEDULED_RATIO_MAX: f64 = 1.02;
/// Parts of the names of such counts.
const SCHEDULED: [&str; 4] = ["system calls", "sleeps", "bytes written", "wake-ups"];
/// By how much sizes may grow.
const GROWTH_MIB_MAX: f64 = 1.0;

/// A figure's number on one side.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SideFigure {
    row: String,
    what: String,
    unit: FigureUnit,
    value: f64,
}

/// The kind of a figure, which decides its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FigureUnit {
    /// A time: more is worse, within limits.
    Time,
    /// A rate: less is worse, within limits.
    Rate,
    /// A count: it may not rise.
    Count,
    /// A count that depends on when threads are woken.
    ScheduledCount,
    /// A size in MiB: it may grow a little.
    Size,
}

impl FigureUnit {
    fn of(unit: &str, what: &str) -> Option<Self> {
        match unit {
            "count" | "bytes" if SCHEDULED.iter().any(|word| what.contains(word)) => {
                Some(Self::ScheduledCount)
            }
            "ms" | "cpu_us" => Some(Self::Time),
            "per_second" => Some(Self::Rate),
            "count" | "bytes" => Some(Self::Count),
            "mi_b" | "mib" => Some(Self::Size),
            _ => None,
        }
    }
}

/// Reads the figures of a report; those that say zero cannot be divided by and are left out.
pub(super) fn figures(report: &[u8]) -> Result<Vec<SideFigure>> {
    let report: Value = serde_json::from_slice(report).context("the bench program printed no report")?;
    let figures = report["figures"].as_array().context("a report without figures")?;
    let figure = |figure: &Value| {
        let what = figure["what"].as_str()?;
        Some(SideFigure {
            row: figure["row"].as_str()?.to_owned(),
            what: what.to_owned(),
            unit: FigureUnit::of(figure["unit"].as_str()?, what)?,
            value: figure["ours"]["p50"].as_f64().filter(|value| *value > 0.0)?,
        })
    };
    Ok(figures.iter().filter_map(figure).collect())
}

/// All pairs of one figure.
#[derive(Debug)]
struct FigurePairs {
    unit: FigureUnit,
    /// Before and now.
    pairs: Vec<(f64, f64)>,
}

/// The pairs of every figure.
#[derive(Debug, Default)]
pub(super) struct FigureComparison {
    figures: BTreeMap<(String, String), FigurePairs>,
}

impl FigureComparison {
    /// Takes in one pair; figures that only one side has are left out.
    pub(super) fn add(&mut self, before: &[SideFigure], now: &[SideFigure]) {
        for figure in now {
            let same = |other: &&SideFigure| other.row == figure.row && other.what == figure.what;
            let Some(other) = before.iter().find(same) else { continue };
            let key = (figure.row.clone(), figure.what.clone());
            let pairs =
                self.figures.entry(key).or_insert(FigurePairs { unit: figure.unit, pairs: Vec::new() });
            pairs.pairs.push((other.value, figure.value));
        }
    }

    /// Returns whether every figure is within its limit.
    pub(super) fn holds(&self) -> bool {
        !self.figures.is_empty() && self.figures.values().all(FigurePairs::holds)
    }

    /// Renders a Markdown table, a row for each figure.
    pub(super) fn table(&self) -> String {
        let mut text = "| row | what | before | now | median of ratios (least to most) | limit | |\n\
            |---|---|--:|--:|--:|--:|---|\n"
            .to_owned();
        for ((row, what), pairs) in &self.figures {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "| {row} | {what} | {} |", pairs.cells());
        }
        text
    }
}

impl FigurePairs {
    /// Returns the ratios, ascending; above 1 is worse.
    fn ratios(&self) -> Vec<f64> {
        let ratio = |(before, now): &(f64, f64)| match self.unit {
            FigureUnit::Rate => before / now,
            FigureUnit::Time | FigureUnit::Count | FigureUnit::ScheduledCount | FigureUnit::Size => {
                now / before
            }
        };
        let mut ratios: Vec<f64> = self.pairs.iter().map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    fn median_of(&self, side: fn(&(f64, f64)) -> f64) -> f64 {
        let mut values: Vec<f64> = self.pairs.iter().map(side).collect();
        values.sort_by(f64::total_cmp);
        median(&values)
    }

    fn holds(&self) -> bool {
        let ratio = median(&self.ratios());
        match self.unit {
            FigureUnit::Time | FigureUnit::Rate => ratio <= TIME_RATIO_MAX,
            FigureUnit::Count => ratio <= COUNT_RATIO_MAX,
            FigureUnit::ScheduledCount => ratio <= SCHEDULED_RATIO_MAX,
            FigureUnit::Size => {
                self.median_of(|pair| pair.1) - self.median_of(|pair| pair.0) <= GROWTH_MIB_MAX
            }
        }
    }

    fn cells(&self) -> String {
        let ratios = self.ratios();
        let (least, most) = (ratios.first().unwrap_or(&0.0), ratios.last().unwrap_or(&0.0));
        let limit = match self.unit {
            FigureUnit::Time | FigureUnit::Rate => format!("{TIME_RATIO_MAX}"),
            FigureUnit::Count => "no rise".to_owned(),
            FigureUnit::ScheduledCount => format!("{SCHEDULED_RATIO_MAX}"),
            FigureUnit::Size => format!("+{GROWTH_MIB_MAX} MiB"),
        };
        let verdict = if self.holds() { "met" } else { "**MISSED**" };
        let (before, now) = (self.median_of(|pair| pair.0), self.median_of(|pair| pair.1));
        format!(
            "{before:.3} | {now:.3} | {:.3} ({least:.3} to {most:.3}, n {}) | {limit} | {verdict}",
            median(&ratios),
            ratios.len()
        )
    }
}

/// Returns the median of ascending values; zero of none.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (_, None) => 0.0,
        (1, Some(value)) => *value,
        (_, Some(value)) => {
            f64::midpoint(sorted.get(middle.wrapping_sub(1)).copied().unwrap_or(*value), *value)
        }
    }
}
