//! The suite: the same story with more and more space left at its beginning.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::scenario::{DaemonFate, DiskOutcome, carry_out};
use crate::crash::Lab;
use crate::report::{FAILURES_MAX, SuiteReport};

/// The most that is left free at the beginning.
const FREE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How often the disk fills up.
#[derive(Debug, Clone, Copy)]
pub struct DiskOptions {
    /// At so many places.
    pub offsets: usize,
}

/// Fills the disk at many places.
///
/// # Errors
/// When something is missing on this machine.
pub async fn suite(daemon: &Path, options: DiskOptions, progress: &dyn Fn(&str)) -> Result<SuiteReport> {
    ensure!(options.offsets > 0, "it takes at least one offset");
    let mut report = SuiteReport::new("full disk", format!("{} offsets", options.offsets));
    let began = Instant::now();
    let lab = Lab::prepare(daemon, &[]).await?;
    let mut found: [Vec<DiskOutcome>; 2] = Default::default();
    for number in 0..options.offsets {
        let free = FREE_BYTES_MAX * number as u64 / options.offsets as u64;
        let meanwhile = if number % 2 == 1 { DaemonFate::Killed } else { DaemonFate::Nothing };
        match carry_out(&lab, free, meanwhile).await {
            Ok(seen) => found[usize::from(meanwhile == DaemonFate::Killed)].push(seen),
            Err(error) => {
                let failure = format!("{free} bytes left, {meanwhile:?} meanwhile: {error:#}");
                progress(&failure);
                report.failures.push(failure);
                if report.failures.len() == FAILURES_MAX {
                    break;
                }
            }
        }
        if number % 10 == 9 {
            progress(&format!("{} of {}", number + 1, options.offsets));
        }
    }
    for (what, seen) in
        ["the disk fills up", "the disk fills up, kill -9 and start while it is full"].iter().zip(&found)
    {
        let most = seen.iter().map(|seen| seen.service_after).max().unwrap_or(Duration::ZERO).as_millis();
        let entries: usize = seen.iter().map(|seen| seen.entries).sum();
        let text = format!(
            "{entries} entries acknowledged, none lost; endings taken; full service within {most} ms of space"
        );
        report.row(*what, seen.len(), text);
    }
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}
