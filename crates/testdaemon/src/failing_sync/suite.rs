//! The suite: every sync of a start, then those of commits, then those of checkpoints.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::scenario::{Effect, SyncOutcome, SyncPlace, carry_out};
use crate::crash::{Lab, LifeLeg};
use crate::report::{FAILURES_MAX, SuiteReport};
use crate::strace::is_there;

/// Syncs of a first start, at most.
const STARTS_MAX: usize = 60;

/// Which syncs fail.
#[derive(Debug, Clone, Copy)]
pub struct SyncOptions {
    /// The first so many of commits.
    pub commits: usize,
    /// The first so many of checkpoints; each needs some twenty runs.
    pub checkpoints: usize,
    /// Every so many of a start and of commits.
    pub every: usize,
}

/// Lets one sync fail in each of many lives of a daemon.
///
/// # Errors
/// When an undisturbed daemon does not do its part.
pub async fn suite(daemon: &Path, options: SyncOptions, progress: &dyn Fn(&str)) -> Result<SuiteReport> {
    is_there().await?;
    let SyncOptions { commits, checkpoints, every } = options;
    let settings = format!("commits {commits}, checkpoints {checkpoints}, every {every}");
    let mut report = SuiteReport::new("failing sync", settings);
    let began = Instant::now();
    progress("preparing");
    let legs: &[LifeLeg] = if checkpoints > 0 { &[LifeLeg::Checkpoint] } else { &[] };
    let lab = Lab::prepare(daemon, legs).await?;
    let mut found: BTreeMap<SyncPlace, Vec<SyncOutcome>> = BTreeMap::new();
    let places = [
        (SyncPlace::Start, STARTS_MAX, every),
        (SyncPlace::StartBeside, STARTS_MAX, every),
        (SyncPlace::Commit, commits, every),
        (SyncPlace::Checkpoint, checkpoints, 1),
    ];
    for (place, most, every) in places {
        for when in (1..=most).step_by(every) {
            match carry_out(&lab, place, when).await {
                Ok(SyncOutcome { effect: Effect::None, .. }) => break,
                Ok(seen) => found.entry(place).or_default().push(seen),
                Err(error) => {
                    let kept = lab.keep(&format!("sync-{place:?}-{when}"));
                    let failure = format!("{place:?}, sync {when}: {error:#}; kept in {}", kept.display());
                    progress(&failure);
                    report.failures.push(failure);
                }
            }
            if when % 10 == 0 {
                progress(&format!("{place:?}: {when}"));
            }
            if report.failures.len() >= FAILURES_MAX {
                break;
            }
        }
    }
    tell(&mut report, &found, checkpoints);
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

fn tell(report: &mut SuiteReport, found: &BTreeMap<SyncPlace, Vec<SyncOutcome>>, checkpoints: usize) {
    for (place, seen) in found {
        let count = |effect: Effect| seen.iter().filter(|seen| seen.effect == effect).count();
        let most = seen.iter().map(|seen| seen.repaired_after).max().unwrap_or(Duration::ZERO).as_millis();
        let entries: usize = seen.iter().map(|seen| seen.entries).sum();
        let what = match place {
            SyncPlace::Start => "a sync of the database fails at a start",
            SyncPlace::StartBeside => "another sync of a start fails",
            SyncPlace::Commit => "a sync of a commit fails",
            SyncPlace::Checkpoint => "a sync of a checkpoint fails",
        };
        let text = format!(
            "quarantined {}, start refused {}, served all the same {}; {entries} entries acknowledged before, none lost; \
             next start after at most {most} ms",
            count(Effect::Quarantined),
            count(Effect::Refused),
            count(Effect::Serving),
        );
        report.row(what, seen.len(), text);
    }
    for place in [SyncPlace::Start, SyncPlace::StartBeside, SyncPlace::Commit] {
        if !found.contains_key(&place) {
            report.failures.push(format!("{place:?}: nothing was injected"));
        }
    }
    if checkpoints > 0 && !found.contains_key(&SyncPlace::Checkpoint) {
        report.failures.push("Checkpoint: nothing was injected".to_owned());
    }
}
