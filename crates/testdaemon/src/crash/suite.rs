//! The suite: record each leg once, then disturb its calls in turn.
//!
//! The N-th fault is the N-th call of these recordings, one leg after the other. Where a later run of the leg makes
//! its calls in another order, the fault hits a neighbour; where it makes fewer of them, none, which is counted.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::lab::Lab;
use super::legs::LifeLeg;
use super::plan::{CallTarget, targets};
use super::scenario::{Scenario, ScenarioOutcome};
use crate::report::{FAILURES_MAX, SuiteReport};
use crate::strace::{CallRecording, InjectedFault, StraceTracer, is_there};
use crate::tally::PhaseTally;
use crate::test_home::SERVING_WITHIN;

/// Too slow restarts of one fault, after which it is the daemon that is slow.
const TRIES_MAX: usize = 3;

/// Which calls are disturbed.
#[derive(Debug, Clone, Copy)]
pub struct CrashOptions {
    /// Every so many.
    pub every: usize,
    /// Beginning with this one, from 0.
    pub offset: usize,
}

/// Kills the daemon at the calls that the options name.
///
/// # Errors
/// When an undisturbed daemon does not do its part; what a fault leads to is in the report.
pub async fn suite(daemon: &Path, options: CrashOptions, progress: &dyn Fn(&str)) -> Result<SuiteReport> {
    is_there().await?;
    let CrashOptions { every, offset } = options;
    let mut report = SuiteReport::new("crash", format!("every {every} from {}", offset % every));
    let began = Instant::now();
    progress("preparing");
    let lab = Lab::prepare(daemon, &LifeLeg::ALL).await?;
    let mut all = Vec::new();
    for leg in LifeLeg::ALL {
        let recording = record(&lab, leg).await.with_context(|| format!("{leg}, undisturbed"))?;
        let found = targets(leg, &recording);
        progress(&format!("{leg}: {} calls, {} to be disturbed", recording.calls.len(), found.len()));
        all.extend(found);
    }
    let count = all.len();
    let chosen: Vec<_> =
        all.into_iter().enumerate().filter(|(number, _)| number % every == offset % every).collect();
    let mut tally = PhaseTally::default();
    let mut back: Vec<Duration> = Vec::new();
    let (mut out_of_reach, mut slow) = (0, 0);
    for (number, target) in &chosen {
        if target.selector.is_none() {
            out_of_reach += 1;
            tally.out_of_reach(&target.phase, &target.call);
            continue;
        }
        match disturb(&lab, target, &mut slow).await {
            Ok(carried) => {
                note(&mut tally, target, &carried);
                back.extend(carried.back_after.filter(|_| carried.recording.injected));
            }
            Err(error) => {
                let kept = lab.keep(&format!("crash-{number}"));
                let failure = format!("call {number} {target:?}: {error:#}; kept in {}", kept.display());
                progress(&failure);
                report.failures.push(failure);
                if report.failures.len() == FAILURES_MAX {
                    break;
                }
            }
        }
        if number % 25 == 0 {
            progress(&format!("{number} of {count}: {} kills", tally.total()));
        }
    }
    report.row(
        "restarts over 2 s, tried again",
        slow,
        "on a busy machine; three in a row would be a failure",
    );
    tell(&mut report, &tally, &mut back, CallCounts { recorded: count, out_of_reach });
    report.seconds = began.elapsed().as_secs();
    Ok(report)
}

async fn record(lab: &Lab, leg: LifeLeg) -> Result<CallRecording> {
    let log = lab.path("recording.log");
    let scenario = Scenario { lab, leg, tracer: StraceTracer::recording(&log), log };
    Ok(scenario.carry_out().await?.recording)
}

/// Disturbs a call; a restart that took too long is tried again, for the machine may have been busy with other things.
async fn disturb(lab: &Lab, target: &CallTarget, slow: &mut usize) -> Result<ScenarioOutcome> {
    let log = lab.path("fault.log");
    let selector = target.selector.clone().context("out of reach")?;
    for _ in 0..TRIES_MAX {
        let tracer = StraceTracer::injecting(&log, selector.clone(), InjectedFault::Kill);
        let scenario = Scenario { lab, leg: target.leg, tracer, log: log.clone() };
        let carried = scenario.carry_out().await?;
        if carried.back_after.is_none_or(|took| took <= SERVING_WITHIN) {
            return Ok(carried);
        }
        *slow += 1;
    }
    bail!("serving again took longer than {} s, {TRIES_MAX} times", SERVING_WITHIN.as_secs())
}

fn note(tally: &mut PhaseTally, target: &CallTarget, carried: &ScenarioOutcome) {
    let Some(selector) = target.selector.as_ref().filter(|_| carried.recording.injected) else {
        return tally.passed_by(&target.phase, &target.call);
    };
    let calls = &carried.recording.calls;
    let hit = selector.place_in(calls).and_then(|place| calls.get(place)).unwrap_or(&target.call);
    tally.hit(&target.phase, hit);
}

/// How many calls were recorded, and how many of those tried strace cannot reach.
#[derive(Clone, Copy)]
struct CallCounts {
    recorded: usize,
    out_of_reach: usize,
}

fn tell(report: &mut SuiteReport, tally: &PhaseTally, back: &mut [Duration], calls: CallCounts) {
    tally.tell(report);
    back.sort_unstable();
    let at = |share: usize| back.get((back.len() * share / 100).min(back.len().saturating_sub(1)));
    let ms = |span: Option<&Duration>| span.map_or(0, Duration::as_millis);
    let seen = format!("serving again after {} ms (median), {} ms (most)", ms(at(50)), ms(back.last()));
    report.row("kills in all", tally.total(), seen);
    let out_of_reach = format!("{} of those tried are out of strace's reach", calls.out_of_reach);
    report.row("calls recorded", calls.recorded, out_of_reach);
    if tally.total() == 0 {
        report.failures.push("nothing was injected".to_owned());
    }
}
